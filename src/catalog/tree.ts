import { conflictBetween, type EntryConflict } from './conflicts.ts';
import type { Refusal, SkillEntry } from './types.ts';
import { isUriProblem, pathBelow } from './uri.ts';

/** A skill as it stands in one snapshot. */
export interface SkillNode {
  readonly entry: SkillEntry;
  /** When this revision of the entry was first seen, milliseconds since the epoch; kept while the entry stays equal. */
  readonly since: number;
  /** Whether a listing named it; an unlisted skill was confirmed by `skills/get` (GET-2). */
  readonly listed: boolean;
}

export interface FileNode {
  readonly kind: 'file';
  /** Path below the server's directory. */
  readonly path: string;
  /** As the server spells it. */
  readonly uri: string;
  /** The innermost skill whose directory holds the file. */
  readonly skill: SkillNode;
  /** From the manifest that lists the file; absent in a dynamic skill. */
  readonly listed: { readonly size: number; readonly digest: string } | undefined;
}

export interface DirNode {
  readonly kind: 'directory';
  /** Path below the server's directory; `''` is that directory itself. */
  readonly path: string;
  /** The innermost skill whose directory this is or lies in. */
  readonly skill: SkillNode | undefined;
  /** Whether an array skill encloses it, so that its manifest is the whole truth about it (DIR-2). */
  readonly complete: boolean;
  /** When the directory's own entries last changed, milliseconds since the epoch. */
  readonly since: number;
  /** As the server spells it, where the server showed it as a directory or a skill is rooted here. */
  readonly uri: string | undefined;
}

export type TreeNode = FileNode | DirNode;

interface Dir extends DirNode {
  readonly children: Map<string, Dir | FileNode>;
  /** The skill rooted exactly here whose manifest is not expanded yet. */
  pending: SkillNode | undefined;
  sorted: readonly TreeEntry[] | undefined;
}

export interface TreeEntry {
  readonly name: string;
  readonly node: TreeNode;
}

/** What a lookup found: the node, or the deepest one that exists on the way to it. */
export type Lookup = { readonly node: TreeNode } | { readonly node: undefined; readonly nearest: TreeNode };

/**
 * The tree of one server: an immutable snapshot, replaced as a whole. Skills' files are expanded when a skill is first
 * looked into, which is the only thing that happens to a snapshot after it was built, and is invisible from outside.
 */
export class SkillTree {
  readonly skills: readonly SkillNode[];
  readonly #root: Dir;
  readonly #byPath = new Map<string, TreeNode>();

  private constructor(root: Dir, skills: readonly SkillNode[]) {
    this.#root = root;
    this.skills = skills;
  }

