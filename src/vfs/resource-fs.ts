import { Fault } from '../base/fault.ts';
import type { Op } from '../base/op.ts';
import { expandTemplate, matchTemplate, type PathTemplate, parseTemplate } from '../catalog/template.ts';
import type { SkillTree } from '../catalog/tree.ts';
import { isUriProblem, parseSkillUri, toTreePath } from '../catalog/uri.ts';
import type { BlobStore } from '../content/blob-store.ts';
import { digestOf } from '../content/verify.ts';
import { DIRECTORY_SIZE } from './ancestors.ts';
import type { Guard, Masked } from './guard.ts';
import type { InodeTable } from './inodes.ts';
import type { Provenance } from './provenance.ts';
import type { Content, DirEntry, ReadFs, Stat } from './read-fs.ts';
import {
  type ResourceDir,
  type ResourceFile,
  type ResourceNode,
  ResourceTree,
  resourceUriOf,
} from './resource-tree.ts';
import { ask, RESOURCES, type ServerState, templatesOf } from './server-state.ts';

/** What is known of one server's resources, from one listing to the next. */
interface Known {
  readonly tree: ResourceTree;
  /** Directories whose children were asked for. */
  readonly asked: Set<ResourceDir>;
  /** Sizes and digests of what was read. */
  readonly read: Map<string, { readonly size: number; readonly digest: string }>;
  /** What became of those that were masked, and that others were not. */
  readonly masked: Map<string, Pick<Masked, 'digest' | 'fields'> | undefined>;
  templates: readonly PathTemplate[] | undefined;
  readonly since: number;
}

/**
 * What a server has among its resources beside skills, read-only and unverified: nothing says what a resource should be.
 * Paths are below the server's directory and begin with `@resources`: `@resources/<scheme>/…`. Listed when first looked
 * into, and again after each listing of the skills.
 */
export class ResourceFs implements ReadFs {
  readonly #state: ServerState;
  readonly #store: BlobStore;
  readonly #inodes: InodeTable;
  readonly #guard: Guard;
  readonly #known = new WeakMap<SkillTree, Known>();

  constructor(state: ServerState, store: BlobStore, inodes: InodeTable, guard: Guard) {
    this.#state = state;
    this.#store = store;
    this.#inodes = inodes;
    this.#guard = guard;
  }

  owns(path: string): boolean {
    return path === RESOURCES || path.startsWith(`${RESOURCES}/`);
  }

  /** The URI at a path, where it is known. */
  uriAt(path: string): string | undefined {
    const known = this.#state.tree && this.#known.get(this.#state.tree);
    return known?.tree.lookup(below(path))?.uri;
  }

  /** What is known of a file's content. */
  contentAt(path: string): Partial<Provenance> {
    const known = this.#state.tree && this.#known.get(this.#state.tree);
    const node = known?.tree.lookup(below(path));
    if (known === undefined || node?.kind !== 'file') return {};
    const read = known.read.get(node.uri);
    const masked = known.masked.get(node.uri);
    if (read === undefined) return { verified: false };
    return { verified: false, servedDigest: masked?.digest ?? read.digest, masked: masked?.fields ?? [] };
  }

  *stat(path: string): Op<Stat> {
    const known = yield* this.#listed();
    return this.#statOf(known, yield* this.#lookup(known, below(path)));
  }

