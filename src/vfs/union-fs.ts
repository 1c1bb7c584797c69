import { Fault, isFault } from '../base/fault.ts';
import { type Op, together } from '../base/op.ts';
import { DIRECTORY_SIZE } from './ancestors.ts';
import { through } from './driver.ts';
import { PolicyFault } from './guard.ts';
import { HiddenFault } from './harmless-fs.ts';
import type { InodeTable } from './inodes.ts';
import type { LocalFs } from './local-fs.ts';
import { OwnInodes } from './own-inodes.ts';
import type { Content, DirEntry, Driver, ReadFs, Stat } from './read-fs.ts';

/** A local directory; uppermost, because local skills come first (SEC-5). */
export interface LocalLayer {
  readonly kind: 'local';
  readonly fs: LocalFs;
  /** Whether the union writes what is its own. */
  readonly writable: boolean;
}

/** What servers publish. It changes only as it tells, so that what was found in it can be kept. */
export interface ServerLayer {
  readonly kind: 'servers';
  readonly fs: ReadFs;
  readonly driver: Driver;
  /** Keeps names at its root for what is local. Absent where nothing would give way. @returns whether something did */
  readonly reserve?: (names: Iterable<string>) => boolean;
}

export type Layer = LocalLayer | ServerLayer;

/** A path that more than one layer has, and that only one of them is shown at. */
export interface Shadowed {
  /** Below the union's root. */
  readonly path: string;
  readonly kept: Layer;
  readonly hidden: readonly Layer[];
}

export interface UnionOptions {
  readonly inodes: InodeTable;
  readonly now: () => number;
  /** Told once of each path that is hidden. */
  readonly shadowed: (shadowed: Shadowed) => void;
}

/** Paths kept per union at most. */
const KEPT = 100_000;

/** Milliseconds for which a path that no server has is not looked for again in each of them. */
const MISS_TTL = 30_000;

/**
 * Layers over each other, uppermost first. A name has one owner: the uppermost layer that has it. Directories merge,
 * except that one in which any layer has a SKILL.md is opaque and belongs to the uppermost such layer: files of two
 * origins are never mixed in one skill. Only a true absence lets the next layer be looked at; every failure ends the search.
 *
 * A lookup costs one look at each local layer, which may change at any time; where a path is in the layers of servers is
 * kept until one of them changes, so that their number does not matter.
 */
export class UnionFs implements ReadFs {
  readonly layers: readonly Layer[];
  readonly #inodes: OwnInodes;
  readonly #options: UnionOptions;
  readonly #told = new Set<string>();
  /** The layers of servers that have a path. */
  #kept = new Map<string, readonly ServerLayer[]>();
  /** Paths that no layer of servers has, and until when that is believed. */
  #missed = new Map<string, number>();
  #reserved = false;
  /** By name at the root, among layers that give way; there is nothing to tell apart in one. */
  readonly #owners = new Map<string, ServerLayer>();
  readonly #areSeveral: boolean;

  constructor(layers: readonly Layer[], options: UnionOptions) {
    this.layers = layers;
    this.#options = options;
    this.#inodes = new OwnInodes(options.inodes);
    this.#areSeveral = layers.filter((layer) => isServers(layer) && layer.reserve !== undefined).length > 1;
  }

  /** To be called when a layer of servers changed. */
  changed(): void {
    this.#kept = new Map();
    this.#missed = new Map();
  }

  *stat(path: string): Op<Stat> {
    if (path === '') return yield* this.#rootStat();
    const [owner] = yield* this.owners(path);
    return this.#inodes.statAt(path, yield* scan(owner, (fs) => fs.stat(path)));
  }

