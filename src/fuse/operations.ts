import { Fault, isFault } from '../base/fault.ts';
import type { Op } from '../base/op.ts';
import type { DirEntry, ReadFs, Stat } from '../vfs/read-fs.ts';
import { Refusal } from './errno.ts';
import { childOf, type Node, type NodeTable, split } from './nodes.ts';
import { FOPEN } from './protocol/abi.ts';
import { encodeAbsence, encodeAttributes, encodeEntry, type Owner, type Shown } from './protocol/attributes.ts';
import { DirectoryEntries, type Dirent } from './protocol/directory-entries.ts';
import { encodeOpen } from './protocol/reply.ts';
import type { ReadRequest, Request } from './protocol/request.ts';
import { encodeStatfs, NAME_MAX } from './protocol/statfs.ts';
import { encodeNames, encodeXattr } from './protocol/xattr.ts';
import type { Provenance } from './provenance.ts';
import { atOnce } from './run.ts';

/**
 * For how long, in milliseconds, the kernel need not ask again. Changes are told at once; these bound how late it is noticed
 * that a listing is not fresh any more (LST-3).
 */
const TTL = {
  name: 5_000,
  absence: 5_000,
  directory: 5_000,
  /** A node of verified content never changes. */
  verified: 3_600_000,
  unverified: 1_000,
} as const;

/** An entry's number when it is not known yet. */
const UNKNOWN_INO = 0xffffffff;

/** The body of a reply, and what to undo when the kernel does not wait for it any more. */
export interface Answer {
  readonly body: Uint8Array;
  readonly unsent?: () => void;
}

type Handle =
  | { readonly kind: 'file'; readonly node: Node; bytes: Uint8Array | undefined }
  | { readonly kind: 'directory'; readonly entries: readonly DirEntry[] };

export interface OperationsOptions {
  readonly core: ReadFs;
  readonly nodes: NodeTable;
  readonly owner: Owner;
  readonly provenance: Provenance;
}

const NOTHING: Answer = { body: new Uint8Array() };

/** What each request means, as an operation over the core. They throw a `Fault` or a `Refusal`. */
export class Operations {
  readonly #core: ReadFs;
  readonly #nodes: NodeTable;
  readonly #owner: Owner;
  readonly #provenance: Provenance;
  readonly #handles = new Map<number, Handle>();
  #lastHandle = 0;

  constructor({ core, nodes, owner, provenance }: OperationsOptions) {
    this.#core = core;
    this.#nodes = nodes;
    this.#owner = owner;
    this.#provenance = provenance;
  }

