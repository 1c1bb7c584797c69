import { ExportError, LOCK_FILE, lockedFiles, readLock } from './lock.ts';
import { Target } from './target.ts';

/** How a copy differs from its lock. Paths are below the directory. */
export interface CheckReport {
  readonly dir: string;
  /** How many files are as they were written. */
  readonly intact: number;
  readonly changed: readonly string[];
  readonly missing: readonly string[];
  /** What the lock does not tell of. */
  readonly extra: readonly string[];
}

/**
 * Compares a copy that {@link exportTree} made with its lock. No server is asked.
 *
 * @throws ExportError when there is no lock, or none that can be understood; what the file system gives
 */
export function checkExport(dir: string): CheckReport {
  const target = new Target(dir);
  const lock = readLock(target.root);
  if (lock === undefined) throw new ExportError(`${dir} has no ${LOCK_FILE}: it is no copy made by skillfs export`);
  const files = lockedFiles(lock);
  const [changed, missing]: [string[], string[]] = [[], []];
  let intact = 0;
  for (const { path, written } of files.values()) {
    const found = target.find(path);
    if (found.kind === 'absent') missing.push(path);
    else if (found.kind === 'other' || found.digest !== written) changed.push(path);
    else intact++;
  }
  const extra = [...target.entries()].filter((path) => !files.has(path)).sort();
  return { dir: target.root, intact, changed: changed.sort(), missing: missing.sort(), extra };
}
