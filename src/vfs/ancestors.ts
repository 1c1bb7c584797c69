import type { InodeTable } from './inodes.ts';
import type { DirEntry, Stat } from './read-fs.ts';

export interface Ancestor {
  readonly stat: Stat;
  readonly entries: readonly DirEntry[];
}

/** The size of a directory, as many file systems give it. Bytes. */
export const DIRECTORY_SIZE = 4096;

/**
 * Every ancestor of a mount point can be looked at, down to the mount point, which lists `names`.
 *
 * @param since milliseconds since the epoch
 */
export function ancestors(
  mountPoint: string,
  names: readonly string[],
  inodes: InodeTable,
  since: number,
): ReadonlyMap<string, Ancestor> {
  const above = new Map<string, Ancestor>();
  const segments = mountPoint.split('/').filter((segment) => segment !== '');
  for (let depth = 0; depth <= segments.length; depth++) {
    const path = `/${segments.slice(0, depth).join('/')}`;
    const next = segments[depth];
    const shown = next === undefined ? [...names].sort() : [next];
    const { ino, mtimeMs } = inodes.intern(path, 'directory', since);
    above.set(path, {
      stat: { kind: 'directory', ino, size: DIRECTORY_SIZE, mtimeMs },
      entries: shown.map((name) => ({ name, kind: 'directory' })),
    });
  }
  return above;
}
