import { Fault } from '../base/fault.ts';
import { type Op, together } from '../base/op.ts';
import { DIRECTORY_SIZE } from './ancestors.ts';
import { type Candidate, FlatNames, type Named } from './flat-names.ts';
import type { InodeTable } from './inodes.ts';
import { ORIGIN_NOTE, originNote } from './origin-note.ts';
import { OwnInodes } from './own-inodes.ts';
import type { Content, DirEntry, ReadFs, Stat } from './read-fs.ts';
import type { SkillSource } from './skill-source.ts';

export interface FlatOptions {
  readonly collisions: 'rename' | 'hide';
  /** Whether each skill's directory has a note that says where it is from. */
  readonly originNotes: boolean;
  readonly inodes: InodeTable;
  readonly now: () => number;
  /** Told when names were given out anew. */
  readonly named: (named: Named) => void;
}

/**
 * Every skill of every server at one level: `<name>/SKILL.md`. Paths are below the view's root, which is `''`. Nested
 * skills are directories of their own here, and supporting files of the enclosing one as well (MAP-8).
 *
 * Names are given out when all servers have answered or failed, so that they do not depend on which was first.
 */
export class FlatView implements ReadFs {
  readonly #servers: ReadonlyMap<string, SkillSource>;
  readonly #options: FlatOptions;
  readonly #names: FlatNames;
  readonly #inodes: OwnInodes;
  #surveyed = false;
  #named: Named | undefined;
  #root: Stat;

  /** @param servers by label, in order of precedence */
  constructor(servers: ReadonlyMap<string, SkillSource>, options: FlatOptions) {
    this.#servers = servers;
    this.#options = options;
    this.#names = new FlatNames(options.collisions);
    this.#inodes = new OwnInodes(options.inodes);
    const { ino } = options.inodes.intern('', 'directory', 0);
    this.#root = { kind: 'directory', ino, size: DIRECTORY_SIZE, mtimeMs: Math.trunc(options.now()) };
  }

