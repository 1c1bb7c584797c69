import type { Op } from '../base/op.ts';
import { type Context, locate } from './context.ts';
import { nodeError } from './errors.ts';
import { assertReadable, readFlags } from './flags.ts';
import { type Forms, forms } from './forms.ts';
import { checkedByNode, NOWHERE, native, nativePromises } from './native.ts';
import { asBuffer, isNormal, spelledPath } from './paths.ts';

interface ReadFileOptions {
  readonly encoding?: BufferEncoding | null;
  readonly flag?: string | number;
  readonly signal?: AbortSignal;
}

/** `readFile` of a path of the mount; a descriptor, or a handle, is read by Node itself. */
export function readFileForms(context: Context): Forms<'readFile'> {
  const ours = forms(context.driver, 'readFile', (path, options) => prepare(context, path, options), signalOf);
  const promise = (file: unknown, options?: unknown) =>
    isFileHandle(file)
      ? nativePromises.readFile(file as never, options as never)
      : ours.promise(file as never, options as never);
  const sync = (file: unknown, options?: unknown) =>
    typeof file === 'number' ? native.readFileSync(file, options as never) : ours.sync(file as never, options as never);
  const callback = (file: unknown, ...rest: unknown[]) =>
    typeof file === 'number'
      ? (native.readFile as (...args: unknown[]) => void)(file, ...rest)
      : (ours.callback as (...args: unknown[]) => void)(file, ...rest);
  return { promise, sync, callback } as unknown as Forms<'readFile'>;
}

function prepare(context: Context, path: unknown, given: unknown): Op<Buffer | string> {
  const options = optionsOf(given);
  const spelled = spelledPath(path, native.readFileSync);
  const flags = readFlags(options.flag, () => native.openSync(NOWHERE, options.flag as string));
  return readFile(context, spelled, options.encoding, flags);
}

function* readFile(
  { core }: Context,
  path: string,
  encoding: BufferEncoding | null | undefined,
  flags: number | undefined,
): Op<Buffer | string> {
  let bytes: Buffer;
  try {
    assertReadable(flags);
    bytes = asBuffer((yield* core.read(isNormal(path) ? path : yield* locate(core, path))).bytes);
  } catch (error) {
    // Node opens a directory as well as a file; only reading it fails, and then no path is known any more.
    if ((error as { code?: string }).code === 'EISDIR') throw nodeError(error, 'read');
    throw nodeError(error, 'open', path);
  }
  return encoding ? bytes.toString(encoding) : Buffer.from(bytes);
}

function optionsOf(given: unknown): ReadFileOptions {
  if (given === undefined || given === null) return {};
  if (given === 'utf8' || given === 'utf-8') return { encoding: 'utf8' };
  const options = (typeof given === 'object' ? given : { encoding: given }) as ReadFileOptions;
  const { encoding, signal } = options;
  const isKnown = encoding === undefined || encoding === null || Buffer.isEncoding(encoding);
  if (typeof given === 'object' ? isKnown && signal === undefined : isKnown) return options;
  checkedByNode(() => native.readFileSync(NOWHERE, given as never));
  if (signal !== undefined) void nativePromises.readFile(NOWHERE, { signal: signal as never }).catch(() => undefined);
  return options;
}

function signalOf(options: unknown): AbortSignal | undefined {
  return typeof options === 'object' && options !== null ? (options as ReadFileOptions).signal : undefined;
}

export function isFileHandle(file: unknown): boolean {
  return typeof file === 'object' && file !== null && typeof (file as { fd?: unknown }).fd === 'number';
}
