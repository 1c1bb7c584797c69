import { randomBytes } from 'node:crypto';
import {
  constants,
  copyFileSync,
  linkSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Holder, isGone, thisProcess } from './lock-holder.ts';

/** Milliseconds that somebody else's lock is waited for. */
const PATIENCE = 10_000;

/** The longest pause between two tries, milliseconds. */
const PAUSE = 10;

/** A lock that could not be had. */
export class LockError extends Error {
  override readonly name = 'LockError';
}

/**
 * Runs while no other process does, as told by a file beside `file`. The lock of a process that was killed is taken over, by
 * one of those who wait: who takes over a lock first takes a lock of its own for that, named after the dead holder, and the
 * same holds for that one. So nobody ever removes the lock of a process that lives.
 *
 * @param run is given a check whether the lock is still held
 * @throws LockError naming the lock's file when another process holds it for too long
 */
export function withLock<T>(file: string, run: (isHeld: () => boolean) => T): T {
  const path = `${file}.lock`;
  const id = acquire(path, path, Date.now() + PATIENCE);
  try {
    sweep(path, id);
    return run(() => holderOf(path)?.id === id);
  } finally {
    release(path, id);
  }
}

/** @returns the id under which the lock is held */
function acquire(lock: string, path: string, deadline: number): string {
  const id = randomBytes(8).toString('hex');
  const own = `${lock}-own-${id}`;
  writeFileSync(own, JSON.stringify({ id, ...thisProcess() }), { flag: 'wx', mode: 0o600 });
  try {
    while (!placed(own, path)) {
      const holder = holderOf(path);
      if (holder !== undefined && isGone(holder) && takeOver(lock, path, holder, own, deadline)) break;
      if (Date.now() > deadline) throw new LockError(`${path} is held by the process ${holder?.pid ?? '?'}`);
      pause();
    }
    return id;
  } finally {
    rmSync(own, { force: true });
  }
}

/** Puts a file in place where there is none, with its content, in one step. @returns whether it is there now */
function placed(own: string, path: string): boolean {
  try {
    linkSync(own, path);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'ENOSYS') throw error;
  }
  // A disk without links.
  try {
    copyFileSync(own, path, constants.COPYFILE_EXCL);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** @returns whether the lock of a dead holder is now held by who has `own` */
function takeOver(lock: string, path: string, dead: Holder, own: string, deadline: number): boolean {
  const over = `${lock}-over-${dead.id}`;
  const id = acquire(lock, over, deadline);
  try {
    if (holderOf(path)?.id !== dead.id) return false;
    renameSync(own, path);
    return true;
  } finally {
    release(over, id);
  }
}

function release(path: string, id: string): void {
  if (holderOf(path)?.id === id) rmSync(path, { force: true });
}

/** `undefined` when nobody holds it, or when it cannot be told yet. */
function holderOf(path: string): Holder | undefined {
  try {
    const { id, pid, started, where } = JSON.parse(readFileSync(path, 'utf8')) as Holder;
    return { id, pid, started, where, since: statSync(path).mtimeMs };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Removes what killed processes left. To be called with the lock: what was named after a dead holder is of no use to anybody. */
function sweep(lock: string, id: string): void {
  const directory = dirname(lock);
  for (const name of readdirSync(directory)) {
    if (name.startsWith(`${basename(lock)}-over-`)) {
      if (!name.endsWith(id)) rmSync(join(directory, name), { force: true });
    } else if (name.startsWith(`${basename(lock)}-own-`)) {
      if (isLeft(join(directory, name))) rmSync(join(directory, name), { force: true });
    }
  }
}

/** Whether nobody will come back to a file; one that was killed before it wrote anything is known by its age. */
function isLeft(path: string): boolean {
  const holder = holderOf(path);
  if (holder !== undefined) return isGone(holder);
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat !== undefined && Date.now() - stat.mtimeMs > 60_000;
}

const nothing = new Int32Array(new SharedArrayBuffer(4));

function pause(): void {
  Atomics.wait(nothing, 0, 0, 1 + Math.random() * PAUSE);
}