  *answer(id: number, request: Request): Op<Answer> {
    if (request.kind === 'release' || request.kind === 'releasedir') {
      this.#handles.delete(request.handle);
      return NOTHING;
    }
    if (request.kind === 'statfs') return { body: encodeStatfs() };
    if (request.kind === 'destroy') return NOTHING;
    if (request.kind === 'read') return { body: yield* this.#read(request) };
    const node = this.#nodes.get(id);
    if (node === undefined) throw new Refusal('ESTALE');
    switch (request.kind) {
      case 'lookup':
        return yield* this.#lookup(node, request.name);
      case 'getattr':
        return yield* this.#getattr(node);
      case 'open':
        return yield* this.#open(node);
      case 'opendir':
        return this.#opened({ kind: 'directory', entries: yield* this.#core.readdir(node.path) });
      case 'readdir':
      case 'readdirplus':
        return this.#readdir(node, request);
      case 'getxattr':
        return { body: yield* this.#getxattr(node, request) };
      case 'listxattr':
        return { body: sized(encodeNames(this.#provenance.xattrsOf(node.path).keys()), request.size) };
      default:
        throw new Refusal('ENOSYS');
    }
  }

  *#lookup(parent: Node, name: string | undefined): Op<Answer> {
    if (name === undefined) return { body: encodeAbsence(TTL.absence) };
    if (Buffer.byteLength(name) > NAME_MAX) throw new Fault('ENAMETOOLONG');
    const path = childOf(parent.path, name);
    try {
      const { stat, digest } = yield* this.#look(path);
      const node = this.#nodes.tell(path, stat, digest);
      const body = encodeEntry(shownAs(node), this.#owner);
      return { body, unsent: () => this.#nodes.forget(node.id, 1) };
    } catch (error) {
      if (isFault(error) && error.code === 'ENOENT') return { body: encodeAbsence(TTL.absence) };
      throw error;
    }
  }

  *#getattr(node: Node): Op<Answer> {
    // Open files go on with what they were opened with, and their attributes with them.
    if (node.digest === undefined) {
      const { stat } = yield* this.#look(node.path);
      if (stat.kind !== node.stat.kind) throw new Refusal('ESTALE');
      node.stat = stat;
    }
    return { body: encodeAttributes(node.stat, attributesTtl(node), this.#owner) };
  }

  /** What is at a path. The size of a file without manifest is known only once it was read. */
  *#look(path: string): Op<{ stat: Stat; digest: string | undefined }> {
    const stat = yield* this.#core.stat(path);
    const digest = stat.kind === 'file' ? this.#provenance.digestOf(path) : undefined;
    if (stat.kind === 'directory' || stat.size > 0 || digest !== undefined) return { stat, digest };
    try {
      return { stat: (yield* this.#core.read(path)).stat, digest };
    } catch (error) {
      // It is there, as far as anybody can tell; whoever opens it is told what is wrong with it.
      if (isFault(error) && error.code !== 'ENOENT') return { stat, digest };
      throw error;
    }
  }

  /**
   * The first open of a verified content fetches it, so that what is wrong with it is told there; later ones leave reading to
   * the kernel's cache. Content that cannot be verified is another with each open, and is never cached by the kernel.
   */
  *#open(node: Node): Op<Answer> {
    const { path, digest } = node;
    if (digest !== undefined && node.served) {
      if (this.#provenance.digestOf(path) !== digest) throw new Refusal('ESTALE');
      return this.#opened({ kind: 'file', node, bytes: undefined }, FOPEN.keepCache);
    }
    const { bytes, stat } = yield* this.#core.read(path);
    // The kernel looks the name up again, and finds the node of the new content.
    if (this.#provenance.digestOf(path) !== digest) throw new Refusal('ESTALE');
    if (digest === undefined) node.stat = stat;
    node.served = true;
    return this.#opened({ kind: 'file', node, bytes }, digest === undefined ? FOPEN.directIo : FOPEN.keepCache);
  }

  #opened(handle: Handle, flags = 0): Answer {
    const number = ++this.#lastHandle;
    this.#handles.set(number, handle);
    return { body: encodeOpen(number, flags), unsent: () => this.#handles.delete(number) };
  }

  *#read({ handle, offset, size }: ReadRequest): Op<Uint8Array> {
    const file = this.#handles.get(handle);
    if (file?.kind !== 'file') throw new Fault('EBADF');
    file.bytes ??= yield* this.#again(file.node);
    return file.bytes.subarray(offset, offset + size);
  }

  /** Content that the kernel had and dropped. */
  *#again({ path, digest }: Node): Op<Uint8Array> {
    const { bytes } = yield* this.#core.read(path);
    if (this.#provenance.digestOf(path) === digest) return bytes;
    throw new Fault('EIO', { detail: `${path} changed on the server since it was opened; open it again` });
  }

  #readdir(node: Node, request: ReadRequest): Answer {
    const directory = this.#handles.get(request.handle);
    if (directory?.kind !== 'directory') throw new Fault('EBADF');
    const plus = request.kind === 'readdirplus';
    const filled = new DirectoryEntries(request.size, plus);
    const told: Node[] = [];
    const { entries } = directory;
    for (let at = request.offset; at < entries.length + DOTS.length; at++) {
      const dot = DOTS[at];
      const entry = dot === undefined ? (entries[at - DOTS.length] as DirEntry) : undefined;
      const name = entry?.name ?? (dot as string);
      if (filled.isFull(name)) break;
      if (entry === undefined) filled.add(this.#dot(node, name), at + 1);
      else if (plus) this.#addPlus(filled, node, entry, at + 1, told);
      else filled.add({ ...entry, ino: atOnce(this.#core.stat(childOf(node.path, name)))?.ino ?? UNKNOWN_INO }, at + 1);
    }
    const unsent = () => {
      for (const { id } of told) this.#nodes.forget(id, 1);
    };
    return { body: filled.encoded, unsent };
  }

  /** Attributes that would have to be fetched are left for a lookup. */
  #addPlus(filled: DirectoryEntries, parent: Node, entry: DirEntry, next: number, told: Node[]): void {
    const path = childOf(parent.path, entry.name);
    const seen = atOnce(this.#look(path));
    if (seen === undefined || seen.stat.kind !== entry.kind) {
      filled.add({ ...entry, ino: seen?.stat.ino ?? UNKNOWN_INO }, next);
      return;
    }
    const node = this.#nodes.tell(path, seen.stat, seen.digest);
    told.push(node);
    filled.add({ ...entry, ino: seen.stat.ino }, next, shownAs(node), this.#owner);
  }

  #dot(node: Node, name: string): Dirent {
    const above = split(node.path);
    const shown = name === '..' && above !== undefined ? this.#nodes.at(above.parent) : node;
    return { name, kind: 'directory', ino: (shown ?? node).stat.ino };
  }

  *#getxattr(node: Node, { name, size }: { name: string | undefined; size: number }): Op<Uint8Array> {
    // Programs that look for access control lists and labels then look once, not at every file.
    if (name === undefined || !name.startsWith('user.')) throw new Refusal('EOPNOTSUPP');
    const value = this.#provenance.xattrsOf(node.path).get(name);
    if (value === undefined) throw new Refusal('ENODATA');
    return sized(Buffer.from(yield* value()), size);
  }
}

const DOTS = ['.', '..'] as const;

function sized(value: Buffer, size: number): Buffer {
  const encoded = encodeXattr(value, size);
  if (encoded === undefined) throw new Refusal('ERANGE');
  return encoded;
}

function shownAs(node: Node): Shown {
  return { node: node.id, stat: node.stat, nameTtl: TTL.name, attributesTtl: attributesTtl(node) };
}

function attributesTtl({ stat, digest }: Node): number {
  if (stat.kind === 'directory') return TTL.directory;
  return digest === undefined ? TTL.unverified : TTL.verified;
}
