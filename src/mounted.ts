import type { Op } from './base/op.ts';
import type { SkillNode, TreeNode } from './catalog/tree.ts';
import { isUriProblem, parseSkillUri, toTreePath } from './catalog/uri.ts';
import type { SkillInfo } from './mount.ts';
import type { ChangeSource, WriteTarget } from './node/index.ts';
import type { Policy } from './policy/policy.ts';
import type { Diagnostic } from './vfs/diagnostics.ts';
import type { Driver, ReadFs } from './vfs/read-fs.ts';
import type { SkillFs } from './vfs/skill-fs.ts';
import type { SourceLayer } from './views/layer.ts';

/** What a view does about servers that cannot serve: hide what is theirs, or tell the error. */
export type OnServerError = 'hide' | 'throw';

/** What stands behind a mount or a view: for other ways of reading it, which go through the same core. */
export interface Internals {
  /** Takes absolute paths, those above and at the mount point included. */
  readonly core: ReadFs;
  readonly driver: Driver;
  readonly changes: ChangeSource;
  readonly mountPoint: string;
}

/** What stands behind a view, besides. */
export interface ViewInternals extends Internals {
  /** What a union puts over each other. */
  readonly layers: readonly SourceLayer[];
  /** Where a change at an absolute path is made. */
  readonly writes?: (path: string) => Op<WriteTarget | undefined>;
}

/** What stands behind a mount, besides. */
export interface MountInternals extends Internals {
  /** By label, in the configured order. */
  readonly servers: ReadonlyMap<string, SkillFs>;
  /** Labels of servers that a rule denies. */
  readonly denied: ReadonlySet<string>;
  readonly policy: Policy;
  /** @param path where its directory is shown */
  skillInfo(label: string, skill: SkillNode, path: string): SkillInfo;
  /** @param listener called after the tree of a server was replaced, or the policy shows other skills of it */
  onReplaced(listener: () => void): void;
  report(diagnostic: Diagnostic): void;
}

const behindViews = new WeakMap<object, ViewInternals>();
const behindMounts = new WeakMap<object, MountInternals>();

/** To be called once by whoever made `view`. */
export function keepViewInternals(view: object, internals: ViewInternals): void {
  behindViews.set(view, internals);
}

/** To be called once by whoever made `mount`. */
export function keepMountInternals(mount: object, internals: MountInternals): void {
  behindMounts.set(mount, internals);
}

/** @throws TypeError when `view` was not made by this package */
export function internalsOf(view: object): Internals {
  const internals = behindMounts.get(view) ?? behindViews.get(view);
  if (internals === undefined) throw new TypeError('expected what mount(), flat() or union() returned');
  return internals;
}

/** `undefined` for a mount. */
export function viewInternalsOf(view: object): ViewInternals | undefined {
  return behindViews.get(view);
}

/** @throws TypeError when `mount` is not what `mount()` returned */
export function mountInternalsOf(mount: object): MountInternals {
  const internals = behindMounts.get(mount);
  if (internals === undefined) throw new TypeError('expected what mount() returned');
  return internals;
}

/** What the tree of a mount's server has at a URI, as far as it is known without asking. */
export function nodeOf(mount: object, label: string, uri: string): TreeNode | undefined {
  const parsed = parseSkillUri(uri);
  return isUriProblem(parsed) ? undefined : mountInternalsOf(mount).servers.get(label)?.peek(toTreePath(parsed));
}
