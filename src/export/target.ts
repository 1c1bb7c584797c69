import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { readWhole, UnfitFile } from '../content/disk/files.ts';
import { digestOf } from '../content/verify.ts';
import { LOCK_FILE, type Lock, WORK_DIRECTORY } from './lock.ts';
import { Work } from './work.ts';

/** What is at a path of the target: nothing, a plain file, or something that is not ours to touch, and what. */
export type Found =
  | { readonly kind: 'absent' }
  | { readonly kind: 'file'; readonly digest: string; readonly size: number }
  | { readonly kind: 'other'; readonly what: string };

/** Everybody may read, nobody write, and nothing runs (SEC-1). */
const FILE_MODE = 0o444;
const DIRECTORY_MODE = 0o755;

const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW = 0 } = constants;

/** Copies of skills in a directory: no link in it is followed, and every file appears as a whole. */
export class Target {
  /** Without symbolic links. */
  readonly root: string;

  /** @throws what the file system gives when it is no directory */
  constructor(directory: string) {
    this.root = realpathSync(directory);
    readdirSync(this.root);
  }

  /** Makes the directory where there is none, and what is above it. */
  static make(directory: string): Target {
    mkdirSync(resolve(directory), { recursive: true, mode: DIRECTORY_MODE });
    return new Target(directory);
  }

  /** @throws ExportError when another copy into this directory is under way */
  begin(): Work {
    return new Work(join(this.root, WORK_DIRECTORY));
  }

  find(path: string): Found {
    const blocked = this.#blockedAbove(path);
    if (blocked !== undefined) return { kind: 'other', what: blocked };
    try {
      const { bytes } = readWhole(this.#at(path), Number.MAX_SAFE_INTEGER);
      return { kind: 'file', digest: digestOf(bytes), size: bytes.byteLength };
    } catch (error) {
      if (error instanceof UnfitFile) return { kind: 'other', what: error.message };
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return { kind: 'absent' };
      return { kind: 'other', what: message };
    }
  }

  /** Puts a file in its place, whatever file of ours is there. @throws what the file system gives */
  put(path: string, bytes: Uint8Array, work: Work): void {
    mkdirSync(dirname(this.#at(path)), { recursive: true, mode: DIRECTORY_MODE });
    work.note(path, digestOf(bytes));
    this.#place(path, bytes, FILE_MODE, work);
  }

  /** Takes away what a user may have granted a file of ours since. */
  settle(path: string): void {
    if (process.platform !== 'win32' && (lstatSync(this.#at(path)).mode & 0o777) !== FILE_MODE) {
      chmodSync(this.#at(path), FILE_MODE);
    }
  }

  /** Removes a file, and the directories that are empty without it. */
  remove(path: string): void {
    unlinkSync(this.#at(path));
    for (let above = dirname(path); above !== '.'; above = dirname(above)) {
      try {
        rmdirSync(this.#at(above));
      } catch {
        // Something else is in it.
        return;
      }
    }
  }

  /** The last thing that a copy does. */
  writeLock(lock: Lock, work: Work): void {
    this.#place(LOCK_FILE, Buffer.from(`${JSON.stringify(lock, undefined, 2)}\n`), 0o644, work);
  }

  removeLock(): void {
    rmSync(this.#at(LOCK_FILE), { force: true });
  }

  /** The paths of everything that is no directory, without what a copy keeps for itself. */
  *entries(directory = ''): Generator<string> {
    for (const entry of readdirSync(this.#at(directory), { withFileTypes: true })) {
      const path = directory === '' ? entry.name : `${directory}/${entry.name}`;
      if (path === LOCK_FILE || path === WORK_DIRECTORY) continue;
      if (entry.isDirectory()) yield* this.entries(path);
      else yield path;
    }
  }

  #at(path: string): string {
    return join(this.root, path);
  }

  #place(path: string, bytes: Uint8Array, mode: number, work: Work): void {
    const temporary = work.temporary();
    const fd = openSync(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    try {
      try {
        writeFileSync(fd, bytes);
        fchmodSync(fd, mode);
      } finally {
        closeSync(fd);
      }
      // Windows replaces no file that is read-only.
      if (process.platform === 'win32') rmSync(this.#at(path), { force: true });
      renameSync(temporary, this.#at(path));
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
  }

  /** What on the way to a path is no directory. */
  #blockedAbove(path: string): string | undefined {
    const names = path.split('/').slice(0, -1);
    for (let depth = 1; depth <= names.length; depth++) {
      const above = names.slice(0, depth).join('/');
      const stat = lstatSync(this.#at(above), { throwIfNoEntry: false });
      if (stat === undefined) return undefined;
      if (!stat.isDirectory()) return `${above} is ${stat.isSymbolicLink() ? 'a symbolic link' : 'no directory'}`;
    }
    return undefined;
  }
}
