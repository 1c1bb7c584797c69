import { Fault, isFault } from '../base/fault.ts';
import type { Op } from '../base/op.ts';
import {
  type DirNode,
  type FileNode,
  rootUriOf,
  type SkillNode,
  type SkillTree,
  type TreeNode,
} from '../catalog/tree.ts';
import type { Refusal, SkillEntry } from '../catalog/types.ts';
import { fromTreePath, isSkillName, isUriProblem, parseSkillUri, toTreePath } from '../catalog/uri.ts';
import type { BlobStore } from '../content/blob-store.ts';
import { VerificationError } from '../content/verify.ts';
import { DIRECTORY_SIZE } from './ancestors.ts';
import type { Guard, Masked, PolicyFault } from './guard.ts';
import type { InodeTable } from './inodes.ts';
import type { Provenance } from './provenance.ts';
import type { Content, DirEntry, Stat } from './read-fs.ts';
import { ResourceFs } from './resource-fs.ts';
import { ask, RESOURCES, type ServerState, sameEntry } from './server-state.ts';
import { SkillContents } from './skill-contents.ts';
import type { SkillSource } from './skill-source.ts';
import { TemplateChoices } from './template-choices.ts';

/** Skills of one server as a file system. Paths are below the server's directory: `''`, `acme/billing/refunds/SKILL.md`. */
export class SkillFs implements SkillSource {
  readonly state: ServerState;
  readonly #guard: Guard;
  readonly #contents: SkillContents;
  /** What was found when files were masked; without digest, there was nothing to mask. */
  readonly #masked = new WeakMap<FileNode, Partial<Masked>>();
  readonly #inodes: InodeTable;
  readonly #choices: TemplateChoices;
  /** What is no skill, where that is mounted too. */
  readonly #resources: ResourceFs | undefined;
  readonly #stats = new WeakMap<TreeNode, Stat>();
  /** Paths that `skills/get`, a read or a directory listing said are not there, and until when that is believed. */
  readonly #misses = new Map<string, number>();
  /** What is known not to be in a skill with a manifest, in the current tree. */
  #absences: { readonly tree: SkillTree; readonly faults: Map<string, Fault> } | undefined;
  /** Directories whose children the server was asked for, in the tree they were learned into. */
  readonly #listed = new WeakMap<SkillTree, Set<string>>();

  constructor(state: ServerState, store: BlobStore, inodes: InodeTable, guard: Guard) {
    this.state = state;
    this.#guard = guard;
    this.#contents = new SkillContents(state, store);
    this.#inodes = inodes;
    this.#choices = new TemplateChoices(state);
    this.#resources = state.options.resources ? new ResourceFs(state, store, inodes, guard) : undefined;
  }

  stat(path: string): Op<Stat> {
    const denial = this.#guard.denialAt(path);
    if (denial !== undefined) throw denial;
    if (this.#resources?.owns(path)) return this.#resources.stat(path);
    const tree = this.state.settled;
    const absent = tree === undefined ? undefined : this.#absentIn(tree).get(path);
    if (absent !== undefined) throw absent;
    return this.#stat(path);
  }

  *#stat(path: string): Op<Stat> {
    // The server's own directory is there whether or not the server is.
    if (path === '' && this.state.tree === undefined) return this.#rootStat();
    return this.#statOf(yield* this.#lookup(path));
  }

  readdir(path: string): Op<readonly DirEntry[]> {
    const denial = this.#guard.denialAt(path);
    if (denial !== undefined) throw denial;
    return this.#resources?.owns(path) ? this.#resources.readdir(path) : this.#readdir(path);
  }

