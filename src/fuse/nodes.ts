import type { Stat } from '../vfs/read-fs.ts';
import { ROOT_ID } from './protocol/abi.ts';

/** What the kernel knows under one number. A file with other verified content is another node, so that cached pages never mix. */
export interface Node {
  readonly id: number;
  readonly path: string;
  /** The digest in the manifest; absent for directories and for content that cannot be verified. */
  readonly digest: string | undefined;
  stat: Stat;
  /** Whether this content was once read and verified, so that the kernel may have it. */
  served: boolean;
  /** How many times the kernel was told of the node and has not forgotten it. */
  lookups: number;
}

/** The nodes that the kernel holds. Numbers are never used again. */
export class NodeTable {
  readonly #byId = new Map<number, Node>();
  readonly #byPath = new Map<string, Node>();
  #last = ROOT_ID;

  /** @param path of the directory that is the mount's root */
  constructor(path: string) {
    const stat: Stat = { kind: 'directory', ino: ROOT_ID, size: 0, mtimeMs: 0 };
    const root = { id: ROOT_ID, path, digest: undefined, stat, served: false, lookups: 1 };
    this.#byId.set(ROOT_ID, root);
    this.#byPath.set(path, root);
  }

  get(id: number): Node | undefined {
    return this.#byId.get(id);
  }

  /** The node that is at a path now, where the kernel holds it. */
  at(path: string): Node | undefined {
    return this.#byPath.get(path);
  }

  /** The node for what was found at a path, which the kernel is told of once more. */
  tell(path: string, stat: Stat, digest: string | undefined): Node {
    let node = this.#byPath.get(path);
    if (node === undefined || !isSame(node, stat, digest)) {
      node = { id: ++this.#last, path, digest, stat, served: false, lookups: 0 };
      this.#byId.set(node.id, node);
      this.#byPath.set(path, node);
    }
    node.stat = stat;
    node.lookups++;
    return node;
  }

  forget(id: number, lookups: number): void {
    const node = this.#byId.get(id);
    if (node === undefined || id === ROOT_ID) return;
    node.lookups -= lookups;
    if (node.lookups > 0) return;
    this.#byId.delete(id);
    if (this.#byPath.get(node.path) === node) this.#byPath.delete(node.path);
  }
}

function isSame(node: Node, stat: Stat, digest: string | undefined): boolean {
  if (node.stat.kind !== stat.kind || node.digest !== digest) return false;
  return digest === undefined || node.stat.mtimeMs === stat.mtimeMs;
}

export function childOf(parent: string, name: string): string {
  return parent === '/' ? `/${name}` : `${parent}/${name}`;
}

/** The directory of a path and the name in it; of the root, `undefined`. */
export function split(path: string): { parent: string; name: string } | undefined {
  if (path === '/') return undefined;
  const cut = path.lastIndexOf('/');
  return { parent: path.slice(0, cut) || '/', name: path.slice(cut + 1) };
}
