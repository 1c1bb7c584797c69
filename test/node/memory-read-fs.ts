import { Fault } from '../../src/base/fault.ts';
import type { Op } from '../../src/base/op.ts';
import { driverOf } from '../../src/vfs/driver.ts';
import type { Content, DirEntry, Driver, ReadFs, Stat } from '../../src/vfs/read-fs.ts';

/** File contents by path below the root; a key that ends in `/` is an empty directory. */
export type Files = Readonly<Record<string, string | Uint8Array>>;

/** The one time of all files, milliseconds since the epoch. */
export const MTIME_MS = Date.UTC(2026, 0, 2, 3, 4, 5);

interface Node {
  readonly stat: Stat;
  readonly bytes?: Uint8Array;
  /** Of a directory. */
  readonly children: Map<string, Node>;
}

/** A tree in memory, given as a plain object. All of its operations complete at once. */
export class MemoryReadFs implements ReadFs {
  readonly #nodes = new Map<string, Node>();

  /** @param root the absolute path that `files` are below; its ancestors are there too */
  constructor(root: string, files: Files) {
    this.#directory(root);
    for (const [name, content] of Object.entries(files)) {
      if (name.endsWith('/')) this.#directory(`${root}/${name.slice(0, -1)}`);
      else this.#add(`${root}/${name}`, 'file', typeof content === 'string' ? Buffer.from(content) : content);
    }
  }

  /** Gives a file another content, at the next second. */
  write(path: string, content: string): void {
    const { stat, children } = this.#lookup(path);
    const bytes = Buffer.from(content);
    const changed = { ...stat, size: bytes.byteLength, mtimeMs: stat.mtimeMs + 1000 };
    this.#nodes.set(path, { stat: changed, bytes, children });
  }

  stat(path: string): Op<Stat> {
    return complete(() => this.#lookup(path).stat);
  }

  readdir(path: string): Op<readonly DirEntry[]> {
    return complete(() => {
      const { stat, children } = this.#lookup(path);
      if (stat.kind === 'file') throw new Fault('ENOTDIR');
      const entries = [...children].map(([name, node]) => ({ name, kind: node.stat.kind }));
      return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    });
  }

  read(path: string): Op<Content> {
    return complete(() => {
      const { stat, bytes } = this.#lookup(path);
      if (bytes === undefined) throw new Fault('EISDIR');
      return { stat, bytes };
    });
  }

  #lookup(path: string): Node {
    const found = this.#nodes.get(path);
    if (found !== undefined) return found;
    let above = path;
    while (above !== '/') {
      above = parentOf(above);
      const node = this.#nodes.get(above);
      if (node !== undefined) throw new Fault(node.stat.kind === 'file' ? 'ENOTDIR' : 'ENOENT');
    }
    throw new Fault('ENOENT');
  }

  #directory(path: string): Node {
    return this.#nodes.get(path) ?? this.#add(path, 'directory');
  }

  #add(path: string, kind: Stat['kind'], bytes?: Uint8Array): Node {
    const stat = { kind, ino: this.#nodes.size + 1, size: bytes?.byteLength ?? 4096, mtimeMs: MTIME_MS };
    const node = { stat, ...(bytes !== undefined && { bytes }), children: new Map() };
    this.#nodes.set(path, node);
    if (path !== '/') this.#directory(parentOf(path)).children.set(path.slice(path.lastIndexOf('/') + 1), node);
    return node;
  }
}

/** Asks for a file before its first read, as a mount does for what is not in its cache. */
export class FetchingReadFs implements ReadFs {
  readonly requests: string[] = [];
  readonly #files: ReadFs;
  readonly #here = new Set<string>();

  constructor(files: ReadFs) {
    this.#files = files;
  }

  stat(path: string): Op<Stat> {
    return this.#files.stat(path);
  }

  readdir(path: string): Op<readonly DirEntry[]> {
    return this.#files.readdir(path);
  }

  *read(path: string): Op<Content> {
    const content = yield* this.#files.read(path);
    if (this.#here.has(path)) return content;
    yield path;
    this.requests.push(path);
    this.#here.add(path);
    return content;
  }
}

/** Answers requests after a turn of the event loop; what would have to wait in a synchronous call is EAGAIN. */
export const driver: Driver = driverOf(
  async (_, signal) => {
    await new Promise((resolve) => setImmediate(resolve));
    signal?.throwIfAborted();
  },
  (asked) =>
    asked.map(() => ({ status: 'rejected', reason: new Fault('EAGAIN', { detail: 'the file is not here yet' }) })),
);

// biome-ignore lint/correctness/useYield: nothing has to be asked for
function* complete<T>(result: () => T): Op<T> {
  return result();
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/';
}
