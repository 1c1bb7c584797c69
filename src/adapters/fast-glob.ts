import type { NodeFs } from '../node/index.ts';
import type { View } from './view.ts';

/** Fits `FileSystemAdapter` of fast-glob and `@nodelib/fs.walk`, with nothing left out. */
export type FastGlobFs = Pick<NodeFs, 'lstat' | 'lstatSync' | 'readdir' | 'readdirSync' | 'stat' | 'statSync'>;

/**
 * A view as fast-glob's `fs` option: `fastGlob('**\/SKILL.md', { fs: fastGlobFs(view), cwd: '/mcp' })`. fast-glob takes what
 * is missing in that option from the disk; here nothing is. A directory that cannot be listed makes it fail, unless
 * `suppressErrors` is set.
 */
export function fastGlobFs({ fs }: View): FastGlobFs {
  const { lstat, lstatSync, readdir, readdirSync, stat, statSync } = fs;
  return { lstat, lstatSync, readdir, readdirSync, stat, statSync };
}
