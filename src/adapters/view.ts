import { posix } from 'node:path';
import type { NodeFs } from '../node/index.ts';

/** What an adapter takes: a mount, or a view of one. */
export interface View {
  /** Passes for `node:fs`, read-only. */
  readonly fs: NodeFs;
  readonly promises: NodeFs['promises'];
  /** The directory in which everything is. */
  readonly mountPoint: string;
}

/** The view's path for a host that has the mount point as its root. A path with `..` does not lead above that root. */
export function belowMountPoint(view: View, path: string): string {
  const normal = posix.resolve('/', path);
  return normal === '/' ? view.mountPoint : posix.join(view.mountPoint, normal);
}

/** Whether an error says that nothing is at the path. All others are failures, and tell nothing about it. */
export function isAbsence(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/**
 * Whether something is at a path of the view.
 *
 * @throws the error of `stat` when it cannot be told
 */
export async function isThere(view: View, path: string): Promise<boolean> {
  try {
    await view.promises.stat(path);
    return true;
  } catch (error) {
    if (isAbsence(error)) return false;
    throw error;
  }
}