  *#readdir(path: string): Op<readonly DirEntry[]> {
    let node = yield* this.#lookup(path);
    if (node.kind === 'directory' && node.skill === undefined && this.#choices.skillMdAt(path) !== undefined) {
      node = yield* this.#lookupUnlisted(this.state.tree as SkillTree, path);
    }
    if (node.kind === 'file') throw new Fault('ENOTDIR');
    const { listFault, partial } = this.state;
    const tree = this.state.tree as SkillTree;
    if (node.skill === undefined && listFault !== undefined) throw listFault;
    const asks = node.skill === undefined ? partial !== undefined : !node.complete;
    if (asks) yield* this.#learnChildren(node);
    if (node.skill === undefined) yield* this.#choices.learnInto(tree, node);
    const listed = tree.list(node);
    const shown = this.#guard.hasDenials()
      ? listed.filter((entry) => this.#guard.denialAt(entry.node.path) === undefined)
      : listed;
    const entries = shown.map(({ name, node: { kind } }): DirEntry => ({ name, kind }));
    if (path !== '' || this.#resources === undefined) return entries;
    return [...entries, { name: RESOURCES, kind: 'directory' as const }].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  read(path: string): Op<Content> {
    const denial = this.#guard.denialAt(path);
    if (denial !== undefined) throw denial;
    return this.#resources?.owns(path) ? this.#resources.read(path) : this.#read(path);
  }

  *#read(path: string): Op<Content> {
    const node = yield* this.#lookup(path);
    if (node.kind === 'directory') throw new Fault('EISDIR');
    return yield* this.#content(node, path, true);
  }

  shown(): Op<SkillTree> {
    return this.state.current();
  }

  hides(): boolean {
    return false;
  }

  denialAt(path: string): PolicyFault | undefined {
    return this.#guard.denialAt(path);
  }

  /** What is known of a path, without asking anybody (SEC-2). */
  provenanceAt(path: string): Provenance {
    const node = this.peek(path);
    const uri = this.uriAt(path);
    const { listedAt } = this.state;
    const approved = node?.skill === undefined ? undefined : this.#approved(path, node.skill);
    return {
      ...(uri !== undefined && { uri }),
      ...(node?.skill !== undefined && { skill: node.skill.entry.uri }),
      ...(approved !== undefined && { approved }),
      ...(listedAt !== undefined && { listedAt }),
      ...(node?.kind === 'file' && this.#contentAt(node)),
      ...(this.#resources?.owns(path) && this.#resources.contentAt(path)),
    };
  }

  /** Whether nothing that is missing keeps the files of a skill from being read. */
  isReadable(skill: SkillNode): boolean {
    return this.#approved(skill.entry.root, skill) !== false;
  }

  /** What identifies the content that a read of a file gives; `undefined` where nothing does, or it may not be read. */
  versionAt(path: string): string | undefined {
    const node = this.peek(path);
    if (node?.kind !== 'file' || node.listed === undefined) return undefined;
    if (this.#approved(path, node.skill) === false) return undefined;
    return this.#guard.masks(node) ? `${node.listed.digest} masked` : node.listed.digest;
  }

  #approved(path: string, skill: SkillNode): boolean | undefined {
    return this.#guard.denialAt(path) === undefined ? this.#guard.isApproved(skill) : false;
  }

  #contentAt(file: FileNode): Partial<Provenance> {
    const digest = file.listed?.digest;
    const read = digest ?? this.#contents.fetched(file)?.digest;
    const made = this.#guard.masks(file) ? this.#masked.get(file) : {};
    const servedDigest = made && (made.digest ?? read);
    return {
      verified: digest !== undefined,
      ...(digest !== undefined && { digest }),
      ...(servedDigest !== undefined && { servedDigest }),
      ...(made !== undefined && { masked: made.fields ?? [] }),
    };
  }

  /** The URI of a path, where it is known. */
  uriAt(path: string): string | undefined {
    if (this.#resources?.owns(path)) return this.#resources.uriAt(path);
    return this.peek(path)?.uri ?? fromTreePath(path);
  }

  /** What is known of a path without asking anybody. */
  peek(path: string): TreeNode | undefined {
    return this.state.tree?.lookup(path).node;
  }

  *#lookup(path: string): Op<TreeNode> {
    const tree = this.state.settled ?? (yield* this.state.current());
    const absent = this.#absentIn(tree).get(path);
    if (absent !== undefined) throw absent;
    const found = tree.lookup(path);
    if (found.node !== undefined) return found.node;
    const { nearest } = found;
    if (nearest.kind === 'file') throw new Fault('ENOTDIR');
    if (nearest.complete) throw this.#unlisted(tree, path);
    const refusal = this.state.refusalAt(path);
    if (refusal !== undefined) throw this.#refused(refusal);
    if (this.#missing(path)) throw this.#absent();
    if (nearest.skill !== undefined) return yield* this.#lookupDynamic(tree, nearest, nearest.skill, path);
    return yield* this.#lookupUnlisted(tree, path);
  }

  /** A skill that no listing names: asked for once, grafted on success (GET-2). */
  *#lookupUnlisted(tree: SkillTree, path: string): Op<TreeNode> {
    const root = path.endsWith('/SKILL.md') ? path.slice(0, -'/SKILL.md'.length) : path;
    const uri = fromTreePath(root);
    if (this.#choices.isAbove(path)) {
      tree.learn(path, { uri: uri ?? path, kind: 'directory' }, Math.trunc(this.state.options.now()));
      const { node } = tree.lookup(path);
      if (node !== undefined) return node;
    }
    if (uri === undefined || this.state.negotiated?.dialect === undefined) throw this.#absent();
    if (!isSkillName(root.slice(root.lastIndexOf('/') + 1)) || this.#missing(root)) throw this.#absent();
    const skillMd = this.#choices.skillMdAt(root) ?? `${uri}/SKILL.md`;
    const value = yield* ask({ kind: 'get', label: this.state.label, uri: skillMd });
    if (value === undefined) {
      this.#miss(root);
      throw this.#absent();
    }
    const entry = this.state.examine(value, root);
    const grafted = 'root' in entry ? this.state.graft(entry) : entry;
    if (!('entry' in grafted)) throw this.#refused(grafted);
    for (let above = root; above !== ''; above = above.slice(0, Math.max(0, above.lastIndexOf('/')))) {
      this.#misses.delete(above);
    }
    const found = (this.state.tree ?? tree).lookup(path);
    if (found.node === undefined) throw this.#unlisted(this.state.tree ?? tree, path);
    return found.node;
  }

  /** Loaders probe for the same few files in every skill: that a manifest lists one not is found out once. */
  #unlisted(tree: SkillTree, path: string): Fault {
    const absent = this.#absentIn(tree);
    if (absent.size >= MISSES) absent.clear();
    const fault = new UnlistedFault(this.state.label, tree, path);
    absent.set(path, fault);
    return fault;
  }

  #absentIn(tree: SkillTree): Map<string, Fault> {
    if (this.#absences?.tree !== tree) this.#absences = { tree, faults: new Map() };
    return this.#absences.faults;
  }

  /** A path inside a dynamic skill: its directories tell, where the server shows them; else only reading does. */
  *#lookupDynamic(tree: SkillTree, nearest: DirNode, skill: SkillNode, path: string): Op<TreeNode> {
    const { directoryRead, findsChildren } = this.state.negotiated ?? {};
    let dir = nearest;
    while (yield* this.#learnChildren(dir)) {
      const found = tree.lookup(path);
      if (found.node !== undefined) return found.node;
      if (found.nearest.kind === 'file') throw new Fault('ENOTDIR');
      dir = found.nearest;
    }
    // Directories prove absence; what else the server lists of its resources does not (DRAFT-2).
    if (directoryRead === true && findsChildren !== true) {
      this.#miss(path);
      throw this.#absent();
    }
    const uri = uriBelow(skill.entry, path);
    const bytes = yield* ask({ kind: 'blob', label: this.state.label, uri });
    if (bytes === undefined) {
      this.#miss(path);
      throw this.#absent();
    }
    this.#contents.keep(skill, uri, bytes);
    tree.learn(path, { uri, kind: 'file' }, this.state.options.now());
    return tree.lookup(path).node ?? nearest;
  }

  /** Asks the server for a directory's children, once per snapshot (DIR-3). @returns whether it was asked just now */
  *#learnChildren(dir: DirNode): Op<boolean> {
    const tree = this.state.tree as SkillTree;
    const asked = this.#listed.get(tree) ?? new Set();
    this.#listed.set(tree, asked);
    const uri = dir.uri ?? fromTreePath(dir.path);
    const { directoryRead, findsChildren } = this.state.negotiated ?? {};
    const answers = directoryRead === true || findsChildren === true;
    if (!answers || uri === undefined || asked.has(dir.path)) return false;
    const children = yield* ask({ kind: 'directory', label: this.state.label, uri });
    asked.add(dir.path);
    for (const child of children ?? []) {
      const parsed = parseSkillUri(child.uri);
      if (isUriProblem(parsed)) continue;
      const path = toTreePath(parsed);
      const isChild = path.startsWith(`${dir.path}/`) && !path.slice(dir.path.length + 1).includes('/');
      if (isChild) tree.learn(path, child, Math.trunc(this.state.options.now()));
    }
    return true;
  }

