import { lstatSync, mkdirSync, realpathSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { discoveredPart } from './location.ts';

/** A cache directory that is not used, because it is not private to the user or is a place where agents find skills. */
export class CacheDirectoryError extends Error {
  override readonly name = 'CacheDirectoryError';
  readonly code = 'ERR_SKILLFS_CACHE_DIRECTORY';
  readonly path: string;

  constructor(path: string, problem: string) {
    super(`the cache directory ${path} is not used: ${problem}`);
    this.path = path;
  }
}

const GROUP_OR_OTHERS_WRITE = 0o022;
const OTHERS_WRITE = 0o002;
const STICKY = 0o1000;

/** Absent on Windows, where directories of a user are private by their inherited access lists. */
export type Uid = number | undefined;

/**
 * The path under which a cache directory is used, with the links above it resolved. It need not exist yet.
 *
 * @throws CacheDirectoryError when what is there, or the place, is not fit for a private cache
 */
export function settleDirectory(path: string, uid: Uid): string {
  if (!isAbsolute(path)) throw new CacheDirectoryError(path, 'it is no absolute path');
  const real = join(resolved(dirname(path)), basename(path));
  for (const spelling of [path, real]) {
    const part = discoveredPart(spelling);
    if (part === undefined) continue;
    throw new CacheDirectoryError(path, `agents look for skills in "${part}"; give a directory outside of it`);
  }
  checkParent(path, dirname(real), uid);
  try {
    checkPrivate(real, uid);
  } catch (error) {
    if (!isAbsent(error)) throw unusable(path, error);
  }
  return real;
}

/**
 * Makes a directory that only the user can look into, where there is none, and the directories above it.
 *
 * @throws CacheDirectoryError when what is there is not fit
 */
export function makePrivate(path: string, uid: Uid): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  checkPrivate(path, uid);
}

/**
 * @throws CacheDirectoryError when the directory is a link, another user's, or can be written by others; and what the file
 * system gives, ENOENT among it
 */
export function checkPrivate(path: string, uid: Uid): void {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink())
    throw new CacheDirectoryError(path, 'it is a symbolic link; give the directory it leads to');
  if (!stat.isDirectory()) throw new CacheDirectoryError(path, 'it is no directory');
  if (uid === undefined) return;
  if (stat.uid !== uid) throw new CacheDirectoryError(path, `it belongs to the user ${stat.uid}, not to ${uid}`);
  if ((stat.mode & GROUP_OR_OTHERS_WRITE) !== 0) {
    throw new CacheDirectoryError(path, `others can write to it (${octal(stat)}); chmod it to 700`);
  }
}

/** Whoever can rename the cache directory can put another in its place. */
function checkParent(path: string, parent: string, uid: Uid): void {
  let stat: Stats;
  try {
    stat = statSync(parent);
  } catch (error) {
    if (isAbsent(error)) return;
    throw unusable(path, error);
  }
  if (uid === undefined) return;
  if (stat.uid !== uid && stat.uid !== 0) {
    throw new CacheDirectoryError(path, `${parent}, which holds it, belongs to the user ${stat.uid}, not to ${uid}`);
  }
  if ((stat.mode & OTHERS_WRITE) !== 0 && (stat.mode & STICKY) === 0) {
    throw new CacheDirectoryError(path, `everybody can write to ${parent}, which holds it (${octal(stat)})`);
  }
}

/** A path of which the end may not exist yet, with the links of what does exist resolved. */
function resolved(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    const above = dirname(path);
    if (!isAbsent(error)) throw unusable(path, error);
    return above === path ? path : join(resolved(above), basename(path));
  }
}

function unusable(path: string, error: unknown): CacheDirectoryError {
  return error instanceof CacheDirectoryError ? error : new CacheDirectoryError(path, (error as Error).message);
}

export function isAbsent(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}

function octal({ mode }: Stats): string {
  return `mode ${(mode & 0o7777).toString(8)}`;
}
