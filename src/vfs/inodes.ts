interface Inode {
  readonly ino: number;
  version: string;
  mtimeMs: number;
}

/** Inode numbers by path: stable, unique, never reused while mounted. A file's time changes only with its content. */
export class InodeTable {
  readonly #inodes = new Map<string, Inode>();
  #next = 2;

  /**
   * @param version what identifies the content; while it stays, the first time seen stays
   * @param since milliseconds since the epoch
   */
  intern(path: string, version: string, since: number): { readonly ino: number; readonly mtimeMs: number } {
    let inode = this.#inodes.get(path);
    if (inode === undefined) {
      inode = { ino: this.#next++, version, mtimeMs: since };
      this.#inodes.set(path, inode);
    } else if (inode.version !== version) {
      inode.version = version;
      inode.mtimeMs = since;
    }
    return inode;
  }
}
