import fs from 'node:fs';

/**
 * `node:fs` as it was when this module was loaded. The facade falls back on Node's own functions for descriptors and for
 * checking arguments; were `node:fs` patched to call the facade, going through the patch would not end.
 */
export const native: typeof fs = Object.defineProperties({}, Object.getOwnPropertyDescriptors(fs)) as typeof fs;

const { closeSync, openSync, readFileSync } = native;

export const nativePromises: typeof fs.promises = { ...fs.promises };
// The object itself stays the same one when its functions are replaced.
Object.defineProperty(native, 'promises', { value: nativePromises, enumerable: true });

// Node's function opens files with what `openSync` is by then, which may be this very caller.
Object.defineProperty(native, 'readFileSync', {
  value(path: number | fs.PathLike, options?: unknown): unknown {
    if (typeof path === 'number' || options !== undefined) return readFileSync(path, options as null);
    const fd = openSync(path, 'r');
    try {
      return readFileSync(fd);
    } finally {
      closeSync(fd);
    }
  },
  enumerable: true,
});

/** Whether a file system is Node's own, as it is, was, or is passed on by others. */
export function isNodes(source: { readonly openSync?: unknown }): boolean {
  return source === fs || source.openSync === native.openSync || source.openSync === fs.openSync;
}

/** A path below something that is no directory: whatever is tried with it fails, and changes nothing. */
export const NOWHERE = `${process.platform === 'win32' ? process.execPath : '/dev/null'}/-`;

/**
 * Lets Node check arguments: `call` hands them to Node's own function, together with the path {@link NOWHERE}.
 *
 * @throws what Node throws for arguments it does not take; that nothing is at the path is no error here
 */
export function checkedByNode(call: () => unknown): void {
  try {
    call();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
  }
}
