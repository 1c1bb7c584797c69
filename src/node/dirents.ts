import { constants, type Dirent } from 'node:fs';
import type { DirEntry } from '../vfs/read-fs.ts';
import { native } from './native.ts';
import type { Name } from './paths.ts';

/** Node's class, with the arguments all its versions take. */
const NodeDirent = native.Dirent as unknown as new (name: Name, type: number, parentPath: Name) => Dirent;

const { UV_DIRENT_FILE, UV_DIRENT_DIR } = constants as unknown as Record<'UV_DIRENT_FILE' | 'UV_DIRENT_DIR', number>;

/** @param name the entry's name in the encoding asked for */
export function direntOf(kind: DirEntry['kind'], name: Name, parentPath: Name): Dirent {
  return new NodeDirent(name, kind === 'file' ? UV_DIRENT_FILE : UV_DIRENT_DIR, parentPath);
}
