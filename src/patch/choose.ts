import type { NodeFs } from '../node/index.ts';
import { native } from '../node/native.ts';
import type { Patched, Routes } from './routes.ts';

/** What a function does with its path, as far as it decides who answers. */
export type Kind =
  /** Looks at, reads or changes one thing. */
  | 'one'
  /** Shows what is in a directory. */
  | 'list';

/**
 * Chooses who answers for a path: `undefined` is Node.
 *
 * In a directory that shows skills of servers beside its own, what is its own stays Node's; of directories only the listing
 * is the view's. What is not there may be a server's, or is about to be made, which the view knows where to do.
 */
export function choose(routes: Routes, path: unknown, kind: Kind): NodeFs | undefined {
  const patched = routes.of(path);
  if (patched === undefined) return chooseAbove(routes, path, kind);
  return isNative(patched, routes.absolute(path) as string, kind) ? undefined : patched.fs;
}

function isNative(patched: Patched, path: string, kind: Kind): boolean {
  if (!patched.overlay) return false;
  try {
    const there = native.lstatSync(path, { throwIfNoEntry: false });
    if (there === undefined) return false;
    if (kind === 'list' && !there.isFile()) return false;
  } catch {
    // The disk refuses the path: let the function that was called say so, in its own way.
    return true;
  }
  return !patched.isServers(path);
}

/** A mount point's parents need not be on the disk. */
function chooseAbove(routes: Routes, path: unknown, kind: Kind): NodeFs | undefined {
  if (kind === 'list') return undefined;
  const [below] = routes.below(path);
  if (below === undefined) return undefined;
  return native.existsSync(routes.absolute(path) as string) ? undefined : below.fs;
}
