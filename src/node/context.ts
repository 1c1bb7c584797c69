import { known, type Op } from '../base/op.ts';
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

/** The part of `node:fs` that changes things, of another file system. */
export type WritableSource = typeof import('node:fs');

/** Where a change is made. */
export interface WriteTarget {
  readonly fs: WritableSource;
  /** The path there. */
  readonly path: string;
  /** The path here of a path there. */
  back(path: string): string;
}

export interface NodeFsOptions {
  /** Paths at or below it are the mount's; all others are the real disk's, where copies may go. Default `/`. */
  readonly mountPoint?: string;
  /** What `watch` and `watchFile` listen to. Without one they never tell of a change. */
  readonly changes?: ChangeSource;
  /**
   * Where a change at a path is made; `undefined` for what cannot be changed. Without it nothing can.
   *
   * @param path absolute and normalised
   */
  readonly writes?: (path: string) => Op<WriteTarget | undefined>;
}

/** What all parts of one facade share. */
export interface Context {
  readonly core: ReadFs;
  readonly driver: Driver;
  readonly owner: Owner;
  readonly changes: ChangeSource | undefined;
  /** Where a change at a path, as a program spells it, is made. */
  writes(path: string): Op<WriteTarget | undefined>;
  /** Whether an absolute path is the mount's. */
  owns(path: string): boolean;
}

let mounts = 0;

export function createContext(core: ReadFs, driver: Driver, options: NodeFsOptions): Context {
  const { mountPoint = '/', changes, writes } = options;
  const below = mountPoint === '/' ? '/' : `${mountPoint}/`;
  mounts += 1;
  return {
    core,
    driver,
    // Kernels number devices from 0 upwards; ours must not be taken for one of theirs.
    owner: { dev: 0x6d637000 + mounts, uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
    changes,
    writes: (path) => (writes === undefined ? known(undefined) : written(core, writes, path)),
    owns: (path) => path === mountPoint || path.startsWith(below),
  };
}

/** What comes before `..` has to be there; a trailing slash stays, because it says that a directory is meant. */
function* written(
  core: ReadFs,
  writes: NonNullable<NodeFsOptions['writes']>,
  path: string,
): Op<WriteTarget | undefined> {
  // What `.` stands in may be made together with what is below it.
  const spelled = path.replace(/\/\.(?=\/|$)/g, '/');
  const plain = spelled.replace(/(?<=[^/])\/+$/, '');
  const target = yield* writes(yield* locate(core, plain));
  return target === undefined || plain === spelled ? target : { ...target, path: `${target.path}/` };
}

/** Finds the core's path for a path as a program wrote it. @throws `Fault` */
export function* locate(core: ReadFs, path: string): Op<string> {
  return isNormal(path) ? path : yield* resolvePath(core, path);
}
