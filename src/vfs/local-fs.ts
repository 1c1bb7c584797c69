import { Fault, type FaultCode } from '../base/fault.ts';
import type { Op } from '../base/op.ts';
import { Call } from './driver.ts';
import type { Content, DirEntry, ReadFs, Stat } from './read-fs.ts';

interface Kind {
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

interface NativeStats extends Kind {
  readonly ino: number;
  readonly size: number;
  readonly mode: number;
  readonly nlink: number;
  readonly uid: number;
  readonly gid: number;
  readonly atimeMs: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly birthtimeMs: number;
}

interface NativeDirent extends Kind {
  readonly name: unknown;
}

/** What is used of a file system for local skills: `node:fs`, a memfs volume, or anything else of this shape. */
export interface LocalSource {
  statSync(path: string): unknown;
  readdirSync(path: string, options: { withFileTypes: true }): unknown;
  readFileSync(path: string): unknown;
  realpathSync(path: string): unknown;
  /** Where there are links. */
  lstatSync?(path: string): unknown;
  readonly promises: {
    stat(path: string): Promise<unknown>;
    readdir(path: string, options: { withFileTypes: true }): Promise<unknown>;
    readFile(path: string): Promise<unknown>;
    realpath(path: string): Promise<unknown>;
    lstat?(path: string): Promise<unknown>;
  };
}

export interface LocalOptions {
  /** Told of what is off about the directory, once each. */
  readonly report: (message: string) => void;
}

/** Spellings of SKILL.md that other loaders take. */
const VARIANT = /^skill\.md$/i;

/**
 * A directory of a real or in-memory file system. Symbolic links are followed and shown as what they lead to; one that
 * leads out of its skill, or back to a directory it lies in, is not listed. A link right below the root, by which skills
 * are installed, may lead anywhere. Another spelling of SKILL.md is shown as SKILL.md where there is none.
 */
export class LocalFs implements ReadFs {
  readonly fs: LocalSource;
  readonly root: string;
  readonly #report: (message: string) => void;
  readonly #reported = new Set<string>();

  /** @param root an absolute path, without trailing slash */
  constructor(fs: LocalSource, root: string, { report }: LocalOptions) {
    this.fs = fs;
    this.root = root;
    this.#report = report;
  }

  /** Where the source has a path of ours. */
  pathOf(path: string): string {
    if (path === '') return this.root;
    return this.root === '/' ? `/${path}` : `${this.root}/${path}`;
  }

  /**
   * Where the source has, or is to get, what is changed at a path.
   *
   * @throws `Fault` EACCES for a link to nothing, by which something would be made that is not of this directory
   */
  *placeOf(path: string): Op<string> {
    const at = this.pathOf(path);
    try {
      yield* this.#stat(path);
      return at;
    } catch (error) {
      if (!isAbsent(error)) throw error;
      if (yield* this.#isLink(at)) throw new Fault('EACCES', { detail: `${at} is a link that leads nowhere` });
      const found = isMissingSkillFile(error, path) ? yield* this.variantOf(path) : undefined;
      return found === undefined ? at : this.pathOf(found);
    }
  }

  *stat(path: string): Op<Stat> {
    return yield* this.#tryingVariant(path, (at) => this.#stat(at));
  }

  *read(path: string): Op<Content> {
    return yield* this.#tryingVariant(path, (at) => this.#read(at));
  }

  *readdir(path: string): Op<readonly DirEntry[]> {
    const at = yield* this.#resolve(path);
    const dirents = (yield* this.#call(
      () => this.fs.readdirSync(at, { withFileTypes: true }),
      () => this.fs.promises.readdir(at, { withFileTypes: true }),
    )) as readonly NativeDirent[];
    const entries: DirEntry[] = [];
    for (const dirent of dirents) {
      const name = nameOf(dirent);
      const kind = dirent.isSymbolicLink() ? yield* this.#linkKind(path, name) : kindOf(dirent);
      if (kind !== undefined) entries.push({ name, kind });
    }
    return withSkillFile(entries).sort(byName);
  }

