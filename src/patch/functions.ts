import type { Duplex } from 'node:stream';
import { promisify } from 'node:util';
import { settled } from '../base/op.ts';
import { nodeError, systemError } from '../node/errors.ts';
import type { NodeFs, WriteTarget } from '../node/index.ts';
import { isNodes } from '../node/native.ts';
import { choose, type Kind } from './choose.ts';
import { opendir, readdirCallback, readdirPromise, readdirSync } from './list-functions.ts';
import type { Routes } from './routes.ts';

// biome-ignore lint/suspicious/noExplicitAny: Node's functions are passed on with whatever arguments they get
export type Fn = ((this: unknown, ...args: any[]) => unknown) & Record<PropertyKey, unknown>;

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
  if (base === 'opendir') return opendir(sync, promised);
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
  // Most calls of a process come through here, and are nobody's: nothing is allocated for them.
  return function (this: unknown): unknown {
    // biome-ignore lint/complexity/noArguments: an array of them would be made for each call
    const args = arguments as unknown as unknown[];
    if (routes.isNobodys(args[index])) return original.apply(this, args);
    const fs = choose(routes, args[index], kind);
    if (fs === undefined) return original.apply(this, args);
    const given = [...args];
    given[index] = routes.within(given[index]);
    return of(fs)(...given);
  } as Fn;
}

interface Choice {
  /** `undefined` is Node. */
  readonly fs?: NodeFs | undefined;
  readonly to: unknown;
}

/**
 * The side of the source makes the change: it knows what there is. Where the destination is another's, it is told the place on
 * the disk at which that one would make it.
 *
 * @throws EROFS where nothing can be changed, EXDEV where that is not the disk
 */
function chooseTwo(routes: Routes, name: string, from: unknown, to: unknown): Choice {
  const [source, target] = [choose(routes, from, 'one'), choose(routes, to, 'one')];
  if (target === undefined || target === source) return { fs: source, to: routes.within(to) };
  const spelled = { path: String(from), dest: String(to) };
  let place: WriteTarget | undefined;
  try {
    place = routes.of(to)?.placeOf(routes.absolute(to) as string);
  } catch (error) {
    throw nodeError(error, name.toLowerCase(), spelled.path, spelled.dest);
  }
  if (place === undefined) throw systemError('EROFS', name.toLowerCase(), spelled);
  if (!isNodes(place.fs)) throw systemError('EXDEV', name.toLowerCase(), spelled);
  return { fs: source, to: place.path };
}

function ofTwo(name: string, sync: boolean, promised: boolean): Replace {
  return (original, routes, of) =>
    function (this: unknown, ...args: unknown[]): unknown {
      const [from, to, ...rest] = args;
      const choice = settled(() => chooseTwo(routes, name, from, to));
      if (choice.status === 'fulfilled') {
        const { fs, to: there } = choice.value;
        if (fs !== undefined) return of(fs)(routes.within(from), there, ...rest);
        return original.apply(this, there === to ? args : [from, there, ...rest]);
      }
      if (sync) throw choice.reason;
      if (promised) return Promise.reject(choice.reason);
      const done = args.findLast((argument) => typeof argument === 'function') as ((error: Error) => void) | undefined;
      if (done === undefined) return original.apply(this, args);
      process.nextTick(done, choice.reason);
      return undefined;
    } as Fn;
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
    if (fs !== undefined) args[0] = routes.within(args[0]);
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