  *readdir(path: string): Op<readonly DirEntry[]> {
    const known = yield* this.#listed();
    const node = yield* this.#lookup(known, below(path));
    if (node.kind === 'file') throw new Fault('ENOTDIR');
    yield* this.#askChildren(known, node);
    const entries = [...node.children].map(([name, { kind }]): DirEntry => ({ name, kind }));
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  *read(path: string): Op<Content> {
    const known = yield* this.#listed();
    const node = yield* this.#lookup(known, below(path));
    if (node.kind === 'directory') throw new Fault('EISDIR');
    const bytes = yield* this.#bytes(known, node);
    const masked = this.#guard.mask({ path, uri: node.uri }, bytes);
    known.masked.set(node.uri, masked);
    return { bytes: masked?.bytes ?? bytes, stat: this.#statOf(known, node) };
  }

  *#listed(): Op<Known> {
    const skills = this.#state.settled ?? (yield* this.#state.current());
    const before = this.#known.get(skills);
    if (before !== undefined) return before;
    const { resources, partial } = yield* ask({ kind: 'resources', label: this.#state.label });
    const since = Math.trunc(this.#state.options.now());
    const known: Known = {
      tree: new ResourceTree(),
      asked: new Set(),
      read: new Map(),
      masked: new Map(),
      templates: undefined,
      since,
    };
    for (const { uri, mimeType } of resources) {
      if (!isOfSkill(skills, uri)) this.#add(known, uri, mimeType === 'inode/directory' ? 'directory' : 'file');
    }
    if (partial !== undefined) {
      const message = `the list of resources is partial: ${partial}`;
      this.#state.options.report({ severity: 'warning', code: 'partial', message });
    }
    this.#known.set(skills, known);
    return known;
  }

  #add(known: Known, uri: string, kind: 'file' | 'directory'): void {
    const misplaced = known.tree.add(uri, kind);
    if (misplaced === undefined) return;
    const message = `a resource has no place below ${RESOURCES}: ${misplaced.problem}`;
    this.#state.options.report({ severity: 'warning', code: 'refused', message, uri: misplaced.uri });
  }

  *#lookup(known: Known, path: string): Op<ResourceNode> {
    const found = known.tree.lookup(path);
    if (found !== undefined) return found;
    for (let cut = path.lastIndexOf('/'); cut > 0; cut = path.lastIndexOf('/', cut - 1)) {
      const above = known.tree.lookup(path.slice(0, cut));
      if (above?.kind === 'file') throw new Fault('ENOTDIR');
      if (above === undefined) continue;
      if (yield* this.#askChildren(known, above)) return yield* this.#lookup(known, path);
      break;
    }
    const uri = yield* this.#templated(known, path);
    if (uri === undefined) throw new Fault('ENOENT');
    const node: ResourceFile = { kind: 'file', path, uri };
    yield* this.#bytes(known, node);
    this.#add(known, uri, 'file');
    return known.tree.lookup(path) ?? node;
  }

  /** The URI that a template of the server's has for a path (DRAFT-3). */
  *#templated(known: Known, path: string): Op<string | undefined> {
    const uri = resourceUriOf(path);
    const parsed = uri === undefined ? undefined : parseSkillUri(uri);
    if (parsed === undefined || isUriProblem(parsed)) return undefined;
    known.templates ??= (yield* templatesOf(this.#state)).flatMap(
      ({ uriTemplate }) => parseTemplate(uriTemplate) ?? [],
    );
    for (const template of known.templates) {
      const values = matchTemplate(template, parsed);
      if (values !== undefined) return expandTemplate(template, values);
    }
    return undefined;
  }

  /** DIR-3. @returns whether the server was asked just now */
  *#askChildren(known: Known, dir: ResourceDir): Op<boolean> {
    const { uri } = dir;
    if (this.#state.negotiated?.directoryRead !== true || uri === undefined || known.asked.has(dir)) return false;
    const children = yield* ask({ kind: 'directory', label: this.#state.label, uri });
    known.asked.add(dir);
    for (const child of children ?? []) this.#add(known, child.uri, child.kind);
    return true;
  }

  *#bytes(known: Known, { uri }: ResourceFile): Op<Uint8Array> {
    const { label, options } = this.#state;
    const key = `${label}\nresource ${known.since}\n${uri}`;
    const held = this.#store.get(key);
    if (held !== undefined) return held;
    const bytes = yield* ask({ kind: 'blob', label, uri });
    if (bytes === undefined) throw new Fault('ENOENT');
    if (options.limits.over === 'refuse' && bytes.byteLength > options.limits.bytes) {
      const detail = `server "${label}": ${uri} has ${bytes.byteLength} bytes, the limit is ${options.limits.bytes}`;
      throw new Fault('EFBIG', { detail });
    }
    known.read.set(uri, { size: bytes.byteLength, digest: digestOf(bytes) });
    this.#store.put(key, bytes);
    return bytes;
  }

  #statOf(known: Known, node: ResourceNode): Stat {
    const key = `${this.#state.label}/${RESOURCES}/${node.path}`;
    if (node.kind === 'directory') {
      const { ino, mtimeMs } = this.#inodes.intern(key, 'directory', known.since);
      return { kind: 'directory', ino, size: DIRECTORY_SIZE, mtimeMs };
    }
    const read = known.read.get(node.uri);
    const { ino, mtimeMs } = this.#inodes.intern(key, read?.digest ?? '', known.since);
    return { kind: 'file', ino, size: read?.size ?? 0, mtimeMs, ...(read === undefined && { sizeUnknown: true }) };
  }
}

/** Whether a resource is a file of a skill that is mounted, and so has its place there. */
function isOfSkill(skills: SkillTree, uri: string): boolean {
  const parsed = parseSkillUri(uri);
  if (isUriProblem(parsed)) return false;
  const found = skills.lookup(toTreePath(parsed));
  return (found.node ?? found.nearest).skill !== undefined;
}

function below(path: string): string {
  return path.slice(RESOURCES.length + 1);
}
