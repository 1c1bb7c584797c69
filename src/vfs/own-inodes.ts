import type { InodeTable } from './inodes.ts';
import type { Stat } from './read-fs.ts';

/** Paths remembered at most. */
const REMEMBERED = 100_000;

/** Gives what several file systems say of their files inode numbers of one kind: by path, so that none is there twice. */
export class OwnInodes {
  readonly #inodes: InodeTable;
  readonly #known = new Map<string, { readonly inner: Stat; readonly own: Stat }>();

  constructor(inodes: InodeTable) {
    this.#inodes = inodes;
  }

  statAt(path: string, inner: Stat): Stat {
    const known = this.#known.get(path);
    if (known?.inner === inner) return known.own;
    const { ino } = this.#inodes.intern(path, '', 0);
    const own: Stat = { ...inner, ino };
    if (this.#known.size >= REMEMBERED) this.#known.clear();
    this.#known.set(path, { inner, own });
    return own;
  }
}
