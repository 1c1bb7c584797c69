import { posix, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { NodeFs, WriteTarget } from '../node/index.ts';
import { isUrl } from '../node/paths.ts';

/** A mount or a view that a process sees at its mount point. */
export interface Patched {
  readonly mountPoint: string;
  readonly fs: NodeFs;
  /** Whether the mount point is a real directory too, with what is first and written to in it. */
  readonly overlay: boolean;
  /** Whether what is at a path is what servers publish, as far as is known without asking one. */
  isServers(path: string): boolean;
  /** Where a change at a path is made, if it can be. @throws `Fault` */
  placeOf(path: string): WriteTarget | undefined;
}

interface Route {
  readonly patched: Patched;
  readonly prefix: string;
  /** What all paths in it start with, its last index, and the character there: comparing one first is faster. */
  readonly start: string;
  readonly last: number;
  readonly code: number;
}

/** Where in a process's paths the mounts and views are. */
export class Routes {
  #routes: readonly Route[] = [];
  /** Directories above mount points, with what is below each. */
  #above: ReadonlyMap<string, readonly Patched[]> = new Map();
  #longest = 0;

  add(all: readonly Patched[]): void {
    this.#set([...this.#routes.map(({ patched }) => patched), ...all]);
  }

  remove(all: readonly Patched[]): void {
    this.#set(this.#routes.map(({ patched }) => patched).filter((patched) => !all.includes(patched)));
  }

  get isEmpty(): boolean {
    return this.#routes.length === 0;
  }

  /** Whether a path can be told at a glance to have nothing to do with any mount, as most can. */
  isNobodys(path: unknown): boolean {
    if (typeof path !== 'string' || path.charCodeAt(0) !== 47 || path.length <= this.#longest) return false;
    for (const { start, last, code } of this.#routes) {
      if (path.charCodeAt(last) === code && path.startsWith(start)) return false;
    }
    return !NOT_PLAIN.test(path);
  }

  /** The mount or view that a path argument is in. What is no path, and most paths, are nobody's. */
  of(path: unknown): Patched | undefined {
    const absolute = this.absolute(path);
    return absolute === undefined ? undefined : this.#at(absolute);
  }

  /** The mounts and views below a directory. */
  below(path: unknown): readonly Patched[] {
    const absolute = this.absolute(path);
    if (absolute === undefined || absolute.length > this.#longest) return [];
    return this.#above.get(absolute) ?? [];
  }

  /**
   * A path argument for the mount or view that it is in, or above. By which directories a `..` leads there is the disk's affair, of which
   * a view knows nothing.
   */
  within(path: unknown): unknown {
    const text = textOf(path);
    if (text === undefined || !UP.test(text)) return path;
    const mountPoint = this.of(text)?.mountPoint;
    if (mountPoint === undefined) return this.absolute(text);
    const given = text.startsWith('/') ? text : `${process.cwd()}/${text}`;
    const names = given.split('/');
    let entered = 0;
    for (let end = 1; end <= names.length; end++) {
      const at = resolve(`/${names.slice(0, end).join('/')}`);
      const isInside = mountPoint === '/' || at === mountPoint || at.startsWith(`${mountPoint}/`);
      entered = isInside ? entered || end : 0;
    }
    const spelled = [mountPoint, ...names.slice(entered)].join('/');
    return path instanceof Uint8Array ? Buffer.from(spelled) : spelled;
  }

  /** A path argument as an absolute, normalised path; `undefined` for what is none. */
  absolute(path: unknown): string | undefined {
    const text = textOf(path);
    if (text === undefined) return undefined;
    try {
      return text.charCodeAt(0) === 47 ? normal(text) : resolve(text);
    } catch {
      // The working directory is gone, and nothing is relative to it.
      return undefined;
    }
  }

  #at(path: string): Patched | undefined {
    for (const { patched, prefix } of this.#routes) {
      if (path.startsWith(prefix) || path === patched.mountPoint) return patched;
    }
    return undefined;
  }

  #set(all: readonly Patched[]): void {
    // The innermost mount point counts.
    const sorted = [...all].sort((a, b) => b.mountPoint.length - a.mountPoint.length);
    this.#routes = sorted.map((patched) => ({
      patched,
      prefix: patched.mountPoint === '/' ? '/' : `${patched.mountPoint}/`,
      start: patched.mountPoint,
      last: patched.mountPoint.length - 1,
      code: patched.mountPoint.charCodeAt(patched.mountPoint.length - 1),
    }));
    const above = new Map<string, Patched[]>();
    for (const patched of sorted) {
      for (let at = patched.mountPoint; at !== '/'; ) {
        at = posix.dirname(at);
        above.set(at, [...(above.get(at) ?? []), patched]);
      }
    }
    this.#above = above;
    this.#longest = Math.max(0, ...[...above.keys()].map(({ length }) => length));
  }
}

/** What a path that is not normal has somewhere, and few others. */
const NOT_PLAIN = /\/[./]/;

/** A path that goes up somewhere. */
const UP = /(?:^|\/)\.\.(?:\/|$)/;

/** Almost every path is normal already. */
const ODD = /\/(?:\.{0,2}\/|\.{0,2}$)/;

function normal(path: string): string {
  return ODD.test(path) ? resolve(path) : path;
}

function textOf(path: unknown): string | undefined {
  if (typeof path === 'string') return path;
  if (path instanceof Uint8Array) return Buffer.from(path).toString();
  if (!isUrl(path)) return undefined;
  try {
    return fileURLToPath(path);
  } catch {
    return undefined;
  }
}