  /** A tree of entries that are free of conflicts (see {@link withoutConflicts}). */
  static of(skills: readonly SkillNode[], now: number, previous?: SkillTree): SkillTree {
    const root = newDir('', undefined, false, now);
    for (const skill of [...skills].sort(byRoot)) plant(root, skill, now);
    const tree = new SkillTree(root, skills);
    if (previous !== undefined) keepTimes(root, previous.#root);
    return tree;
  }

  lookup(path: string): Lookup {
    const known = this.#byPath.get(path);
    if (known !== undefined) return { node: known };
    let dir = expanded(this.#root);
    if (path === '') return { node: dir };
    const segments = path.split('/');
    for (const [index, segment] of segments.entries()) {
      const child = dir.children.get(segment);
      if (child === undefined) return { node: undefined, nearest: dir };
      if (index === segments.length - 1) {
        if (child.kind === 'directory') expanded(child);
        this.#byPath.set(path, child);
        return { node: child };
      }
      if (child.kind === 'file') return { node: undefined, nearest: child };
      dir = expanded(child);
    }
    return { node: dir };
  }

  /** The entries of a directory of this tree, in code-unit order of their names. */
  list(dir: DirNode): readonly TreeEntry[] {
    const own = dir as Dir;
    own.sorted ??= [...own.children]
      .map(([name, node]): TreeEntry => ({ name, node }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    return own.sorted;
  }

  /** The skill rooted exactly at `root`. */
  skillAt(root: string): SkillNode | undefined {
    const { node } = this.lookup(root);
    return node?.kind === 'directory' && node.skill?.entry.root === root ? node.skill : undefined;
  }

  /** Why an entry cannot stand in this tree beside the skills around it (ENT-7). */
  conflictOf(entry: SkillEntry): EntryConflict | undefined {
    const { root } = entry;
    for (let cut = root.lastIndexOf('/'); cut > 0; cut = root.lastIndexOf('/', cut - 1)) {
      const outer = this.skillAt(root.slice(0, cut));
      const conflict = outer && conflictBetween(outer.entry, entry);
      if (conflict !== undefined) return conflict;
    }
    if (this.lookup(root).node === undefined) return undefined;
    for (const inner of this.skills) {
      const conflict = inner.entry.root.startsWith(`${root}/`) ? conflictBetween(entry, inner.entry) : undefined;
      if (conflict !== undefined) return conflict;
    }
    return undefined;
  }

  /** This tree and one more skill, or another revision of one it has. What stays is shared, not built again. */
  with(skill: SkillNode, now: number): SkillTree {
    const { root } = skill.entry;
    if (this.lookup(root).node !== undefined) {
      return SkillTree.of([...this.skills.filter(({ entry }) => entry.root !== root), skill], now, this);
    }
    const copy = copied(this.#root);
    let parent = copy;
    const segments = root.split('/').slice(0, -1);
    for (const segment of segments) {
      const child = parent.children.get(segment);
      if (child?.kind !== 'directory') break;
      const next = copied(child);
      parent.children.set(segment, next);
      parent = next;
    }
    // The directory that gets a new entry changes now; those above it do not.
    (parent as { since: number }).since = parent.skill?.since ?? now;
    plant(copy, skill, now);
    return new SkillTree(copy, [...this.skills, skill]);
  }

  /**
   * Notes what was seen of a dynamic skill, or of a directory that is no skill (DIR-3): a file or directory at `path`.
   * What the manifest of an array skill says is never added to.
   */
  learn(path: string, seen: { readonly uri: string; readonly kind: 'file' | 'directory' }, now: number): void {
    let dir = expanded(this.#root);
    const segments = path.split('/');
    const last = segments.pop();
    for (const segment of segments) {
      let child = dir.children.get(segment);
      if (child === undefined && !dir.complete) child = addDir(dir, segment, now);
      if (child?.kind !== 'directory') return;
      dir = expanded(child);
    }
    if (last === undefined || dir.complete || dir.children.has(last)) return;
    if (seen.kind === 'directory') addDir(dir, last, now, seen.uri);
    else if (dir.skill !== undefined) {
      dir.children.set(last, { kind: 'file', path, uri: seen.uri, skill: dir.skill, listed: undefined });
      dir.sorted = undefined;
    }
  }
}

/**
 * The skills that can stand in one tree, and refusals for those that cannot: two entries at one path, one path that is
 * both a file and a skill's directory, one file claimed with different digests (ENT-7).
 */
export function withoutConflicts(skills: readonly SkillNode[]): {
  readonly skills: readonly SkillNode[];
  readonly refusals: readonly Refusal[];
} {
  const byRoot = new Map<string, SkillNode>();
  const refused = new Map<SkillNode, EntryConflict>();
  for (const skill of skills) {
    const other = byRoot.get(skill.entry.root);
    if (other === undefined) byRoot.set(skill.entry.root, skill);
    else {
      const message = `${other.entry.uri} and ${skill.entry.uri} are two entries at one path, ${skill.entry.root}`;
      refused.set(other, { reason: 'same-path', message });
      refused.set(skill, { reason: 'same-path', message });
    }
  }
  for (const inner of skills) {
    for (const outer of enclosing(inner.entry.root, byRoot)) {
      const conflict = conflictBetween(outer.entry, inner.entry);
      if (conflict === undefined) continue;
      refused.set(outer, conflict);
      refused.set(inner, conflict);
    }
  }
  if (refused.size === 0) return { skills, refusals: [] };
  return {
    skills: skills.filter((skill) => !refused.has(skill)),
    refusals: [...refused].map(([skill, conflict]) => ({ uri: skill.entry.uri, ...conflict })),
  };
}

/** The skills whose directory holds `root`, innermost first. */
function* enclosing(root: string, byRoot: ReadonlyMap<string, SkillNode>): Generator<SkillNode> {
  for (let cut = root.lastIndexOf('/'); cut > 0; cut = root.lastIndexOf('/', cut - 1)) {
    const outer = byRoot.get(root.slice(0, cut));
    if (outer !== undefined) yield outer;
  }
}

/** The URI of a skill's directory, without trailing slash (MAP-1). */
export function rootUriOf(entry: SkillEntry): string {
  return entry.uri.slice(0, -'/SKILL.md'.length);
}

function byRoot(a: SkillNode, b: SkillNode): number {
  return a.entry.root < b.entry.root ? -1 : 1;
}

function newDir(path: string, skill: SkillNode | undefined, complete: boolean, since: number, uri?: string): Dir {
  return {
    kind: 'directory',
    path,
    skill,
    complete,
    since,
    uri,
    children: new Map(),
    pending: undefined,
    sorted: undefined,
  };
}

function copied(dir: Dir): Dir {
  return { ...dir, children: new Map(dir.children), sorted: undefined };
}

function addDir(parent: Dir, name: string, since: number, uri?: string): Dir {
  const path = parent.path === '' ? name : `${parent.path}/${name}`;
  const dir = newDir(path, parent.skill, parent.complete, parent.skill?.since ?? since, uri);
  parent.children.set(name, dir);
  parent.sorted = undefined;
  return dir;
}

/** Makes the directories down to a skill's root. Enclosing skills were planted before, being shorter. */
function plant(root: Dir, skill: SkillNode, now: number): void {
  const segments = skill.entry.root.split('/');
  const last = segments.pop() as string;
  let parent = root;
  for (const segment of segments) {
    const child = parent.children.get(segment);
    parent = child?.kind === 'directory' ? child : addDir(parent, segment, now);
  }
  const complete = parent.complete || skill.entry.resources !== 'dynamic';
  const uri = rootUriOf(skill.entry);
  const dir: Dir = { ...newDir(skill.entry.root, skill, complete, skill.since, uri), pending: skill };
  parent.children.set(last, dir);
}

/** Expands the manifest of the skill rooted at `dir`, the first time it is looked into. */
function expanded(dir: Dir): Dir {
  const skill = dir.pending;
  if (skill === undefined) return dir;
  dir.pending = undefined;
  const { uri, source, resources, root } = skill.entry;
  if (resources === 'dynamic') {
    if (!dir.children.has('SKILL.md')) {
      const path = `${root}/SKILL.md`;
      dir.children.set('SKILL.md', { kind: 'file', path, uri: source ?? uri, skill, listed: undefined });
    }
    return dir;
  }
  const rootUri = rootUriOf(skill.entry);
  for (const file of resources) {
    const below = pathBelow(rootUri, root, file.uri);
    if (!isUriProblem(below)) addFile(dir, below, file);
  }
  return dir;
}

function addFile(skillDir: Dir, below: string, file: { uri: string; size: number; digest: string }): void {
  let dir = skillDir;
  let start = 0;
  for (let cut = below.indexOf('/'); cut !== -1; cut = below.indexOf('/', start)) {
    const name = below.slice(start, cut);
    const child = dir.children.get(name);
    dir = child?.kind === 'directory' ? child : addDir(dir, name, dir.since);
    start = cut + 1;
  }
  const name = below.slice(start);
  dir.children.set(name, {
    kind: 'file',
    path: `${skillDir.path}/${below}`,
    uri: file.uri,
    skill: dir.skill as SkillNode,
    listed: file,
  });
  dir.sorted = undefined;
}

/** Directories above skills keep their time while their entries stay the same. */
function keepTimes(dir: Dir, before: Dir): void {
  if (dir.skill !== undefined || before.skill !== undefined) return;
  const same =
    dir.children.size === before.children.size && [...dir.children.keys()].every((name) => before.children.has(name));
  if (same) (dir as { since: number }).since = before.since;
  for (const [name, child] of dir.children) {
    const old = before.children.get(name);
    if (child.kind === 'directory' && old?.kind === 'directory') keepTimes(child, old);
  }
}