  /** The root is there, whether or not a layer has anything yet. */
  *#rootStat(): Op<Stat> {
    for (const layer of this.layers) {
      const stat = yield* presence(layer, '');
      if (stat !== undefined) return this.#inodes.statAt('', stat);
    }
    return this.#inodes.statAt('', NOTHING_YET);
  }

  *read(path: string): Op<Content> {
    if (path === '') throw new Fault('EISDIR');
    const [owner] = yield* this.owners(path);
    const { bytes, stat } = yield* run(owner, (fs) => fs.read(path));
    return { bytes, stat: this.#inodes.statAt(path, stat) };
  }

  *readdir(path: string): Op<readonly DirEntry[]> {
    const owners = yield* this.owners(path);
    const [owner] = owners;
    if (owners.length === 1 && path !== '') return yield* scan(owner, (fs) => fs.readdir(path));
    const merged = new Map<string, DirEntry>();
    const add = (entries: readonly DirEntry[]) => {
      for (const entry of entries) if (!merged.has(entry.name)) merged.set(entry.name, entry);
    };
    for (const layer of owners.filter(isLocal)) add(yield* this.#entriesOf(layer, path));
    const below = owners.filter(isServers);
    if (path === '') this.#reserve([...merged.keys()]);
    let lists = yield* this.#entriesOfAll(below, path);
    if (path === '') {
      const before = this.#kept;
      for (const [index, layer] of below.entries())
        this.#claim(
          layer,
          (lists[index] ?? []).map(({ name }) => name),
        );
      if (this.#kept !== before) lists = yield* this.#entriesOfAll(below, path);
    }
    lists.forEach(add);
    return [...merged.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /**
   * The layers that have a path, uppermost first: one for a file or an opaque directory, else all whose directory it is.
   *
   * @throws `Fault` ENOENT, ENOTDIR; whatever failure ends the search
   */
  *owners(path: string): Op<readonly [Layer, ...Layer[]]> {
    let owners = this.layers;
    if (path === '') return owners as readonly [Layer, ...Layer[]];
    for (let end = path.indexOf('/'); end !== -1; end = path.indexOf('/', end + 1)) {
      // Once one layer is left, it knows best what is below.
      if (owners.length === 1) return owners as readonly [Layer, ...Layer[]];
      owners = yield* this.#having(owners, path.slice(0, end));
    }
    if (owners.length === 1) return owners as readonly [Layer, ...Layer[]];
    return yield* this.#having(owners, path);
  }

  /** Which of the layers that have the directory above have a path. */
  *#having(candidates: readonly Layer[], path: string): Op<readonly [Layer, ...Layer[]]> {
    const atRoot = !path.includes('/');
    if (atRoot && !this.#reserved) yield* this.#reserveLocals();
    const before = this.#kept;
    let found = yield* this.#presentIn(candidates, path);
    if (atRoot) {
      // A name that is new beside may give another one to a skill.
      if (found.length === 0) yield* this.#reserveLocals();
      else if (found[0]?.layer.kind === 'local') this.#reserve([path]);
      for (const { layer } of found) this.#claim(layer, [path]);
      if (this.#kept !== before) found = yield* this.#presentIn(candidates, path);
    }
    const [first] = found;
    if (first === undefined) throw new Fault('ENOENT');
    const kept = first.kind === 'file' ? [first.layer] : yield* this.#merging(found, path);
    const hidden = found.filter(({ layer }) => !kept.includes(layer)).map(({ layer }) => layer);
    if (hidden.length > 0) this.#tell({ path, kept: kept[0] as Layer, hidden });
    return kept as unknown as readonly [Layer, ...Layer[]];
  }

  *#presentIn(candidates: readonly Layer[], path: string): Op<Present[]> {
    const found: Present[] = [];
    for (const layer of candidates.filter(isLocal)) {
      const stat = yield* presence(layer, path);
      if (stat !== undefined) found.push({ layer, kind: stat.kind });
    }
    if (found[0]?.kind === 'file') return found;
    // What the user denied is told of where nothing else is, and keeps nothing from others.
    let denial: Fault | undefined;
    const denied = (fault: Fault) => {
      denial ??= fault;
    };
    for (const layer of yield* this.#serversHaving(candidates.filter(isServers), path, denied)) {
      const stat = yield* presence(layer, path, { denied });
      if (stat !== undefined) found.push({ layer, kind: stat.kind });
    }
    if (found.length === 0 && denial !== undefined) throw denial;
    return found;
  }

  /** Keeps the names of everything local at the root. @returns whether a layer gave way to them */
  *#reserveLocals(): Op<boolean> {
    if (!this.layers.some((layer) => isServers(layer) && layer.reserve !== undefined)) return false;
    const names: string[] = [];
    for (const layer of this.layers.filter(isLocal)) {
      names.push(...(yield* this.#entriesOf(layer, '')).map(({ name }) => name));
    }
    // Whoever looks meanwhile has to wait for the same.
    this.#reserved = true;
    return this.#reserve(names);
  }

  /** @param keeper the layer that has the names; absent for what is local */
  #reserve(names: readonly string[], keeper?: Layer): boolean {
    const gave = this.layers.filter((layer) => layer !== keeper && isServers(layer) && layer.reserve?.(names) === true);
    if (gave.length > 0) this.changed();
    return gave.length > 0;
  }

  /** Of layers that give way, the one that had a name first keeps it, so that it never passes to another. */
  #claim(layer: Layer, names: readonly string[]): void {
    if (!this.#areSeveral || !isServers(layer) || layer.reserve === undefined) return;
    const own = names.filter((name) => {
      const owner = this.#owners.get(name) ?? layer;
      this.#owners.set(name, owner);
      return owner === layer;
    });
    this.#reserve(own, layer);
  }

  /**
   * The local layer that a change at a path belongs to: the one that has the path, or for a new one the uppermost that has
   * its directory. None for what servers publish.
   *
   * @throws whatever failure ends the search
   */
  *writer(path: string): Op<LocalLayer | undefined> {
    let owners = this.layers;
    const ends = [...path.matchAll(/\/|$/g)].map(({ index }) => index);
    for (const end of path === '' ? [] : ends) {
      try {
        owners = yield* this.#having(owners, path.slice(0, end));
      } catch (error) {
        if (isFault(error) && error.code === 'ENOENT') break;
        throw error;
      }
    }
    const [first] = owners;
    return first?.kind === 'local' ? owners.filter(isLocal).find(({ writable }) => writable) : undefined;
  }

  /** The layers whose directories merge: all of them, or the uppermost one in which it is a skill. */
  *#merging(found: readonly Present[], path: string): Op<readonly Layer[]> {
    const directories = found.filter(({ kind }) => kind === 'directory').map(({ layer }) => layer);
    if (directories.length < 2) return directories;
    for (const layer of directories) {
      const skill = yield* presence(layer, `${path}/SKILL.md`);
      if (skill?.kind === 'file') return [layer];
    }
    return directories;
  }

  /** The layers of servers that have a path; which they are is found out once. */
  *#serversHaving(
    layers: readonly ServerLayer[],
    path: string,
    denied: (fault: Fault) => void,
  ): Op<readonly ServerLayer[]> {
    if (layers.length < 2) return layers;
    const kept = this.#kept.get(path);
    if (kept !== undefined) return kept;
    if (this.#options.now() < (this.#missed.get(path) ?? 0)) return [];
    // What changes meanwhile has maps of its own.
    const [keptNow, missedNow] = [this.#kept, this.#missed];
    const having: ServerLayer[] = [];
    let certain = true;
    const doubt = () => {
      certain = false;
    };
    const told = {
      doubt,
      denied(fault: Fault) {
        doubt();
        denied(fault);
      },
    };
    for (const layer of layers) if ((yield* presence(layer, path, told)) !== undefined) having.push(layer);
    if (keptNow.size >= KEPT) keptNow.clear();
    if (missedNow.size >= KEPT) missedNow.clear();
    if (having.length > 0) keptNow.set(path, having);
    else if (certain) missedNow.set(path, this.#options.now() + MISS_TTL);
    return having;
  }

  *#entriesOf(layer: Layer, path: string): Op<readonly DirEntry[]> {
    try {
      return yield* scan(layer, (fs) => fs.readdir(path));
    } catch (error) {
      // A layer may be without anything yet.
      if (path === '' && isFault(error) && error.code === 'ENOENT') return [];
      throw error;
    }
  }

  *#entriesOfAll(layers: readonly ServerLayer[], path: string): Op<readonly (readonly DirEntry[])[]> {
    const outcomes = yield* together(layers.map((layer) => this.#entriesOf(layer, path)));
    return outcomes.map((outcome) => {
      if (outcome.status === 'rejected') throw outcome.reason;
      return outcome.value;
    });
  }

  #tell(shadowed: Shadowed): void {
    if (this.#told.has(shadowed.path)) return;
    this.#told.add(shadowed.path);
    this.#options.shadowed(shadowed);
  }
}

const NOTHING_YET: Stat = { kind: 'directory', ino: 0, size: DIRECTORY_SIZE, mtimeMs: 0 };

interface Present {
  readonly layer: Layer;
  readonly kind: Stat['kind'];
}

/** What else there is to say of a layer that has nothing at a path. */
interface Told {
  /** It only looks absent, because its server cannot be asked now. */
  readonly doubt?: () => void;
  /** It is there, and the user denied it. */
  readonly denied?: (fault: Fault) => void;
}

/**
 * What a layer has at a path.
 *
 * @throws whatever is not absence: a failure must not let another layer's file take its place
 */
function* presence(layer: Layer, path: string, { doubt, denied }: Told = {}): Op<Stat | undefined> {
  try {
    return yield* scan(layer, (fs) => fs.stat(path));
  } catch (error) {
    if (denied !== undefined && error instanceof PolicyFault && error.reason === 'denied') {
      denied(error);
      return undefined;
    }
    if (!isFault(error) || error.code !== 'ENOENT' || error instanceof HiddenFault) throw error;
    if (Object.hasOwn(error, 'cause')) doubt?.();
    return undefined;
  }
}

function run<T>(layer: Layer, op: (fs: ReadFs) => Op<T>): Op<T> {
  return layer.kind === 'local' ? op(layer.fs) : through(op(layer.fs), layer.driver);
}

/** As `run`; servers that a blocked thread would have to ask itself have nothing to show yet. */
function* scan<T>(layer: Layer, op: (fs: ReadFs) => Op<T>): Op<T> {
  try {
    return yield* run(layer, op);
  } catch (error) {
    if (layer.kind === 'servers' && isFault(error) && error.code === 'EAGAIN') {
      throw new Fault('ENOENT', { cause: error });
    }
    throw error;
  }
}

function isLocal(layer: Layer): layer is LocalLayer {
  return layer.kind === 'local';
}

function isServers(layer: Layer): layer is ServerLayer {
  return layer.kind === 'servers';
}
