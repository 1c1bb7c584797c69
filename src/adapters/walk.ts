import { posix } from 'node:path';
import type { View } from './view.ts';

/** The files below a directory, and what kept the walk from seeing all of them. */
export interface Walk {
  /** Paths of the view, directory by directory, sorted in each. */
  readonly files: readonly string[];
  /** Of directories below the first one that could not be listed. */
  readonly errors: readonly Error[];
}

/**
 * Lists all files below a directory; a file is its own only one.
 *
 * @throws the error of `stat` or `readdir` for the path itself
 */
export async function walk(view: View, path: string): Promise<Walk> {
  if (!(await view.promises.stat(path)).isDirectory()) return { files: [path], errors: [] };
  const entries = await view.promises.readdir(path, { withFileTypes: true });
  const below = entries.map(async (entry): Promise<Walk> => {
    const child = posix.join(path, entry.name);
    if (!entry.isDirectory()) return { files: [child], errors: [] };
    return walk(view, child).catch((error: Error) => ({ files: [], errors: [error] }));
  });
  const walks = await Promise.all(below);
  return { files: walks.flatMap(({ files }) => files), errors: walks.flatMap(({ errors }) => errors) };
}
