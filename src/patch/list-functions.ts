import type { Dir, Dirent } from 'node:fs';
import { promisify } from 'node:util';
import { settled } from '../base/op.ts';
import type { NodeFs } from '../node/index.ts';
import { choose } from './choose.ts';
import type { Fn, Replace } from './functions.ts';
import { merged, withLinks } from './listings.ts';
import type { Patched, Routes } from './routes.ts';

/** Who lists a directory. */
interface Lister {
  readonly list: Fn;
  readonly path: unknown;
  /** What else has something in it. */
  readonly below: readonly Patched[];
  /** How an entry is shown. */
  readonly shown: <E>(entry: E) => E;
}

function listerOf(original: Fn, routes: Routes, of: (fs: NodeFs) => Fn, path: unknown): Lister {
  const fs = choose(routes, path, 'list');
  const below = routes.below(path);
  if (fs === undefined) return { list: original, path, below, shown: (entry) => entry };
  const shown: Lister['shown'] = routes.of(path)?.overlay === true ? withLinks() : (entry) => entry;
  return { list: of(fs), path: routes.within(path), below, shown };
}

export const readdirSync: Replace = (original, routes, of) =>
  function (this: unknown, path: unknown, options: unknown): unknown {
    if (routes.isNobodys(path)) return original.call(this, path, options);
    const { list, path: at, below, shown } = listerOf(original, routes, of, path);
    const own = settled(() => (list.call(this, at, options) as unknown[]).map(shown));
    if (below.length > 0) {
      return merged(
        own,
        below.map((patched) => of(patched.fs)(routes.within(path), options)),
      );
    }
    return valueOrThrow(own);
  } as Fn;

export const readdirPromise: Replace = (original, routes, of) =>
  function (this: unknown, path: unknown, options: unknown): unknown {
    if (routes.isNobodys(path)) return original.call(this, path, options);
    return (async () => {
      const { list, path: at, below, shown } = listerOf(original, routes, of, path);
      const own = (list.call(this, at, options) as Promise<unknown[]>).then((entries) => entries.map(shown));
      if (below.length === 0) return own;
      const [outcome] = await Promise.allSettled([own]);
      return merged(outcome, await Promise.all(below.map((patched) => of(patched.fs)(routes.within(path), options))));
    })();
  } as Fn;

export const readdirCallback: Replace = (original, routes, of) =>
  function (this: unknown, ...args: unknown[]): unknown {
    const [path] = args;
    const { list, path: at, below, shown } = listerOf(original, routes, of, path);
    const done = args.at(-1);
    if (typeof done !== 'function') return list.call(this, at, ...args.slice(1));
    const given = args.slice(1, -1);
    if (below.length === 0) {
      return list.call(this, at, ...given, (error: unknown, entries?: unknown[]) =>
        error === null ? done(null, entries?.map(shown)) : done(error),
      );
    }
    const lists = [
      promised(list, [at, ...given]).then((entries) => entries.map(shown)),
      ...below.map((patched) => promised(of(patched.fs), [routes.within(path), ...given])),
    ];
    void Promise.allSettled(lists).then(([own, ...mounted]) => {
      const outcome = settled(() => merged(own as PromiseSettledResult<unknown>, mounted.map(valueOrThrow)));
      if (outcome.status === 'fulfilled') process.nextTick(done as () => void, null, outcome.value);
      else process.nextTick(done as () => void, outcome.reason);
    });
    return undefined;
  } as Fn;

/** A directory's entries are shown as those of a listing. */
export function opendir(sync: boolean, promised: boolean): Replace {
  return (original, routes, of) =>
    function (this: unknown, ...args: unknown[]): unknown {
      const { list, path: at, shown } = listerOf(original, routes, of, args[0]);
      const rest = args.slice(1);
      if (list === original) return original.apply(this, args);
      if (sync) return showing(list(at, ...rest) as Dir, shown);
      if (promised) return (list(at, ...rest) as Promise<Dir>).then((dir) => showing(dir, shown));
      const done = rest.at(-1);
      if (typeof done !== 'function') return list(at, ...rest);
      return list(at, ...rest.slice(0, -1), (error: unknown, dir: Dir) =>
        error === null ? done(null, showing(dir, shown)) : done(error),
      );
    } as Fn;
}

function showing(dir: Dir, shown: Lister['shown']): Dir {
  const { read, readSync } = dir;
  const methods = {
    read(done?: (error: Error | null, entry?: Dirent | null) => void) {
      if (typeof done !== 'function') return (read as () => Promise<Dirent | null>).call(dir).then(shown);
      return (read as (done: unknown) => void).call(dir, (error: Error | null, entry: Dirent | null) =>
        error === null ? done(null, shown(entry)) : done(error),
      );
    },
    readSync: () => shown(readSync.call(dir)),
  };
  for (const [name, value] of Object.entries(methods)) {
    Object.defineProperty(dir, name, { value, configurable: true, writable: true });
  }
  return dir;
}

function valueOrThrow(outcome: PromiseSettledResult<unknown>): unknown {
  if (outcome.status === 'rejected') throw outcome.reason;
  return outcome.value;
}

function promised(list: Fn, args: readonly unknown[]): Promise<unknown[]> {
  return (promisify(list as never) as (...args: readonly unknown[]) => Promise<unknown[]>)(...args);
}
