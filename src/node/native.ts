import fs from 'node:fs';

/**
 * `node:fs` as it was when this module was loaded. The facade falls back on Node's own functions for descriptors and for
 * checking arguments; were `node:fs` patched to call the facade, going through the patch would not end.
 */
export const native: typeof fs = Object.defineProperties({}, Object.getOwnPropertyDescriptors(fs)) as typeof fs;

export const nativePromises: typeof fs.promises = { ...fs.promises };
// The object itself stays the same one when its functions are replaced.
Object.defineProperty(native, 'promises', { value: nativePromises, enumerable: true });

let unrouted = 0;

/**
 * Runs a function of Node's that works with functions it takes from `node:fs` when it is called. While it does, those that
 * replace them pass everything on to Node.
 */
export function passingOn<T>(run: () => T): T {
  unrouted += 1;
  try {
    return run();
  } finally {
    unrouted -= 1;
  }
}

/** Whether something runs by {@link passingOn}. */
export function isPassingOn(): boolean {
  return unrouted > 0;
}

// Node's function opens files with what `openSync` is by then, which may be this very caller.
const { readFileSync } = native;
Object.defineProperty(native, 'readFileSync', {
  value: ((...args) => passingOn(() => readFileSync(...args))) as typeof readFileSync,
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
