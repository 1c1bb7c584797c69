import type { ReadFs } from '../vfs/read-fs.ts';
import { type NodeTable, split } from './nodes.ts';
import { invalidEntry, invalidInode } from './protocol/notify.ts';
import { atOnce } from './run.ts';

/**
 * What the kernel is to forget when something changed at a path. A directory that stays keeps its name, because processes may
 * stand in it; every other name is looked up again.
 */
export function invalidations(path: string, core: ReadFs, nodes: NodeTable): readonly Buffer[] {
  const node = nodes.at(path);
  const isDirectory = node?.stat.kind === 'directory' && atOnce(core.stat(path))?.kind === 'directory';
  if (node !== undefined && isDirectory) return [invalidInode(node.id)];
  const above = split(path);
  const parent = above && nodes.at(above.parent);
  return above === undefined || parent === undefined ? [] : [invalidEntry(parent.id, above.name)];
}
