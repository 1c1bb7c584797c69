import type { Fs } from './forms.ts';
import { native } from './native.ts';

interface StreamOptions {
  readonly fd?: unknown;
  readonly fs?: unknown;
}

/**
 * Node's streams, which open their files with the functions of `facade`.
 *
 * A stream over a descriptor or a handle is Node's own altogether.
 */
export function streams(facade: () => object) {
  const ReadStream = over(native.ReadStream, facade);
  const WriteStream = over(native.WriteStream, facade);
  return {
    ReadStream,
    WriteStream,
    FileReadStream: ReadStream,
    FileWriteStream: WriteStream,
    createReadStream: ((path, options) => new ReadStream(path, options as never)) as Fs['createReadStream'],
    createWriteStream: ((path, options) => new WriteStream(path, options as never)) as Fs['createWriteStream'],
  };
}

/** A class over one of Node's, which can be called without `new` as that one can. */
function over<T extends typeof native.ReadStream | typeof native.WriteStream>(Base: T, facade: () => object) {
  function Stream(this: unknown, path: unknown, options: unknown): object {
    return Reflect.construct(Base, [path, withFs(options, facade)], new.target ?? Stream);
  }
  Object.setPrototypeOf(Stream, Base);
  Stream.prototype = Object.create(Base.prototype, {
    constructor: { value: Stream, configurable: true, writable: true },
  });
  Object.defineProperty(Stream, 'name', { value: Base.name });
  return Stream as unknown as T & (new (path: unknown, options?: never) => InstanceType<T>);
}

/** What Node does not take as options is left for it to refuse. Inherited options count, as they do for Node. */
function withFs(options: unknown, facade: () => object): unknown {
  if (options === undefined || options === null || typeof options === 'string') {
    return { encoding: options ?? undefined, fs: facade() };
  }
  if (typeof options !== 'object') return options;
  const { fd, fs } = options as StreamOptions;
  if ((fd !== undefined && fd !== null) || (fs !== undefined && fs !== null)) return options;
  return Object.create(options, { fs: { value: facade(), enumerable: true } });
}
