import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  lutimesSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

/** A file of the cache that is not what was put there. */
export class UnfitFile extends Error {
  override readonly name = 'UnfitFile';
}

/**
 * A file's modification time says when it was last used, to within so many milliseconds. Content never changes in place, so
 * nothing else needs the time; and marking a use is one call per file and hour.
 */
const USE_GRANULARITY = 60 * 60 * 1000;

/** Temporary files begin so; whoever finds an old one may remove it. */
export const TEMPORARY_PREFIX = '.tmp-';

/** Absent on Windows, where links are looked for before opening. */
const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

/** A file as it was found. */
export interface Whole {
  /** In a buffer of their own. */
  readonly bytes: Uint8Array;
  /** When it was last used, to within an hour, milliseconds since the epoch. */
  readonly usedAt: number;
}

/**
 * Reads a plain file. Links are not followed.
 *
 * @param limit bytes
 * @throws UnfitFile when it is something else than a plain file of at most `limit` bytes; what the file system gives, ENOENT
 * among it
 */
export function readWhole(path: string, limit: number): Whole {
  const fd = openPlain(path);
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw new UnfitFile('it is no plain file');
    if (stat.size > limit) throw new UnfitFile(`it has ${stat.size} bytes, at most ${limit} were expected`);
    const bytes = Buffer.allocUnsafeSlow(stat.size);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read) {
      read = readSync(fd, bytes, length, bytes.length - length, null);
    }
    return { bytes: bytes.subarray(0, length), usedAt: stat.mtimeMs };
  } finally {
    closeSync(fd);
  }
}

/** Opens without following a link, and without waiting for whoever may write to a pipe. */
function openPlain(path: string): number {
  if (O_NOFOLLOW === 0 && lstatSync(path).isSymbolicLink()) throw new UnfitFile('it is a symbolic link');
  try {
    return openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ELOOP' || code === 'EMLINK') throw new UnfitFile('it is a symbolic link');
    throw error;
  }
}

/** Notes that a file was used, where that is not known already. */
export function markUsed(path: string, usedAt: number): void {
  const now = new Date();
  if (now.getTime() - usedAt < USE_GRANULARITY) return;
  try {
    lutimesSync(path, now, now);
  } catch {
    // Not to know that a file was used costs it its place at worst.
  }
}

/**
 * Writes a file beside its place and moves it there in one step, so that nobody ever sees a part of it.
 *
 * It is not flushed to the disk first. A file that a power failure left without its bytes is found out by its digest and
 * fetched again, which costs less than a flush for each of thousands of files.
 *
 * @throws what the file system gives; nothing is left behind then
 */
export function writeWhole(directory: string, name: string, bytes: Uint8Array | string, mode: number): void {
  const temporary = join(directory, `${TEMPORARY_PREFIX}${process.pid}-${randomBytes(8).toString('hex')}`);
  const fd = openSync(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
  try {
    try {
      writeFileSync(fd, bytes);
    } finally {
      closeSync(fd);
    }
    renameSync(temporary, join(directory, name));
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
