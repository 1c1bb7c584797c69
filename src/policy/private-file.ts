import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
const OTHERS_WRITE = 0o022;
const STICKY = 0o1000;
const BYTES = 64 * 1024 * 1024;

/** Absent on Windows, where files of a user are private by their inherited access lists. */
const uid = process.getuid?.();

/**
 * Reads a file that only this user can have written.
 *
 * @returns `undefined` when there is none
 * @throws Error, a part of a sentence that says what is wrong with it
 */
export function readPrivate(path: string): string | undefined {
  let fd: number;
  try {
    if (O_NOFOLLOW === 0 && lstatSync(path).isSymbolicLink()) throw new Error('is a symbolic link');
    fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    if (code === 'ELOOP' || code === 'EMLINK') throw new Error('is a symbolic link');
    throw error;
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw new Error('is no plain file');
    if (stat.size > BYTES) throw new Error(`has more than ${BYTES} bytes`);
    assertOwn(stat, 'it');
    assertOwn(statSync(dirname(path)), `its directory ${dirname(path)}`);
    return readFileSync(fd, 'utf8');
  } finally {
    closeSync(fd);
  }
}

function assertOwn(stat: Stats, what: string): void {
  if (uid === undefined) return;
  if (stat.uid !== uid && stat.uid !== 0)
    throw new Error(`may be another user's: ${what} belongs to the user ${stat.uid}`);
  if ((stat.mode & OTHERS_WRITE) !== 0 && (stat.mode & STICKY) === 0) {
    throw new Error(`may be changed by others: ${what} has mode ${(stat.mode & 0o7777).toString(8)}`);
  }
}

/** Makes the directory of a private file, where there is none. */
export function makePlace(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
}

/**
 * Writes a file that only this user can read, on the disk before this returns: whole, or not at all. To be called by one at a
 * time; what others did not finish is removed.
 *
 * @param goOn asked right before the file takes its place
 * @throws what the file system gives; nothing is changed then
 */
export function writePrivate(path: string, text: string, goOn: () => boolean): void {
  const directory = dirname(path);
  const prefix = `${basename(path)}.tmp-`;
  for (const name of readdirSync(directory))
    if (name.startsWith(prefix)) rmSync(join(directory, name), { force: true });
  const temporary = join(directory, prefix + randomBytes(8).toString('hex'));
  try {
    const fd = openSync(temporary, 'wx', 0o600);
    try {
      writeFileSync(fd, text);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    if (!goOn()) throw new Error('was taken over by another process while it was written');
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  syncDirectory(directory);
}

function syncDirectory(directory: string): void {
  if (process.platform === 'win32') return;
  const fd = openSync(directory, O_RDONLY);
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
