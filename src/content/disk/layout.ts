import { randomBytes } from 'node:crypto';
import { lstatSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { TEMPORARY_PREFIX } from './files.ts';
import { checkPrivate, isAbsent, type Uid } from './private-directory.ts';
import { isScopeId } from './scope.ts';

// <directory>/<scope id>/<64 hexadecimal digits>   verified bytes, named by their SHA-256
//                       /listing.json              the last listing
//                       /origin.json               the label, for people
//                       /.tmp-…                    being written, or left by a process that ended in the middle
//            /.removed-…                           a scope being removed, or left likewise

export const LISTING = 'listing.json';
export const ORIGIN = 'origin.json';
const REMOVED_PREFIX = '.removed-';

/** The name of the file that holds the bytes of a digest; digests are `sha256:` and 64 lowercase hexadecimal digits. */
export function blobName(digest: string): string {
  const name = digest.slice('sha256:'.length);
  if (!isBlobName(name)) throw new TypeError(`${JSON.stringify(digest)} is no SHA-256 digest`);
  return name;
}

export function isBlobName(name: string): boolean {
  return /^[0-9a-f]{64}$/.test(name);
}

/** A file of the cache. */
export interface CacheFile {
  readonly path: string;
  readonly name: string;
  readonly kind: 'blob' | 'listing' | 'temporary';
  readonly bytes: number;
  /** When it was last used, to within an hour; of a temporary file, when it was last written. */
  readonly usedAt: number;
}

/** The ids of the scopes that are there. A directory that is not private holds nothing of ours. */
export function scopesIn(directory: string, uid: Uid): readonly string[] {
  return entriesOf(directory).filter((name) => {
    if (!isScopeId(name)) return false;
    try {
      checkPrivate(join(directory, name), uid);
      return true;
    } catch {
      return false;
    }
  });
}

/** The files of one scope. What others put there is not looked at. */
export function filesIn(scopeDirectory: string): readonly CacheFile[] {
  return entriesOf(scopeDirectory).flatMap((name): CacheFile[] => {
    const kind = kindOf(name);
    if (kind === undefined) return [];
    const path = join(scopeDirectory, name);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    return stat === undefined ? [] : [{ path, name, kind, bytes: stat.size, usedAt: stat.mtimeMs }];
  });
}

/**
 * Removes a scope, in one step for whoever uses it: it is moved away first. A process that writes to it meanwhile makes
 * it anew.
 */
export function removeScope(directory: string, scope: string): void {
  try {
    renameSync(join(directory, scope), join(directory, `${REMOVED_PREFIX}${randomBytes(8).toString('hex')}`));
  } catch (error) {
    if (!isAbsent(error)) throw error;
  }
  sweepRemoved(directory);
}

/** Deletes the scopes that were moved away, also by processes that ended before they were done. */
export function sweepRemoved(directory: string): void {
  for (const name of entriesOf(directory)) {
    if (!name.startsWith(REMOVED_PREFIX)) continue;
    rmSync(join(directory, name), { force: true, recursive: true, maxRetries: 3 });
  }
}

function kindOf(name: string): CacheFile['kind'] | undefined {
  if (isBlobName(name)) return 'blob';
  if (name === LISTING) return 'listing';
  return name.startsWith(TEMPORARY_PREFIX) ? 'temporary' : undefined;
}

/** Names in a directory; none where it is gone, as it is when another process removed it. */
function entriesOf(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}
