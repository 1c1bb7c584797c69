import type { NodeFs } from '../node/index.ts';
import type { View } from './view.ts';

/** Fits the `fs` option of fdir and of tinyglobby, with nothing left out. */
export type FdirFs = Pick<NodeFs, 'readdir' | 'readdirSync' | 'realpath' | 'realpathSync' | 'stat' | 'statSync'>;

/**
 * A view as the `fs` option of fdir, and of tinyglobby, which is built on it: `new fdir({ fs: fdirFs(view) })`,
 * `glob('**\/SKILL.md', { fs: fdirFs(view), cwd: '/mcp' })`. Both leave out what they cannot list, unless told to fail
 * (`withErrors()`).
 */
export function fdirFs({ fs }: View): FdirFs {
  const { readdir, readdirSync, realpath, realpathSync, stat, statSync } = fs;
  return { readdir, readdirSync, realpath, realpathSync, stat, statSync };
}
