import type { FSWatcher } from 'node:fs';
import { join } from 'node:path';
import { native } from '../node/native.ts';

/** Directories that are watched at most; changes further on are found when somebody looks. */
const WATCHED = 4096;

/**
 * Watches a directory of the disk and all below it, one watcher for each. Node's own recursive one reads the tree with the
 * functions of `node:fs` as they are now: where those show a view that is over this directory, it would never end.
 *
 * @param changed told the path below the directory; `''` for itself
 * @returns a function that ends it
 */
export function watchTree(root: string, changed: (below: string) => void): () => void {
  const watchers = new Map<string, FSWatcher>();

  function drop(below: string): void {
    for (const [path, watcher] of watchers) {
      if (path !== below && !path.startsWith(`${below}/`)) continue;
      watcher.close();
      watchers.delete(path);
    }
  }

  function add(below: string): void {
    if (watchers.has(below) || watchers.size >= WATCHED) return;
    const path = join(root, below);
    try {
      const watcher = native.watch(path, { persistent: false }, (event, name) => {
        const inside = name === null ? below : below === '' ? String(name) : `${below}/${name}`;
        if (event === 'rename' && inside !== below) {
          drop(inside);
          if (native.lstatSync(join(root, inside), { throwIfNoEntry: false })?.isDirectory()) add(inside);
        }
        changed(inside);
      });
      watcher.on('error', () => drop(below));
      watchers.set(below, watcher);
      for (const entry of native.readdirSync(path, { withFileTypes: true })) {
        if (entry.isDirectory()) add(below === '' ? entry.name : `${below}/${entry.name}`);
      }
    } catch {
      // What is not there, or may not be looked at, does not tell of changes.
      drop(below);
    }
  }

  add('');
  return () => {
    for (const watcher of watchers.values()) watcher.close();
    watchers.clear();
  };
}