  /** What is shown, as far as servers have been looked into. */
  get named(): Named {
    if (!this.#isSurveyed()) return NOTHING;
    this.#named ??= this.#assign();
    return this.#named;
  }

  /** To be called when the tree of a server was replaced. */
  changed(): void {
    if (this.#named === undefined) return;
    const before = this.#named;
    this.#named = undefined;
    const { directories } = this.named;
    const same =
      directories.size === before.directories.size &&
      [...directories.keys()].every((name) => before.directories.has(name));
    if (!same) this.#root = { ...this.#root, mtimeMs: Math.trunc(this.#options.now()) };
  }

  /** Keeps names for something local that is shown beside. @returns whether one of them is news */
  reserve(names: Iterable<string>): boolean {
    let news = false;
    for (const name of names) if (this.#names.reserve(name)) news = true;
    if (news) this.changed();
    return news;
  }

  /** The server and the path on it that a path of the view stands for. */
  locate(path: string): { readonly label: string; readonly below: string } | undefined {
    const cut = path.indexOf('/');
    const found = this.named.directories.get(cut === -1 ? path : path.slice(0, cut));
    if (found === undefined) return undefined;
    const { label, skill } = found;
    return { label, below: cut === -1 ? skill.entry.root : skill.entry.root + path.slice(cut) };
  }

  /** The paths at which a path of a server is shown: in its skill's directory, and in those of enclosing skills. */
  pathsOf(label: string, below: string): readonly string[] {
    return [...this.named.directories].flatMap(([name, { label: of, skill }]) => {
      const { root } = skill.entry;
      if (of !== label) return [];
      if (root === below || root.startsWith(`${below}/`)) return [name];
      return below.startsWith(`${root}/`) ? [name + below.slice(root.length)] : [];
    });
  }

  *stat(path: string): Op<Stat> {
    if (path === '') return this.#root;
    const { server, below } = yield* this.#route(path);
    const note = yield* this.#noteAt(path, server);
    if (note !== undefined) return note.stat;
    return this.#inodes.statAt(path, yield* server.stat(below));
  }

  *readdir(path: string): Op<readonly DirEntry[]> {
    if (path !== '') {
      const { server, below } = yield* this.#route(path);
      if ((yield* this.#noteAt(path, server)) !== undefined) throw new Fault('ENOTDIR');
      const entries = yield* server.readdir(below);
      if (!this.#options.originNotes || path.includes('/')) return entries;
      const others = entries.filter(({ name }) => name !== ORIGIN_NOTE);
      return [...others, { name: ORIGIN_NOTE, kind: 'file' as const }].sort((a, b) => (a.name < b.name ? -1 : 1));
    }
    yield* this.#survey();
    this.#lookAtPolicy();
    const shown = [...this.named.directories].filter(
      ([, { label, skill }]) => this.#servers.get(label)?.hides(skill.entry.root) === false,
    );
    return shown.map(([name]): DirEntry => ({ name, kind: 'directory' })).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  *read(path: string): Op<Content> {
    if (path === '') throw new Fault('EISDIR');
    const { server, below } = yield* this.#route(path);
    const note = yield* this.#noteAt(path, server);
    if (note !== undefined) return note;
    const { bytes, stat } = yield* server.read(below);
    return { bytes, stat: this.#inodes.statAt(path, stat) };
  }

  *#route(path: string): Op<{ server: SkillSource; below: string }> {
    if (!this.#isSurveyed()) yield* this.#survey();
    let located = this.locate(path);
    if (located === undefined) {
      this.#lookAtPolicy();
      located = this.locate(path);
    }
    const server = located && this.#servers.get(located.label);
    if (server === undefined) throw this.#denialOf(path) ?? new Fault('ENOENT');
    return { server, below: (located as { below: string }).below };
  }

  /** The note of a skill, where a path is that of one. A file of the skill's own with that name is not shown beside it. */
  *#noteAt(path: string, server: SkillSource): Op<Content | undefined> {
    const cut = path.indexOf('/');
    if (!this.#options.originNotes || path.slice(cut + 1) !== ORIGIN_NOTE || cut === -1) return undefined;
    const found = this.named.directories.get(path.slice(0, cut));
    if (found === undefined) return undefined;
    const { kind: _, ...directory } = yield* server.stat(found.skill.entry.root);
    const bytes = originNote(found);
    return { bytes, stat: this.#inodes.statAt(path, { ...directory, kind: 'file', size: bytes.byteLength }) };
  }

  /** What the user decided since is told of by any server; then names are given out anew. */
  #lookAtPolicy(): void {
    const [first] = this.#servers.values();
    first?.denialAt('');
  }

  /** Why nothing has the name in a path: the skill that would is denied. */
  #denialOf(path: string): Fault | undefined {
    const [name] = path.split('/', 1);
    for (const server of this.#servers.values()) {
      for (const { entry } of server.state.tree?.skills ?? []) {
        const denial = entry.frontmatter.name === name ? server.denialAt(entry.root) : undefined;
        if (denial !== undefined) return denial;
      }
    }
    return undefined;
  }

  /** Looks into all servers at once. One that cannot be reached has nothing to show, where its source is harmless. */
  *#survey(): Op<void> {
    const outcomes = yield* together([...this.#servers.values()].map((server) => server.shown()));
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  }

  #assign(): Named {
    const candidates = [...this.#servers].flatMap(([label, server]) =>
      (server.state.tree?.skills ?? [])
        .filter(({ entry }) => server.denialAt(entry.root) === undefined)
        .sort(byPath)
        .map((skill): Candidate => ({ label, skill })),
    );
    const named = this.#names.assign(candidates);
    this.#options.named(named);
    return named;
  }

  /** Whether every server has answered, or failed, once. */
  #isSurveyed(): boolean {
    this.#surveyed ||= [...this.#servers.values()].every(
      ({ state }) => state.tree !== undefined || state.lastError !== undefined,
    );
    return this.#surveyed;
  }
}

const NOTHING: Named = { directories: new Map(), collisions: [] };

function byPath(a: Candidate['skill'], b: Candidate['skill']): number {
  return a.entry.root < b.entry.root ? -1 : 1;
}