  *#content(file: FileNode, path: string, mayRefresh: boolean): Op<Content> {
    const admission = this.#guard.admission(file.skill);
    if (admission !== undefined) yield* admission;
    try {
      const bytes = yield* this.#contents.read(file);
      return { bytes: this.#serve(file, bytes), stat: this.#statOf(file) };
    } catch (error) {
      if (!isFault(error) || !(error.cause instanceof VerificationError)) throw error;
      if (mayRefresh && (yield* this.#refreshed(file.skill))) {
        const again = yield* this.#lookup(path);
        if (again.kind === 'file') return yield* this.#content(again, path, false);
      }
      const message = error.detail ?? error.code;
      this.state.options.report({
        severity: 'error',
        code: 'verification',
        message,
        uri: file.uri,
        cause: error.cause,
      });
      throw error;
    }
  }

  /** Verified content as it is given out. */
  #serve(file: FileNode, bytes: Uint8Array): Uint8Array {
    if (!this.#guard.masks(file)) return bytes;
    const masked = this.#guard.mask(file, bytes);
    this.#masked.set(file, masked === undefined ? {} : { digest: masked.digest, fields: masked.fields });
    return masked?.bytes ?? bytes;
  }

  /** Asks once for the entry behind content that did not match (VER-2). @returns whether it is another one now */
  *#refreshed(skill: SkillNode): Op<boolean> {
    let value: unknown;
    try {
      value = yield* ask({ kind: 'get', label: this.state.label, uri: skill.entry.uri });
    } catch (error) {
      // The verdict on the content stands; that the entry could not be refreshed changes nothing about it.
      if (isFault(error)) return false;
      throw error;
    }
    if (value === undefined) return false;
    const held = this.state.tree?.skillAt(skill.entry.root);
    if (held !== undefined && held !== skill) return true;
    const entry = this.state.examine(value, skill.entry.root);
    if (!('root' in entry) || sameEntry(entry, skill.entry)) return false;
    if (!('entry' in this.state.graft(entry))) return false;
    const message = `${skill.entry.uri} changed on the server since it was listed`;
    this.state.options.report({ severity: 'warning', code: 'changed', message, uri: skill.entry.uri });
    return true;
  }

