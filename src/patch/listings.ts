import { Dirent } from 'node:fs';
import { resolve } from 'node:path';
import { native } from '../node/native.ts';

type Entry = string | Buffer | Dirent;

/**
 * The listings that Node and some mounts have of one directory, as one. What is on the disk counts, and mount points below it
 * that the disk does not have.
 *
 * @param onDisk Node's listing; a directory that is not on the disk is one all the same, where there are mount points below
 * @throws what Node's listing failed with otherwise
 */
export function merged(onDisk: PromiseSettledResult<unknown>, mounted: readonly unknown[]): Entry[] {
  if (onDisk.status === 'rejected' && (onDisk.reason as NodeJS.ErrnoException).code !== 'ENOENT') throw onDisk.reason;
  const lists = [...(onDisk.status === 'fulfilled' ? [onDisk.value] : []), ...mounted] as readonly (readonly Entry[])[];
  const entries = new Map<string, Entry>();
  for (const entry of lists.flat()) {
    const key = keyOf(entry);
    if (!entries.has(key)) entries.set(key, entry);
  }
  return [...entries.values()];
}

/**
 * Shows entries of an overlay as what is looked up there, which is the disk's own: were a link said to be the directory it
 * leads to, a program that removes what is in directories would remove what is elsewhere.
 *
 * @returns a function that takes entries of one listing, in any form
 */
export function withLinks(): <E>(entry: E) => E {
  const known = new Map<string, ReadonlyMap<string, Dirent>>();
  return (entry) => {
    if (!(entry instanceof Dirent)) return entry;
    const parent = String(entry.parentPath);
    let links = known.get(parent);
    if (links === undefined) {
      links = linksIn(entry.parentPath, Buffer.isBuffer(entry.name));
      known.set(parent, links);
    }
    return (links.get(String(entry.name)) as typeof entry | undefined) ?? entry;
  };
}

function linksIn(directory: string, asBytes: boolean): ReadonlyMap<string, Dirent> {
  try {
    const encoding = (asBytes ? 'buffer' : 'utf8') as 'utf8';
    const entries = native.readdirSync(directory, { withFileTypes: true, encoding });
    return new Map(entries.filter((entry) => entry.isSymbolicLink()).map((entry) => [String(entry.name), entry]));
  } catch {
    // What servers publish is not on the disk, and has no links.
    return new Map();
  }
}

function keyOf(entry: Entry): string {
  return entry instanceof Dirent ? resolve(String(entry.parentPath), String(entry.name)) : String(entry);
}
