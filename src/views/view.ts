import { posix } from 'node:path';
import type { NodeFs } from '../node/index.ts';
import { OptionsError } from '../options.ts';
import type { Diagnostic } from '../vfs/diagnostics.ts';
import type { Collision, ViewOrigin, ViewSkill } from './layer.ts';

/** Skills in another arrangement than a mount's own. It lives as long as the mounts it shows, and is not closed itself. */
export interface View {
  /** Passes for `node:fs`. */
  readonly fs: NodeFs;
  readonly promises: NodeFs['promises'];
  readonly mountPoint: string;
  /** The skills known now, with their paths in this view. Of servers nothing is read for it. */
  skills(): readonly ViewSkill[];
  /** Where a path of this view comes from; `undefined` when nothing known is there. Asks no server. */
  originOf(path: string): ViewOrigin | undefined;
  /** What is not shown where its name says, or not at all, because something else is. */
  collisions(): readonly Collision[];
  /**
   * Told what the mounts behind the view report, and what the view has to say itself.
   *
   * @returns a function that ends the subscription
   */
  on(event: 'diagnostic', listener: (diagnostic: Diagnostic) => void): () => void;
}

/** @throws OptionsError when it is not an absolute, normalised path */
export function checkMountPoint(path: string): string {
  const usable = typeof path === 'string' && path.startsWith('/') && posix.normalize(path) === path;
  if (!usable || path.includes('\0') || (path !== '/' && path.endsWith('/'))) {
    throw new OptionsError(
      `mountPoint: expected an absolute, normalised path such as /skills, got ${JSON.stringify(path)}`,
    );
  }
  return path;
}

/** The path of something below a mount point. */
export function pathBelow(mountPoint: string, below: string): string {
  if (below === '') return mountPoint;
  return mountPoint === '/' ? `/${below}` : `${mountPoint}/${below}`;
}

/** What of a path lies below a mount point, `''` for itself. */
export function belowOf(mountPoint: string, path: string): string | undefined {
  if (path === mountPoint) return '';
  const prefix = mountPoint === '/' ? '/' : `${mountPoint}/`;
  return path.startsWith(prefix) ? path.slice(prefix.length) : undefined;
}
