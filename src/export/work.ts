import { appendFileSync, lstatSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ExportError } from './lock.ts';

/** Directories that this process is copying into. */
const underWay = new Set<string>();

/**
 * What a copy keeps while it is under way: its temporary files, who makes it, and which contents it is about to put where, so
 * that the next copy knows them for ours when this one is killed before it has written its lock.
 */
export class Work {
  readonly #directory: string;
  readonly #written = new Map<string, Set<string>>();
  #last = 0;

  /** @throws ExportError when another copy is under way, or something else is in the way */
  constructor(directory: string) {
    this.#directory = directory;
    const stat = lstatSync(directory, { throwIfNoEntry: false });
    if (stat !== undefined && !stat.isDirectory()) {
      throw new ExportError(`${directory} is in the way: it is no directory; remove it`);
    }
    if (stat === undefined) mkdirSync(directory, { mode: 0o700 });
    const owner = this.#owner();
    if (owner !== undefined && (owner === process.pid ? underWay.has(directory) : isAlive(owner))) {
      throw new ExportError(
        `process ${owner} is copying into this directory; if that is no export, remove ${directory} and try again`,
      );
    }
    underWay.add(directory);
    this.#readJournal();
    rmSync(join(directory, OWNER), { force: true });
    writeFileSync(join(directory, OWNER), String(process.pid), { flag: 'wx', mode: 0o600 });
  }

  /** A file that is not there yet. */
  temporary(): string {
    const file = join(this.#directory, `${process.pid}-${++this.#last}`);
    rmSync(file, { force: true });
    return file;
  }

  /** Notes what is about to be put at a path. */
  note(path: string, digest: string): void {
    appendFileSync(join(this.#directory, JOURNAL), `${digest} ${path}\n`, { mode: 0o600 });
  }

  /** Whether an earlier copy, which did not come to its end, may have put this at a path. */
  wrote(path: string, digest: string): boolean {
    return this.#written.get(path)?.has(digest) === true;
  }

  /** @param finished whether the lock tells of everything, so that nothing needs to be remembered */
  end(finished: boolean): void {
    underWay.delete(this.#directory);
    rmSync(finished ? this.#directory : join(this.#directory, OWNER), { recursive: true, force: true });
  }

  #owner(): number | undefined {
    const text = textOf(join(this.#directory, OWNER));
    return /^\d+$/.test(text) ? Number(text) : undefined;
  }

  #readJournal(): void {
    for (const [, digest = '', path = ''] of textOf(join(this.#directory, JOURNAL)).matchAll(
      /^(sha256:\S+) (.*)\n/gm,
    )) {
      const digests = this.#written.get(path);
      if (digests === undefined) this.#written.set(path, new Set([digest]));
      else digests.add(digest);
    }
  }
}

const OWNER = 'owner';
const JOURNAL = 'journal';

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
