import type { Op } from '../base/op.ts';

/** What `stat` knows of a file or directory. Times are milliseconds since the epoch, sizes are bytes. */
export interface Stat {
  readonly kind: 'file' | 'directory';
  /** Stable and unique while mounted, never reused. */
  readonly ino: number;
  readonly size: number;
  /** Set where nobody said how large the file is and it was not read yet: `size` is 0 then, and `read` tells. */
  readonly sizeUnknown?: true;
  readonly mtimeMs: number;
  /** What a disk knows besides; absent for what servers publish. */
  readonly disk?: DiskStat;
}

/** Times are milliseconds since the epoch. */
export interface DiskStat {
  readonly mode: number;
  readonly nlink: number;
  readonly uid: number;
  readonly gid: number;
  readonly atimeMs: number;
  readonly ctimeMs: number;
  readonly birthtimeMs: number;
}

export interface DirEntry {
  readonly name: string;
  readonly kind: 'file' | 'directory';
}

/** A file's verified content. `bytes` is shared and must not be modified or handed to callers without a copy. */
export interface Content {
  readonly bytes: Uint8Array;
  readonly stat: Stat;
}

/**
 * The read-only core: every layer, view and adapter is a `ReadFs` over others.
 *
 * A call may throw instead of its operation, so that one is only made where its operation is run. Paths are absolute, normalised POSIX paths (no `.`, `..`, doubled or trailing slashes; the root is `/`). Operations
 * throw a `Fault`: ENOENT (no such path), ENOTDIR (a component, or what `readdir` was given, is a file), EISDIR (`read`
 * of a directory), or a failure (EIO, EACCES, EFBIG, ETIMEDOUT, EHOSTUNREACH, EAGAIN), which is never absence.
 */
export interface ReadFs {
  stat(path: string): Op<Stat>;
  /** Entries in code-unit order of their names. */
  readdir(path: string): Op<readonly DirEntry[]>;
  read(path: string): Op<Content>;
}

/** Runs the operations of a `ReadFs`: what is missing is fetched while the caller awaits, or blocks. */
export interface Driver {
  /** @throws the operation's `Fault`; the signal's reason when it aborts first */
  async<T>(op: Op<T>, signal?: AbortSignal): Promise<T>;
  /** @throws `Fault` EAGAIN when something is missing that only the blocked thread could fetch */
  sync<T>(op: Op<T>): T;
  /** The answer to one thing an operation yielded, for an operation that runs within another one. */
  answer(asked: unknown, signal?: AbortSignal): Promise<unknown>;
  answerSync(asked: unknown): unknown;
}
