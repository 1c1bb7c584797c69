import type { BigIntStats, Dirent, Stats } from 'node:fs';
import fs from 'node:fs';

export type Fs = typeof fs;

/** What a call came to, without what two file systems cannot have in common. */
export type Outcome = { readonly value: unknown } | { readonly error: unknown };

type Call = (...args: unknown[]) => unknown;

export function sync(target: Fs, name: string, args: readonly unknown[]): Outcome {
  try {
    return { value: comparable(member(target, `${name}Sync`)(...args)) };
  } catch (error) {
    return { error: failure(error) };
  }
}

export async function promised(target: Fs, name: string, args: readonly unknown[]): Promise<Outcome> {
  try {
    return { value: comparable(await member(target.promises, name)(...args)) };
  } catch (error) {
    return { error: failure(error) };
  }
}

/** A callback form that throws at once is told apart from one that calls back. */
export async function calledBack(target: Fs, name: string, args: readonly unknown[]): Promise<Outcome> {
  const callback = member(target, name);
  return new Promise((resolve) => {
    try {
      callback(...args, (error: unknown, value: unknown) =>
        resolve(error === null ? { value: comparable(value) } : { error: failure(error) }),
      );
    } catch (error) {
      resolve({ error: { thrown: failure(error) } });
    }
  });
}

function member(target: object, name: string): Call {
  const value = (target as Record<string, unknown>)[name];
  if (typeof value !== 'function') throw new Error(`there is no ${name}`);
  return value as Call;
}

/** All a program can tell errors apart by. */
function failure(error: unknown): unknown {
  const { name, code, errno, syscall, path, dest, message } = error as NodeJS.ErrnoException & { dest?: string };
  return { name, code, errno, syscall, path, dest, message, own: Object.keys(error as object).sort() };
}

function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable).sort((a, b) => (key(a) < key(b) ? -1 : 1));
  if (value instanceof fs.Dirent) return direntOf(value);
  if (value instanceof fs.Stats || isBigIntStats(value)) return statsOf(value as Stats | BigIntStats);
  if (Buffer.isBuffer(value)) return { buffer: value.toString('latin1') };
  if (typeof value === 'object' && value !== null && 'bavail' in value) return Object.keys(value);
  return value;
}

function key(value: unknown): string {
  return JSON.stringify(value) ?? '';
}

function direntOf(entry: Dirent): unknown {
  const kind = [entry.isFile(), entry.isDirectory(), entry.isSymbolicLink(), entry.isFIFO(), entry.isSocket()];
  return { dirent: Object.entries(entry).map(([name, value]) => [name, comparable(value)]), kind };
}

function isBigIntStats(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'mtimeNs' in value;
}

/**
 * Without what is each file system's own: device and inode numbers, a disk's links and blocks, the times that a disk
 * changes by itself, and the size of directories.
 */
function statsOf(stats: Stats | BigIntStats): unknown {
  const own = Object.keys(stats);
  const kind = [stats.isFile(), stats.isDirectory(), stats.isSymbolicLink(), stats.isFIFO()];
  const { mode, uid, gid, rdev, blksize, mtimeMs, mtime } = stats;
  const size = stats.isFile() ? { size: stats.size, nlink: stats.nlink } : {};
  return { own, kind, mode, uid, gid, rdev, blksize, mtimeMs, mtime: mtime.getTime(), ...size };
}
