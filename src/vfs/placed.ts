import { Fault } from '../base/fault.ts';
import { known, type Op } from '../base/op.ts';
import { ancestors } from './ancestors.ts';
import type { InodeTable } from './inodes.ts';
import type { Content, DirEntry, ReadFs, Stat } from './read-fs.ts';

/** A file system at a mount point. The one that is placed takes paths below it: `''`, `a/b`. */
export class Placed implements ReadFs {
  readonly #inner: ReadFs;
  readonly #prefix: string;
  readonly #mountPoint: string;
  readonly #above: ReturnType<typeof ancestors>;

  /** @param since milliseconds since the epoch */
  constructor(mountPoint: string, inner: ReadFs, inodes: InodeTable, since: number) {
    this.#inner = inner;
    this.#mountPoint = mountPoint;
    this.#prefix = mountPoint === '/' ? '/' : `${mountPoint}/`;
    this.#above = ancestors(mountPoint, [], inodes, since);
  }

  stat(path: string): Op<Stat> {
    const below = this.#below(path);
    if (below !== undefined) return this.#inner.stat(below);
    return known(this.#ancestor(path).stat);
  }

  readdir(path: string): Op<readonly DirEntry[]> {
    const below = this.#below(path);
    if (below !== undefined) return this.#inner.readdir(below);
    return known(this.#ancestor(path).entries);
  }

  read(path: string): Op<Content> {
    const below = this.#below(path);
    if (below !== undefined) return this.#inner.read(below);
    this.#ancestor(path);
    throw new Fault('EISDIR');
  }

  #below(path: string): string | undefined {
    if (path.startsWith(this.#prefix)) return path.slice(this.#prefix.length);
    return path === this.#mountPoint ? '' : undefined;
  }

  #ancestor(path: string) {
    const above = this.#above.get(path);
    if (above === undefined) throw new Fault('ENOENT');
    return above;
  }
}

/** The part of a file system at and below `root`, an absolute path; the inverse of {@link Placed}. */
export class Below implements ReadFs {
  readonly #outer: ReadFs;
  readonly #root: string;

  constructor(root: string, outer: ReadFs) {
    this.#outer = outer;
    this.#root = root;
  }

  stat(path: string): Op<Stat> {
    return this.#outer.stat(this.#path(path));
  }

  readdir(path: string): Op<readonly DirEntry[]> {
    return this.#outer.readdir(this.#path(path));
  }

  read(path: string): Op<Content> {
    return this.#outer.read(this.#path(path));
  }

  #path(below: string): string {
    if (below === '') return this.#root;
    return this.#root === '/' ? `/${below}` : `${this.#root}/${below}`;
  }
}
