import type { NodeFs } from '../node/index.ts';
import type { View } from './view.ts';

/** Fits `FSOption` of glob (10 to 14) and path-scurry, with nothing left out. */
export interface GlobFs
  extends Pick<NodeFs, 'lstatSync' | 'readdir' | 'readdirSync' | 'readlinkSync' | 'realpathSync'> {
  promises: Pick<NodeFs['promises'], 'lstat' | 'readdir' | 'readlink' | 'realpath'>;
}

/**
 * A view as glob's `fs` option: `glob('/mcp/**\/SKILL.md', { fs: globFs(view) })`. glob takes what is missing in that option
 * from the disk; here nothing is. It leaves out what it cannot list, without an error.
 */
export function globFs({ fs, promises }: View): GlobFs {
  const { lstatSync, readdir, readdirSync, readlinkSync, realpathSync } = fs;
  const { lstat, readdir: readdirPromise, readlink, realpath } = promises;
  return {
    lstatSync,
    readdir,
    readdirSync,
    readlinkSync,
    realpathSync,
    promises: { lstat, readdir: readdirPromise, readlink, realpath },
  };
}
