import { posix } from 'node:path';
import pLimit from 'p-limit';
import { systemError } from '../node/errors.ts';
import type { View } from './view.ts';
import { walk } from './walk.ts';

/** What is needed of a memfs `Volume`, or of an `fs` made of one. */
export interface WritableVolume {
  mkdirSync(path: string, options: { recursive: true }): unknown;
  writeFileSync(path: string, content: Uint8Array): unknown;
}

export interface ToVolumeOptions {
  /** The directory to copy; it is at the same path in the volume. Default: the mount point. */
  readonly path?: string;
  /** Bytes that all files may have together. Default 64 MiB. */
  readonly maxBytes?: number;
}

const MAX_BYTES = 64 * 2 ** 20;
/** Files read at a time, so that little more than the bound is read before it stops the copy. */
const AT_A_TIME = 16;

/**
 * Copies a small catalog into a memfs volume, for programs that want a file system of their own: `await toVolume(view, new
 * Volume())`. Every file is read, and thus verified, before the first one is written, so that a failure leaves the volume
 * as it was. What servers change later does not show; a mount does not have that flaw, nor the cost.
 *
 * @returns the volume
 * @throws EFBIG when the files have more bytes; the first error of a directory or file that cannot be read
 */
export async function toVolume<V extends WritableVolume>(
  view: View,
  volume: V,
  options: ToVolumeOptions = {},
): Promise<V> {
  const { path = view.mountPoint, maxBytes = MAX_BYTES } = options;
  const { files, errors } = await walk(view, path);
  if (errors[0] !== undefined) throw errors[0];
  const stats = await Promise.all(files.map((file) => view.promises.stat(file)));
  const listed = stats.reduce((sum, { size }) => sum + size, 0);
  if (listed > maxBytes) throw tooBig(path, maxBytes);
  const contents = await readAll(view, files, () => tooBig(path, maxBytes), maxBytes);
  volume.mkdirSync(path, { recursive: true });
  for (const [file, content] of contents) {
    volume.mkdirSync(posix.dirname(file), { recursive: true });
    volume.writeFileSync(file, content);
  }
  return volume;
}

/** The size of a dynamic skill's file shows only when it has been read: those are counted as they come. */
async function readAll(
  view: View,
  files: readonly string[],
  tooBig: () => Error,
  maxBytes: number,
): Promise<readonly (readonly [string, Uint8Array])[]> {
  let read = 0;
  const limit = pLimit(AT_A_TIME);
  const readOne = async (file: string) => {
    if (read > maxBytes) throw tooBig();
    const content = await view.promises.readFile(file);
    read += content.byteLength;
    if (read > maxBytes) throw tooBig();
    return [file, content] as const;
  };
  return Promise.all(files.map((file) => limit(readOne, file)));
}

function tooBig(path: string, maxBytes: number): Error {
  const detail =
    `the files are more than ${maxBytes} bytes; copy one server or skill (path), ` +
    'allow more (maxBytes), or use the mount itself, which reads what is asked for';
  return systemError('EFBIG', 'copy', { detail, path });
}
