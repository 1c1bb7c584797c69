import { lockedFiles, readLock } from './lock.ts';
import { Target } from './target.ts';

/**
 * Removes a copy: the files that are as they were written, and its lock. What was changed, or is beside, stays. Without a lock
 * there is nothing to remove.
 *
 * @throws ExportError when there is a lock that cannot be understood, or a copy is under way; what the file system gives
 */
export function removeExport(dir: string): void {
  const target = new Target(dir);
  const lock = readLock(target.root);
  const work = target.begin();
  for (const { path, written } of lockedFiles(lock).values()) {
    const found = target.find(path);
    if (found.kind === 'file' && (found.digest === written || work.wrote(path, found.digest))) target.remove(path);
  }
  target.removeLock();
  work.end(true);
}
