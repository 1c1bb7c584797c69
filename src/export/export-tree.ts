import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import pLimit from 'p-limit';
import { discoveredPart } from '../content/disk/location.ts';
import { digestOf } from '../content/verify.ts';
import type { Mount, ServerStatus } from '../mount.ts';
import { OptionsError } from '../options.ts';
import { type Lock, type LockedFile, type LockedSkill, lockedFiles, readLock } from './lock.ts';
import { type Layout, type PlannedFile, type PlannedSkill, planOf } from './plan.ts';
import { Target } from './target.ts';
import type { Work } from './work.ts';

export interface ExportOptions {
  /** `tree` (default): `<dir>/<label>/<skill-path>/…`; `flat`: `<dir>/<name>/…`, as in a flat view. */
  readonly layout?: Layout;
  /** In a flat layout, what becomes of a skill whose name another one has: as for `flat`. Default `rename`. */
  readonly collisions?: 'rename' | 'hide';
  /** In a flat layout, names that skills elsewhere have: as for `flat`. */
  readonly reserved?: Iterable<string>;
  /**
   * Whether the directory may be one in which agents look for skills, so that they load what servers publish without
   * being told to. Default `false`.
   */
  readonly discoverable?: boolean;
  /** Told how many of all files are done. */
  readonly progress?: (done: number, total: number) => void;
}

/** A file that is left as it is, because it is the user's. Nothing in its place was written. */
export interface KeptFile {
  /** Below the directory. */
  readonly path: string;
  readonly reason: string;
}

/** A skill, or a whole server, that was not copied. What an earlier copy has of it stays. */
export interface ExportFailure {
  readonly label: string;
  readonly uri?: string;
  readonly error: Error;
}

export interface ExportReport {
  /** Without symbolic links. */
  readonly dir: string;
  /** Paths below the directory, as in `removed`. */
  readonly written: readonly string[];
  /** How many files were as they should be. */
  readonly unchanged: number;
  readonly removed: readonly string[];
  readonly kept: readonly KeptFile[];
  readonly failures: readonly ExportFailure[];
}

/** Skills copied at once. */
const AT_ONCE = 4;

/**
 * Copies the skills of a mount into a directory, for where nothing can be mounted: read-only files, nothing executable, names
 * that every file system takes, and `skillfs.lock.json`, which tells where each is from (SEC-1, CACHE-2). A skill is copied
 * as a whole or not at all, and only what was verified.
 *
 * A further copy changes what is another than before, removes what is gone, and leaves alone what it did not write:
 * what differs from the lock is the user's. It may be interrupted at any time; the next one finishes what it began.
 *
 * @throws OptionsError when agents look for skills in the directory; ExportError when another copy into it is under way, or its
 * lock cannot be understood; what the file system gives
 */
export async function exportTree(mount: Mount, dir: string, options: ExportOptions = {}): Promise<ExportReport> {
  const { layout = 'tree', collisions = 'rename', reserved = [], discoverable = false } = options;
  if (!['tree', 'flat'].includes(layout)) throw new OptionsError('layout: expected "tree" or "flat"');
  if (!discoverable) refuseDiscovered(resolve(dir));
  const target = Target.make(dir);
  const work = target.begin();
  let finished = false;
  try {
    const before = readLock(target.root);
    const status = await mount.ready();
    const planned = await planOf(mount, layout, { collisions, reserved });
    const copy = new Copy(target, work, before, planned);
    const unknown = failedServers(status);
    copy.removeGone(staying(before, status, unknown));
    await copy.skills(options.progress);
    const failures = [...unknown, ...copy.failures];
    const copied = new Set(copy.copied.map(identityOf));
    const left = staying(before, status, failures).filter((skill) => !copied.has(identityOf(skill)));
    target.writeLock({ format: 1, layout, skills: [...copy.copied, ...left].sort(byOrigin) }, work);
    finished = true;
    const { written, removed, kept, unchanged } = copy;
    return { dir: target.root, written, removed, kept, unchanged, failures };
  } finally {
    work.end(finished);
  }
}

/** One copy into one directory. */
class Copy {
  readonly copied: LockedSkill[] = [];
  readonly written: string[] = [];
  readonly removed: string[] = [];
  readonly kept: KeptFile[] = [];
  readonly failures: ExportFailure[] = [];
  unchanged = 0;
  readonly #target: Target;
  readonly #work: Work;
  readonly #planned: readonly PlannedSkill[];
  readonly #before: ReadonlyMap<string, LockedFile>;
  readonly #skillsBefore: readonly LockedSkill[];
  readonly #plannedPaths: ReadonlySet<string>;

  constructor(target: Target, work: Work, before: Lock | undefined, planned: readonly PlannedSkill[]) {
    this.#target = target;
    this.#work = work;
    this.#planned = planned;
    this.#before = lockedFiles(before);
    this.#skillsBefore = before?.skills ?? [];
    this.#plannedPaths = new Set(planned.flatMap(({ files }) => files.map(({ path }) => path)));
  }

