import type { DirEntry } from '../../vfs/read-fs.ts';
import { ENTRY_BYTES, type Owner, type Shown, writeEntry } from './attributes.ts';
import { writeU64 } from './reply.ts';

/** An entry of a directory, with the number that goes with its name. */
export interface Dirent extends DirEntry {
  readonly ino: number;
}

/** Bytes of `struct fuse_dirent` before the name. */
const DIRENT_BYTES = 24;

const TYPE = { file: 8, directory: 4 } as const;

/** Fills one reply to READDIR or READDIRPLUS, whose size the kernel says. */
export class DirectoryEntries {
  readonly #bytes: Buffer;
  readonly #plus: boolean;
  #length = 0;

  /** @param plus whether each entry comes with its attributes (`struct fuse_direntplus`) */
  constructor(size: number, plus: boolean) {
    this.#bytes = Buffer.alloc(size);
    this.#plus = plus;
  }

  /** Whether an entry of this name has no room. */
  isFull(name: string): boolean {
    return this.#length + this.#sizeOf(Buffer.byteLength(name)) > this.#bytes.length;
  }

  /**
   * @param next the offset from which the kernel goes on after this entry
   * @param shown its attributes, where they are known; without, the kernel looks it up when it needs them
   */
  add({ name, kind, ino }: Dirent, next: number, shown?: Shown, owner?: Owner): void {
    const length = Buffer.byteLength(name);
    if (shown !== undefined && owner !== undefined) writeEntry(this.#bytes, this.#length, shown, owner);
    const at = this.#length + (this.#plus ? ENTRY_BYTES : 0);
    writeU64(this.#bytes, ino, at);
    writeU64(this.#bytes, next, at + 8);
    this.#bytes.writeUInt32LE(length, at + 16);
    this.#bytes.writeUInt32LE(TYPE[kind], at + 20);
    this.#bytes.write(name, at + DIRENT_BYTES);
    this.#length += this.#sizeOf(length);
  }

  get encoded(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Entries begin at multiples of eight. */
  #sizeOf(nameLength: number): number {
    return (this.#plus ? ENTRY_BYTES : 0) + Math.ceil((DIRENT_BYTES + nameLength) / 8) * 8;
  }
}
