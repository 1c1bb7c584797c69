import { lstat, mkdir, mkdtemp, readdir, realpath, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { LOCK_FILE } from '../../export/lock.ts';
import { removeExport } from '../../export/remove.ts';

/** A directory in which skills are shown for as long as a command runs. */
export interface Place {
  /** Empty. */
  readonly dir: string;
  /** Removes what was made for it, as far as nothing else is in it. */
  leave(): Promise<void>;
}

/** A directory that nobody else knows. */
export async function scratchPlace(below: string): Promise<Place & { readonly root: string }> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'skillfs-run-')));
  const dir = join(root, below);
  await mkdir(dir, { recursive: true });
  return { root, dir, leave: () => removeEmpty(dir, dirname(root)) };
}

/**
 * The first of some directories that is not there yet, which is then made, or that has nothing in it. One in which somebody
 * has something is never taken: a mount would hide it, a copy would be among it. What an earlier run left is cleared away.
 */
export async function freePlace(directories: readonly string[]): Promise<Place | undefined> {
  for (const directory of directories) {
    const dir = resolve(directory);
    const stat = await lstat(dir).catch(absent);
    if (stat === undefined) {
      const first = await mkdir(dir, { recursive: true });
      return { dir, leave: () => (first === undefined ? Promise.resolve() : removeEmpty(dir, dirname(first))) };
    }
    if (stat.isDirectory() && (await isFree(dir))) return { dir, leave: () => Promise.resolve() };
  }
  return undefined;
}

/** The names of what lies in some directories, which need not be there. */
export async function namesIn(directories: readonly string[]): Promise<readonly string[]> {
  const names = await Promise.all(directories.map((directory) => readdir(directory).catch(() => [])));
  return names.flat();
}

async function isFree(dir: string): Promise<boolean> {
  const names = await readdir(dir).catch(() => undefined);
  if (names?.includes(LOCK_FILE) !== true) return names?.length === 0;
  removeExport(dir);
  return (await readdir(dir)).length === 0;
}

/** @param end the directory above all that are removed */
async function removeEmpty(dir: string, end: string): Promise<void> {
  for (let at = dir; at !== end && at !== dirname(at); at = dirname(at)) {
    try {
      await rmdir(at);
    } catch {
      return;
    }
  }
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
  throw error;
}