  #statOf(node: TreeNode): Stat {
    const known = this.#stats.get(node);
    if (known !== undefined) return known;
    const key = `${this.state.label}/${node.path}`;
    if (node.kind === 'directory') {
      const { ino } = this.#inodes.intern(key, 'directory', node.since);
      const stat: Stat = { kind: 'directory', ino, size: DIRECTORY_SIZE, mtimeMs: node.since };
      this.#stats.set(node, stat);
      return stat;
    }
    const seen = node.listed ?? this.#contents.fetched(node);
    const { ino, mtimeMs } = this.#inodes.intern(key, seen?.digest ?? '', node.skill.since);
    const stat: Stat = {
      kind: 'file',
      ino,
      size: seen?.size ?? 0,
      mtimeMs,
      ...(seen === undefined && { sizeUnknown: true }),
    };
    if (node.listed !== undefined) this.#stats.set(node, stat);
    return stat;
  }

  #rootStat(): Stat {
    const { ino, mtimeMs } = this.#inodes.intern(
      `${this.state.label}/`,
      'directory',
      Math.trunc(this.state.options.now()),
    );
    return { kind: 'directory', ino, size: DIRECTORY_SIZE, mtimeMs };
  }

  #missing(path: string): boolean {
    const until = this.#misses.get(path);
    return until !== undefined && this.state.options.now() < until;
  }

  #miss(path: string): void {
    const now = this.state.options.now();
    if (this.#misses.size >= MISSES)
      for (const [old, until] of this.#misses) if (until <= now) this.#misses.delete(old);
    if (this.#misses.size >= MISSES) this.#misses.clear();
    this.#misses.set(path, now + this.state.options.missTtl);
  }

  /** Not there; but while the listing is unknown, nothing is known not to be there. */
  #absent(): Fault {
    return this.state.listFault ?? new Fault('ENOENT');
  }

  #refused({ reason, message, uri }: Refusal): Fault {
    const code = reason === 'over-limit' ? 'EFBIG' : reason === 'dynamic-denied' ? 'EACCES' : 'EIO';
    const detail = `server "${this.state.label}": the skill ${uri} was refused (${reason}): ${message}`;
    return new Fault(code, { detail });
  }
}

/** Misses remembered per server at most. */
const MISSES = 10_000;

/** A path that the held manifest does not list (VER-3). Its cause is made only when somebody looks. */
class UnlistedFault extends Fault {
  readonly #label: string;
  readonly #tree: SkillTree;
  readonly #path: string;

  constructor(label: string, tree: SkillTree, path: string) {
    super('ENOENT');
    this.#label = label;
    this.#tree = tree;
    this.#path = path;
  }

  override get cause(): unknown {
    const uri = fromTreePath(this.#path) ?? this.#path;
    const other = otherSpelling(this.#tree, this.#path);
    const hint = other === undefined ? '' : `, but ${other}, which only looks the same`;
    return new VerificationError('unlisted', uri, `server "${this.#label}": the manifest does not list ${uri}${hint}`);
  }
}

/**
 * A path that is there and is written with other code points: `é` is one, or two. Names are what the server makes them, byte for
 * byte; programs that type them, and the disks that they come from, have one form each.
 */
function otherSpelling(tree: SkillTree, path: string): string | undefined {
  let found = '';
  for (const name of path.split('/')) {
    const { node } = tree.lookup(found);
    if (node?.kind !== 'directory') return undefined;
    const names = tree.list(node).map((entry) => entry.name);
    const same = names.find((one) => one === name) ?? names.find((one) => one.normalize() === name.normalize());
    if (same === undefined) return undefined;
    found = found === '' ? same : `${found}/${same}`;
  }
  return found === path ? undefined : (tree.lookup(found).node?.uri ?? found);
}

/** A path inside a skill as a URI: the skill's directory as the server spells it, the rest in canonical spelling. */
function uriBelow(entry: SkillEntry, path: string): string {
  const [root = '', uri = ''] = [fromTreePath(entry.root), fromTreePath(path)];
  return rootUriOf(entry) + uri.slice(root.length);
}
