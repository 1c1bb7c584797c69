import { isFault } from '../base/fault.ts';
import type { Op } from '../base/op.ts';
import type { Context } from './context.ts';
import { nodeError } from './errors.ts';
import { assertReadable, readFlags } from './flags.ts';
import { type Forms, type Fs, type FsPromises, forms } from './forms.ts';
import { checkedByNode, NOWHERE, native, nativePromises } from './native.ts';
import { asBuffer, isNormal, resolvePath, spelledPath } from './paths.ts';

interface ReadFileOptions {
  readonly encoding?: BufferEncoding | null;
  readonly flag?: unknown;
  readonly signal?: AbortSignal;
}

/** Whole files: the bytes that were verified are the bytes that are returned (VER-1). */
export function readFileForms(context: Context): Forms<'readFile'> {
  const { sync, callback, promise } = forms(
    context.driver,
    'readFile',
    (path, given: unknown) => {
      const options = optionsOf(given);
      const spelled = spelledPath(path, native.readFileSync);
      const flags = readFlags(options.flag, () => native.readFileSync(NOWHERE, given as BufferEncoding));
      return readFile(context, spelled, options.encoding, flags);
    },
    (given) => optionsOf(given).signal,
  );
  // Descriptors and handles are Node's own, those of our files too.
  const readSync = (file: never, options: never) =>
    typeof file === 'number' ? native.readFileSync(file, options) : sync(file, options);
  const read = (file: never, options: never, done: never) =>
    typeof file === 'number' ? native.readFile(file, options, done) : callback(file, options, done);
  const readPromise = async (file: never, options: never) =>
    isOpen(file) ? nativePromises.readFile(file, options) : promise(file, options);
  return {
    sync: readSync as Fs['readFileSync'],
    callback: read as Fs['readFile'],
    promise: readPromise as FsPromises['readFile'],
  };
}

function* readFile(
  { core }: Context,
  path: string,
  encoding: BufferEncoding | null | undefined,
  flags: number | undefined,
): Op<Buffer | string> {
  try {
    assertReadable(flags);
    const { bytes } = yield* core.read(isNormal(path) ? path : yield* resolvePath(core, path));
    return encoding ? asBuffer(bytes).toString(encoding) : Buffer.from(bytes);
  } catch (error) {
    // Node opens a directory as well as a file; only reading it fails, and then no path is known any more.
    if (isFault(error) && error.code === 'EISDIR') throw nodeError(error, 'read');
    throw nodeError(error, 'open', path);
  }
}

/** @throws what Node throws for options it does not take; flags are not looked at */
function optionsOf(given: unknown): ReadFileOptions {
  if (given === undefined || given === null) return {};
  if (given === 'utf8' || given === 'utf-8') return { encoding: 'utf8' };
  const options = (typeof given === 'object' ? given : { encoding: given }) as ReadFileOptions;
  const { encoding, signal } = options;
  const isKnown = encoding === undefined || encoding === null || Buffer.isEncoding(encoding);
  if (!isKnown || signal !== undefined) checkedByNode(() => native.readFileSync(NOWHERE, given as BufferEncoding));
  return options;
}

/** Whether it is a descriptor, or one of Node's handles, whose class is not public; no path looks like one. */
export function isOpen(file: unknown): boolean {
  return typeof file === 'number' || (typeof file === 'object' && file !== null && 'fd' in file);
}
