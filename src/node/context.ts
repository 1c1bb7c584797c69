import type { Op } from '../base/op.ts';
import type { Driver, ReadFs } from '../vfs/read-fs.ts';
import { isNormal, resolvePath } from './paths.ts';
import type { Owner } from './stats.ts';

/** Tells of changes in the tree. */
export interface ChangeSource {
  /**
   * @param listener called with the path that changed, appeared or went away
   * @returns a function that ends the subscription
   */
  subscribe(listener: (path: string) => void): () => void;
}

export interface NodeFsOptions {
  /** Paths at or below it are the mount's; all others are the real disk's, where copies may go. Default `/`. */
  readonly mountPoint?: string;
  /** What `watch` and `watchFile` listen to. Without one they never tell of a change. */
  readonly changes?: ChangeSource;
}

/** What all parts of one facade share. */
export interface Context {
  readonly core: ReadFs;
  readonly driver: Driver;
  readonly owner: Owner;
  readonly changes: ChangeSource | undefined;
  /** Whether an absolute path is the mount's. */
  owns(path: string): boolean;
}

let mounts = 0;

export function createContext(core: ReadFs, driver: Driver, options: NodeFsOptions): Context {
  const { mountPoint = '/', changes } = options;
  const below = mountPoint === '/' ? '/' : `${mountPoint}/`;
  mounts += 1;
  return {
    core,
    driver,
    // Kernels number devices from 0 upwards; ours must not be taken for one of theirs.
    owner: { dev: 0x6d637000 + mounts, uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
    changes,
    owns: (path) => path === mountPoint || path.startsWith(below),
  };
}

/** Finds the core's path for a path as a program wrote it. @throws `Fault` */
export function* locate(core: ReadFs, path: string): Op<string> {
  return isNormal(path) ? path : yield* resolvePath(core, path);
}