  *#stat(path: string): Op<Stat> {
    const at = yield* this.#resolve(path);
    const stats = (yield* this.#call(
      () => this.fs.statSync(at),
      () => this.fs.promises.stat(at),
    )) as NativeStats;
    const kind = kindOf(stats);
    if (kind === undefined) throw new Fault('EACCES', { detail: `${at} is neither a file nor a directory` });
    const { ino, size, mtimeMs, mode, nlink, uid, gid, atimeMs, ctimeMs, birthtimeMs } = stats;
    return { kind, ino, size, mtimeMs, disk: { mode, nlink, uid, gid, atimeMs, ctimeMs, birthtimeMs } };
  }

  *#read(path: string): Op<Content> {
    const stat = yield* this.#stat(path);
    if (stat.kind === 'directory') throw new Fault('EISDIR');
    const at = this.pathOf(path);
    const bytes = (yield* this.#call(
      () => this.fs.readFileSync(at),
      () => this.fs.promises.readFile(at),
    )) as Uint8Array;
    return { bytes, stat: { ...stat, size: bytes.byteLength } };
  }

  /** SKILL.md may have another spelling here; the exact one comes first. */
  *#tryingVariant<T>(path: string, run: (path: string) => Op<T>): Op<T> {
    try {
      return yield* run(path);
    } catch (error) {
      const found = isMissingSkillFile(error, path) ? yield* this.variantOf(path) : undefined;
      if (found === undefined) throw error;
      const message = `${this.pathOf(found)} is used as SKILL.md; other loaders may not find it under this name`;
      if (!this.#reported.has(message)) this.#report(message);
      this.#reported.add(message);
      return yield* run(found);
    }
  }

  /** The other spelling under which the file of a path to a SKILL.md is there. */
  *variantOf(path: string): Op<string | undefined> {
    const directory = path.slice(0, Math.max(0, path.length - '/SKILL.md'.length));
    const at = this.pathOf(directory);
    try {
      const dirents = (yield* this.#call(
        () => this.fs.readdirSync(at, { withFileTypes: true }),
        () => this.fs.promises.readdir(at, { withFileTypes: true }),
      )) as readonly NativeDirent[];
      const [name] = dirents
        .filter((dirent) => isVariant(dirent.name) && !dirent.isDirectory())
        .map(nameOf)
        .sort();
      return name === undefined ? undefined : directory === '' ? name : `${directory}/${name}`;
    } catch {
      // The exact name's own error is what counts.
      return undefined;
    }
  }

  *#isLink(at: string): Op<boolean> {
    try {
      const stats = (yield* this.#call(
        () => this.fs.lstatSync?.(at),
        async () => this.fs.promises.lstat?.(at),
      )) as Kind | undefined;
      return stats?.isSymbolicLink() === true;
    } catch (error) {
      if (isAbsent(error)) return false;
      throw error;
    }
  }

  /** What a link leads to; `undefined` for one that is not shown. */
  *#linkKind(directory: string, name: string): Op<DirEntry['kind'] | undefined> {
    const path = directory === '' ? name : `${directory}/${name}`;
    try {
      return (yield* this.#stat(path)).kind;
    } catch {
      // A link that leads nowhere, out or round in circles; looking it up gives the reason.
      return undefined;
    }
  }

  /**
   * Where the source has a path, when no link on the way leads out or back.
   *
   * @throws `Fault` EACCES, ELOOP; ENOENT and ENOTDIR as the source has it
   */
  *#resolve(path: string): Op<string> {
    const at = this.pathOf(path);
    const real = yield* this.#realpath(at);
    if (real === at) return at;
    const root = yield* this.#realpath(this.root);
    const below = root === '/' ? '/' : `${root}/`;
    if (real === (path === '' ? root : below + path)) return at;
    const segments = path.split('/');
    const seen = [root];
    for (const [index] of segments.entries()) {
      const here = yield* this.#realpath(this.pathOf(segments.slice(0, index + 1).join('/')));
      if (seen.includes(here)) throw new Fault('ELOOP', { detail: `${at} leads back to ${here}` });
      seen.push(here);
    }
    const installed = seen[1] as string;
    const contained = segments.length === 1 || real.startsWith(below) || real.startsWith(`${installed}/`);
    if (!contained) throw new Fault('EACCES', { detail: `${at} is a link that leads out of its skill, to ${real}` });
    return at;
  }

  *#realpath(path: string): Op<string> {
    return (yield* this.#call(
      () => realpathSync(this.fs, path),
      () => this.fs.promises.realpath(path),
    )) as string;
  }

  *#call(sync: () => unknown, async: () => Promise<unknown>): Op<unknown> {
    try {
      return yield new Call(true, sync, async);
    } catch (error) {
      throw faultOf(error);
    }
  }
}

/** One system call where there is one. */
function realpathSync(fs: LocalSource, path: string): unknown {
  const { native } = fs.realpathSync as { native?: (path: string) => unknown };
  return native === undefined ? fs.realpathSync(path) : native(path);
}

function withSkillFile(entries: readonly DirEntry[]): DirEntry[] {
  if (entries.some(({ name }) => name === 'SKILL.md')) return [...entries];
  const [variant] = entries.filter(({ name, kind }) => kind === 'file' && isVariant(name)).sort(byName);
  return entries.map((entry) => (entry === variant ? { ...entry, name: 'SKILL.md' } : entry));
}

function byName(a: DirEntry, b: DirEntry): number {
  return a.name < b.name ? -1 : 1;
}

function nameOf(dirent: NativeDirent): string {
  return String(dirent.name);
}

function isVariant(name: unknown): boolean {
  return name !== 'SKILL.md' && VARIANT.test(String(name));
}

function isAbsent(error: unknown): boolean {
  return error instanceof Fault && error.code === 'ENOENT';
}

function isMissingSkillFile(error: unknown, path: string): boolean {
  return isAbsent(error) && (path === 'SKILL.md' || path.endsWith('/SKILL.md'));
}

function kindOf(of: Kind): DirEntry['kind'] | undefined {
  if (of.isDirectory()) return 'directory';
  return of.isFile() ? 'file' : undefined;
}

const CODES: ReadonlySet<string> = new Set<FaultCode>([
  'EACCES',
  'EISDIR',
  'ELOOP',
  'ENAMETOOLONG',
  'ENOENT',
  'ENOTDIR',
  'EPERM',
]);

function faultOf(error: unknown): unknown {
  const { code, message } = error as { code?: unknown; message?: unknown };
  if (typeof code !== 'string') return error;
  if (CODES.has(code)) return new Fault(code as FaultCode, { cause: error });
  return new Fault('EIO', { detail: String(message), cause: error });
}
