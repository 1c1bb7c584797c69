import { posix } from 'node:path';
import type { NodeFs } from '../node/index.ts';

/** What an adapter takes: a mount, a union or a flat view is one. */
export interface View {
  /** Passes for `node:fs`. */
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
