import { isFault } from '../base/fault.ts';
import type { Op } from '../base/op.ts';
import { type Context, locate } from './context.ts';
import { nodeError } from './errors.ts';
import { forms } from './forms.ts';
import { native } from './native.ts';
import { spelledPath } from './paths.ts';

interface BlobOptions {
  readonly type?: string;
}

interface BlobForms {
  /** Gives a promise, as its only asynchronous form does. */
  readonly openAsBlob: typeof native.openAsBlob;
  /** Only some versions of Node have it. */
  readonly openAsBlobSync: (path: string, options?: BlobOptions) => Blob;
}

/** A blob has all of its file's content from the start. */
export function blobForms(context: Context): BlobForms {
  const { sync, promise } = forms(context.driver, 'openAsBlob', (path, options?: BlobOptions) => {
    if (options !== undefined) void native.openAsBlob(process.execPath, options);
    return blob(context, spelledPath(path, native.accessSync), String(options?.type ?? ''));
  }) as unknown as { sync: BlobForms['openAsBlobSync']; promise: BlobForms['openAsBlob'] };
  return { openAsBlob: promise, openAsBlobSync: sync };
}

function* blob({ core }: Context, path: string, type: string): Op<Blob> {
  try {
    const { bytes } = yield* core.read(yield* locate(core, path));
    return new Blob([bytes as Uint8Array<ArrayBuffer>], { type });
  } catch (error) {
    throw isFault(error) && error.code === 'EISDIR' ? nodeError(error, 'read') : nodeError(error, 'open', path);
  }
}