  /** Removes skills that an earlier copy wrote and that are published no more, but for what stays. */
  removeGone(left: readonly LockedSkill[]): void {
    const stays = new Set([...this.#planned, ...left].map(identityOf));
    for (const skill of this.#skillsBefore) if (!stays.has(identityOf(skill))) this.#removeFiles(skill);
  }

  async skills(progress: ExportOptions['progress']): Promise<void> {
    const total = this.#planned.reduce((sum, { files }) => sum + files.length, 0);
    let done = 0;
    progress?.(done, total);
    const limit = pLimit(AT_ONCE);
    await Promise.all(
      this.#planned.map((skill) =>
        limit(async () => {
          await this.#skill(skill);
          done += skill.files.length;
          progress?.(done, total);
        }),
      ),
    );
  }

  /** First everything is read: a skill is copied as a whole or not at all. */
  async #skill({ label, uri, content, files, error }: PlannedSkill): Promise<void> {
    try {
      if (error !== undefined) throw error;
      const contents = await Promise.all(files.map((file) => this.#needed(file)));
      for (const skill of this.#skillsBefore) {
        if (skill.label === label && skill.uri === uri) this.#removeFiles(skill);
      }
      const locked = files.flatMap((file, index) => this.#file(file, contents[index]));
      this.copied.push({ label, uri, content, files: locked });
    } catch (error) {
      this.failures.push({ label, uri, error: error as Error });
    }
  }

  /** The content of a file; `undefined` when the copy is known to have it. What is done to a SKILL.md may have changed. */
  async #needed(file: PlannedFile): Promise<Uint8Array | undefined> {
    const before = this.#before.get(file.path);
    const isKnown = before !== undefined && file.manifest !== undefined && before.manifest === file.manifest;
    if (isKnown && !file.path.endsWith('/SKILL.md')) {
      const found = this.#target.find(file.path);
      if (found.kind === 'file' && found.digest === before.written) return undefined;
    }
    return file.read();
  }

  /** @returns what the lock says of it */
  #file({ path, uri, manifest }: PlannedFile, bytes: Uint8Array | undefined): readonly LockedFile[] {
    const before = this.#before.get(path);
    if (bytes === undefined) return this.#asItIs({ ...(before as LockedFile), uri });
    const file = {
      path,
      uri,
      size: bytes.byteLength,
      ...(manifest !== undefined && { manifest }),
      written: digestOf(bytes),
    };
    const found = this.#target.find(path);
    if (found.kind === 'file' && found.digest === file.written) return this.#asItIs(file);
    if (found.kind === 'absent' || (found.kind === 'file' && this.#isOurs(path, found.digest))) {
      this.#target.put(path, bytes, this.#work);
      this.written.push(path);
      return [file];
    }
    const reason =
      found.kind === 'other' ? found.what : `it was ${before === undefined ? 'there before' : 'changed here'}`;
    this.kept.push({ path, reason });
    return before === undefined ? [] : [before];
  }

  /** Removes the files of an earlier copy that this one does not have. */
  #removeFiles({ files }: LockedSkill): void {
    for (const { path } of files) {
      if (this.#plannedPaths.has(path)) continue;
      const found = this.#target.find(path);
      if (found.kind === 'file' && this.#isOurs(path, found.digest)) {
        this.#target.remove(path);
        this.removed.push(path);
      } else if (found.kind !== 'absent')
        this.kept.push({ path, reason: 'it is published no more, and was changed here' });
    }
  }

  #asItIs(file: LockedFile): readonly LockedFile[] {
    this.#target.settle(file.path);
    this.unchanged++;
    return [file];
  }

  #isOurs(path: string, digest: string): boolean {
    return this.#before.get(path)?.written === digest || this.#work.wrote(path, digest);
  }
}

/** @throws OptionsError */
function refuseDiscovered(dir: string): void {
  for (const spelling of [dir, realOf(dir)]) {
    const part = discoveredPart(spelling);
    if (part === undefined) continue;
    throw new OptionsError(
      `${dir}: agents look for skills in "${part}", and would load these unasked; take another directory, or allow it ` +
        '(--yes, or discoverable: true)',
    );
  }
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path, '..') === path ? path : resolve(realOf(resolve(path, '..')), path.split(/[/\\]/).at(-1) ?? '');
  }
}

/** Servers that did not say what they have now. */
function failedServers(status: readonly ServerStatus[]): readonly ExportFailure[] {
  return status.flatMap(({ label, state, stale, lastError, refused }): ExportFailure[] => [
    ...(state === 'failed' || (stale && lastError !== undefined) ? [{ label, error: lastError as Error }] : []),
    ...refused.map(({ uri, message }) => ({ label, error: new Error(message), ...(uri !== undefined && { uri }) })),
  ]);
}

/** What earlier copies have of skills that this one knows nothing about: that they are gone is not known. */
function staying(
  before: Lock | undefined,
  status: readonly ServerStatus[],
  failures: readonly ExportFailure[],
): readonly LockedSkill[] {
  const unknown = new Set(status.flatMap((one) => (isWhole(one) ? [] : [one.label])));
  const failed = new Set(failures.map(identityOf));
  return (before?.skills ?? []).filter((skill) => unknown.has(skill.label) || failed.has(identityOf(skill)));
}

/** MAP-5 */
function identityOf({ label, uri }: { readonly label: string; readonly uri?: string }): string {
  return JSON.stringify([label, uri]);
}

function isWhole({ state, stale, partial }: ServerStatus): boolean {
  return state === 'ready' && !stale && partial === undefined;
}

function byOrigin(a: LockedSkill, b: LockedSkill): number {
  const [left, right] = [`${a.label}\n${a.uri}`, `${b.label}\n${b.uri}`];
  return left < right ? -1 : left > right ? 1 : 0;
}
