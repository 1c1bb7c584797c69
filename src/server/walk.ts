import { readdir, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';

/** A regular file below the served directory. */
export interface FoundFile {
  /** Where its bytes are, links resolved. */
  readonly path: string;
  /** Its path below the served directory, with `/`. */
  readonly below: string;
  readonly size: number;
  /** Changes when the file does: inode, size and times. */
  readonly signature: string;
}

/** What is left out of what is served, or odd about it. */
export interface ScanWarning {
  /** Below the served directory. */
  readonly path: string;
  readonly message: string;
}

/** A directory as it was, sorted by path. */
export interface Walked {
  readonly files: readonly FoundFile[];
  /** What is there and can be no part of a skill. */
  readonly unservable: readonly ScanWarning[];
}

/** What belongs to version control, package managers and operating systems, and never to a skill. */
const IGNORED: ReadonlySet<string> = new Set(['.git', '.hg', '.svn', 'node_modules', '.DS_Store', 'Thumbs.db']);

const DEPTH = 32;

/** Beyond this it is no directory of skills, or its links multiply it. */
const FILES = 250_000;

/**
 * Finds the files below `base`, or below one of its directories. Symbolic links are followed as long as they stay inside
 * `base`. No file is opened.
 *
 * @param base a path without symbolic links
 * @param start `''`, or a directory with a trailing slash: `acme/billing/`
 * @throws what the file system gives when the start itself cannot be read
 * @throws RangeError when there are more than 250,000 files
 */
export async function walk(base: string, start = ''): Promise<Walked> {
  const files: FoundFile[] = [];
  const unservable: ScanWarning[] = [];

  async function look(path: string, below: string, isLink: boolean, above: readonly string[]): Promise<void> {
    if (files.length > FILES) throw new RangeError(`it holds more than ${FILES} files`);
    const refuse = (message: string) => void unservable.push({ path: below, message });
    try {
      const real = isLink ? await realpath(path) : path;
      if (real !== base && !real.startsWith(base + sep))
        return refuse('the symbolic link leads out of the served directory');
      const stats = await stat(real, { bigint: true });
      if (stats.isDirectory()) {
        if (above.includes(real)) return refuse('the symbolic link leads back to a directory above it');
        if (above.length > DEPTH) return refuse(`it is nested more than ${DEPTH} directories deep`);
        await into(real, `${below}/`, [...above, real]);
      } else if (stats.isFile()) {
        const signature = `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`;
        files.push({ path: real, below, size: Number(stats.size), signature });
      } else refuse('it is neither a file nor a directory');
    } catch (error) {
      if (error instanceof RangeError) throw error;
      if (isLink) return refuse(`the symbolic link cannot be followed: ${reasonOf(error)}`);
      if (codeOf(error) !== 'ENOENT') return refuse(reasonOf(error));
      // Removed since its directory was read, unless its name is one that cannot be asked for.
      if (below.includes('\uFFFD')) refuse('its name is not UTF-8');
    }
  }

  async function into(path: string, below: string, above: readonly string[]): Promise<void> {
    const entries = await readdir(path, { withFileTypes: true });
    await Promise.all(
      entries
        .filter(({ name }) => !IGNORED.has(name))
        .map((entry) => look(join(path, entry.name), below + entry.name, entry.isSymbolicLink(), above)),
    );
  }

  const path = start === '' ? base : await realpath(join(base, start));
  await into(path, start, [path]);
  files.sort((a, b) => (a.below < b.below ? -1 : 1));
  unservable.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { files, unservable };
}

/** Differs when anything of what was found below `start` does. */
export function signatureOf({ files, unservable }: Walked, start = ''): string {
  return [
    ...files.filter(({ below }) => below.startsWith(start)).map(({ below, signature }) => `${below}\0${signature}`),
    ...unservable.filter(({ path }) => path.startsWith(start)).map(({ path, message }) => `${path}\0${message}`),
  ].join('\n');
}

/** An error of the file system in few words, without the paths of this machine. */
export function reasonOf(error: unknown): string {
  return codeOf(error) ?? (error instanceof Error ? error.message : String(error));
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}
