import type { ChangeSource } from './node/index.ts';
import type { Driver, ReadFs } from './vfs/read-fs.ts';

/** What stands behind a mount or a view: for other ways of reading it, which go through the same core. */
export interface Internals {
  /** Takes absolute paths, those above and at the mount point included. */
  readonly core: ReadFs;
  readonly driver: Driver;
  readonly changes: ChangeSource;
  readonly mountPoint: string;
}

const behind = new WeakMap<object, Internals>();

/** To be called once by whoever made `view`. */
export function keepInternals(view: object, internals: Internals): void {
  behind.set(view, internals);
}

/** @throws TypeError when `view` was not made by this package */
export function internalsOf(view: object): Internals {
  const internals = behind.get(view);
  if (internals === undefined) throw new TypeError('expected what mount(), flat() or union() returned');
  return internals;
}
