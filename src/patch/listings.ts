import { Dirent } from 'node:fs';
import { join } from 'node:path';

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

function keyOf(entry: Entry): string {
  return entry instanceof Dirent ? join(String(entry.parentPath), String(entry.name)) : String(entry);
}
