import type { SkillNode } from '../catalog/tree.ts';

/** A skill of one of several servers. */
export interface Candidate {
  readonly label: string;
  readonly skill: SkillNode;
}

/** Skills that would have one directory name, and what became of them. */
export interface NameCollision {
  /** As whoever keeps it spells it. */
  readonly name: string;
  /** Who has the plain name; absent where that is something local, or a skill that is gone. */
  readonly kept: Candidate | undefined;
  readonly local: boolean;
  /** The others, and the directory each is in; absent where it is left out. */
  readonly others: readonly (Candidate & { readonly directory: string | undefined })[];
}

export interface Named {
  /** Skills by the directory they are shown in. */
  readonly directories: ReadonlyMap<string, Candidate>;
  readonly collisions: readonly NameCollision[];
}

/** What keeps a name that is no server's. */
const LOCAL = '';

/** The longest directory name that file systems take. Bytes. */
const NAME_MAX = 255;

/**
 * Gives every skill a directory of its own on one level. A skill gets its plain name, the first of those that share one;
 * and who had a plain name once keeps it, so that a name a user has come to know never stands for another origin. Names
 * that differ only in case or Unicode normalisation are one name: there are disks that do not tell them apart.
 */
export class FlatNames {
  readonly #collisions: 'rename' | 'hide';
  readonly #owners = new Map<string, string>();
  readonly #given = new Map<string, string>();
  /** Local names as they are spelled. */
  readonly #local = new Map<string, string>();

  constructor(collisions: 'rename' | 'hide') {
    this.#collisions = collisions;
  }

  /** Keeps a name for something local, which comes before every server's. @returns whether that is news */
  reserve(name: string): boolean {
    const key = keyOf(name);
    if (this.#owners.get(key) === LOCAL) return false;
    this.#owners.set(key, LOCAL);
    this.#local.set(key, name);
    return true;
  }

  /** @param candidates in order of precedence */
  assign(candidates: readonly Candidate[]): Named {
    const byName = new Map<string, Candidate[]>();
    for (const candidate of candidates) {
      const key = keyOf(nameOf(candidate));
      const sharing = byName.get(key);
      if (sharing === undefined) byName.set(key, [candidate]);
      else sharing.push(candidate);
      if (!this.#owners.has(key)) this.#owners.set(key, identityOf(candidate));
    }
    const directories = new Map<string, Candidate>();
    const displaced: [name: string, kept: Candidate | undefined, others: readonly Candidate[]][] = [];
    for (const [key, sharing] of byName) {
      const owner = this.#owners.get(key);
      const kept = sharing.find((candidate) => identityOf(candidate) === owner);
      if (kept !== undefined) directories.set(nameOf(kept), kept);
      const others = sharing.filter((candidate) => candidate !== kept);
      if (others.length > 0)
        displaced.push([this.#local.get(key) ?? nameOf(kept ?? (others[0] as Candidate)), kept, others]);
    }
    const collisions = displaced.map(([name, kept, others]): NameCollision => {
      const placed = others.map((candidate) => {
        const directory = this.#collisions === 'hide' ? undefined : this.#distinguishing(candidate, directories);
        if (directory !== undefined) directories.set(directory, candidate);
        return { ...candidate, directory };
      });
      return { name, kept, local: this.#local.has(keyOf(name)), others: placed };
    });
    return { directories, collisions };
  }

  /** Name, server and path: no skill's plain name, because those hold no doubled hyphen (MAP-2). */
  #distinguishing(candidate: Candidate, taken: ReadonlyMap<string, unknown>): string {
    const identity = identityOf(candidate);
    const given = this.#given.get(identity);
    if (given !== undefined && !taken.has(given) && !this.#owners.has(keyOf(given))) return given;
    const prefix = candidate.skill.entry.root.split('/').slice(0, -1);
    const base = cut([nameOf(candidate), candidate.label, ...prefix].join('--'));
    const used = new Set(this.#given.values());
    let directory = base;
    for (let n = 2; taken.has(directory) || used.has(directory) || this.#owners.has(keyOf(directory)); n++) {
      directory = `${base}--${n}`;
    }
    this.#given.set(identity, directory);
    return directory;
  }
}

/** A skill's directory is called as its frontmatter says. */
function nameOf({ skill }: Candidate): string {
  return skill.entry.frontmatter.name;
}

function identityOf({ label, skill }: Candidate): string {
  return `${label}\n${skill.entry.root}`;
}

function keyOf(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

/** Leaves room for a number. */
function cut(name: string): string {
  let short = name;
  while (new TextEncoder().encode(short).byteLength > NAME_MAX - 8) short = [...short].slice(0, -1).join('');
  return short;
}
