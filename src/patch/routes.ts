import { posix, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { NodeFs } from '../node/index.ts';

/** A mount or a view that a process sees at its mount point. */
export interface Patched {
  readonly mountPoint: string;
  readonly fs: NodeFs;
  /** Whether the mount point is a real directory too, which has a say in what is below it. */
  readonly overlay: boolean;
  /** Whether what is at a path is what servers publish, as far as is known without asking one. */
  isServers(path: string): boolean;
  /** Whether a change at a path can be made. */
  isWritable(path: string): boolean;
}

interface Route {
  readonly patched: Patched;
  readonly prefix: string;
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

  /** A path argument as an absolute, normalised path; `undefined` for what is none. */
  absolute(path: unknown): string | undefined {
    if (typeof path === 'string') return path.charCodeAt(0) === 47 ? normal(path) : resolve(path);
    if (path instanceof Uint8Array) return resolve(Buffer.from(path).toString());
    if (path instanceof URL && path.protocol === 'file:') return fromUrl(path);
    return undefined;
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

/** Almost every path is normal already. */
const ODD = /\/(?:\.{0,2}\/|\.{0,2}$)/;

function normal(path: string): string {
  return ODD.test(path) ? resolve(path) : path;
}

function fromUrl(url: URL): string | undefined {
  try {
    return fileURLToPath(url);
  } catch {
    return undefined;
  }
}
