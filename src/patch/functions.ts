import type { Duplex } from 'node:stream';
import { promisify } from 'node:util';
import { settled } from '../base/op.ts';
import { systemError } from '../node/errors.ts';
import type { NodeFs } from '../node/index.ts';
import { choose, type Kind } from './choose.ts';
import { merged } from './listings.ts';
import type { Routes } from './routes.ts';

// biome-ignore lint/suspicious/noExplicitAny: Node's functions are passed on with whatever arguments they get
type Fn = ((this: unknown, ...args: any[]) => unknown) & Record<PropertyKey, unknown>;

/** What a function of `node:fs` is replaced with. `of` finds the function of the same name in a mount's `fs`. */
export type Replace = (original: Fn, routes: Routes, of: (fs: NodeFs) => Fn) => Fn;

/** Functions that show what is in a directory, or tell of it. */
const LISTS = new Set(['readdir', 'opendir', 'watch', 'glob']);
/** Functions of two paths. */
const TWO = new Set(['rename', 'link', 'copyFile', 'cp']);

/** How a function is replaced, by its name without `Sync`. */
export function replacementFor(name: string, promised: boolean): Replace {
  const base = name.replace(/Sync$/, '');
  const sync = name.endsWith('Sync');
  if (base === 'readdir') return sync ? readdirSync : promised ? readdirPromise : readdirCallback;
  if (base === 'glob') return glob;
  if (base === 'symlink') return byArgument(1, 'one');
  if (TWO.has(base)) return ofTwo(base, sync, promised);
  if (/^[A-Z]/.test(name)) return streamClass;
  return byArgument(0, LISTS.has(base) ? 'list' : 'one');
}

function byArgument(index: number, kind: Kind): Replace {
  return (original, routes, of) => {
    const replaced = routed(original, routes, of, index, kind);
    for (const part of ['native', promisify.custom] as const) {
      const own = original[part];
      if (typeof own !== 'function') continue;
      const value = routed(own as Fn, routes, (fs) => of(fs)[part] as Fn, index, kind);
      Object.defineProperty(replaced, part, {
        value,
        configurable: true,
        writable: true,
        enumerable: part === 'native',
      });
    }
    return replaced;
  };
}

function routed(original: Fn, routes: Routes, of: (fs: NodeFs) => Fn, index: number, kind: Kind): Fn {
  return function (this: unknown, ...args: unknown[]): unknown {
    const fs = choose(routes, args[index], kind);
    return fs === undefined ? original.apply(this, args) : of(fs)(...args);
  } as Fn;
}

/**
 * The side that is a mount's makes the change: it knows what the other one may be. Something is copied into a view only where
 * the view would let it be written.
 */
function ofTwo(name: string, sync: boolean, promised: boolean): Replace {
  return (original, routes, of) => {
    const choice = (from: unknown, to: unknown): { fs?: NodeFs; refused?: Error } => {
      const [source, target] = [choose(routes, from, 'one'), choose(routes, to, 'one')];
      if (target === undefined || target === source) return source === undefined ? {} : { fs: source };
      const patched = routes.of(to);
      if (patched?.isWritable(routes.absolute(to) as string) === true) return { fs: source ?? target };
      return { refused: systemError('EROFS', name.toLowerCase(), { path: String(from), dest: String(to) }) };
    };
    return function (this: unknown, ...args: unknown[]): unknown {
      const { fs, refused } = choice(args[0], args[1]);
      if (refused === undefined) return fs === undefined ? original.apply(this, args) : of(fs)(...args);
      if (sync) throw refused;
      if (promised) return Promise.reject(refused);
      const done = args.findLast((argument) => typeof argument === 'function') as ((error: Error) => void) | undefined;
      if (done === undefined) return original.apply(this, args);
      process.nextTick(done, refused);
      return undefined;
    } as Fn;
  };
}

const readdirSync: Replace = (original, routes, of) =>
  function (this: unknown, path: unknown, options: unknown): unknown {
    const fs = choose(routes, path, 'list');
    if (fs !== undefined) return of(fs)(path, options);
    const below = routes.below(path);
    if (below.length === 0) return original.call(this, path, options);
    const onDisk = settled(() => original.call(this, path, options));
    return merged(
      onDisk,
      below.map((patched) => of(patched.fs)(path, options)),
    );
  } as Fn;

const readdirPromise: Replace = (original, routes, of) =>
  function (this: unknown, path: unknown, options: unknown): unknown {
    const fs = choose(routes, path, 'list');
    if (fs !== undefined) return of(fs)(path, options);
    const below = routes.below(path);
    if (below.length === 0) return original.call(this, path, options);
    return (async () => {
      const [onDisk] = await Promise.allSettled([original.call(this, path, options)]);
      return merged(
        onDisk as PromiseSettledResult<unknown>,
        await Promise.all(below.map((patched) => of(patched.fs)(path, options))),
      );
    })();
  } as Fn;

const readdirCallback: Replace = (original, routes, of) =>
  function (this: unknown, ...args: unknown[]): unknown {
    const [path] = args;
    const fs = choose(routes, path, 'list');
    if (fs !== undefined) return of(fs)(...args);
    const below = routes.below(path);
    const done = args.at(-1);
    if (below.length === 0 || typeof done !== 'function') return original.apply(this, args);
    const given = args.slice(0, -1);
    const lists = [original, ...below.map((patched) => of(patched.fs))].map((list) =>
      promisify(list as never)(...(given as [])),
    );
    void Promise.allSettled(lists).then(([onDisk, ...mounted]) => {
      const outcome = settled(() => merged(onDisk as PromiseSettledResult<unknown>, mounted.map(valueOrThrow)));
      if (outcome.status === 'fulfilled') process.nextTick(done as () => void, null, outcome.value);
      else process.nextTick(done as () => void, outcome.reason);
    });
    return undefined;
  } as Fn;

function valueOrThrow(outcome: PromiseSettledResult<unknown>): unknown {
  if (outcome.status === 'rejected') throw outcome.reason;
  return outcome.value;
}

/** Patterns are looked for in their working directory, but for absolute ones. */
const glob: Replace = (original, routes, of) =>
  function (this: unknown, pattern: unknown, ...rest: unknown[]): unknown {
    const [options] = rest;
    const cwd = typeof options === 'object' && options !== null ? (options as { cwd?: unknown }).cwd : undefined;
    const [first] = Array.isArray(pattern) ? pattern : [pattern];
    const fixed =
      typeof first === 'string' && first.startsWith('/') ? first.replace(/\/[^/]*[*?[{(!+@].*$/s, '') : undefined;
    const fs = choose(routes, fixed ?? cwd ?? process.cwd(), 'list');
    return fs === undefined ? original.call(this, pattern, ...rest) : of(fs)(pattern, ...rest);
  } as Fn;

/** Instances are of both the class that is replaced and the one that opens the file. */
const streamClass: Replace = (original, routes, of) => {
  function Stream(this: unknown, ...args: unknown[]): unknown {
    const fs = choose(routes, args[0], 'one');
    const chosen = (fs === undefined ? original : of(fs)) as unknown as new () => Duplex;
    return Reflect.construct(
      chosen,
      args,
      new.target === undefined || new.target === (Stream as unknown) ? chosen : new.target,
    );
  }
  Object.setPrototypeOf(Stream, original);
  Stream.prototype = original['prototype'];
  return Stream as unknown as Fn;
};
