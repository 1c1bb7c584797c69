import { createHash } from 'node:crypto';
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { Skill, SkillFrontmatter } from '@modelcontextprotocol/core/ext/skills';
import pLimit from 'p-limit';
import { checkEntry } from '../catalog/entry.ts';
import { readFrontmatter } from '../catalog/frontmatter.ts';
import type { SkillLimits } from '../catalog/types.ts';
import { fromTreePath } from '../catalog/uri.ts';

/** A file as it was when its digest was taken. */
export interface ScannedFile {
  readonly path: string;
  readonly uri: string;
  readonly size: number;
  readonly digest: string;
  /** Changes whenever the file does: size, times and inode. */
  readonly signature: string;
  /** Of a SKILL.md; a string says why it cannot be read as one. */
  readonly frontmatter: SkillFrontmatter | string | undefined;
}

/** A directory as it was: immutable, replaced as a whole. */
export interface Snapshot {
  /** Sorted by URI. */
  readonly skills: readonly Skill[];
  readonly files: ReadonlyMap<string, ScannedFile>;
  /** Changes whenever anything in the directory does. */
  readonly signature: string;
  readonly warnings: readonly ScanWarning[];
}

export interface ScanWarning {
  readonly path: string;
  readonly message: string;
}

export interface ScanOptions {
  readonly directory: string;
  /** The skill path of `directory` itself: `''`, `acme`, or for a single skill `acme/billing/refunds`. */
  readonly prefix: string;
  /** Whether only the skill at `directory` itself is published, and those nested in it. */
  readonly single: boolean;
  readonly limits: SkillLimits;
}

/** What is never a part of a skill. */
const IGNORED: ReadonlySet<string> = new Set(['.git', '.hg', '.svn', 'node_modules', '.DS_Store', 'Thumbs.db']);

const DEPTH = 32;

const SKILL_MD = /(^|\/)SKILL\.md$/;

/** The skills whose directory holds a file: `''` for the served directory itself, else with a trailing slash. */
function rootsAbove(below: string, roots: ReadonlyMap<string, unknown>): readonly string[] {
  const above: string[] = roots.has('') ? [''] : [];
  for (let cut = below.indexOf('/'); cut !== -1; cut = below.indexOf('/', cut + 1)) {
    const root = below.slice(0, cut + 1);
    if (roots.has(root)) above.push(root);
  }
  return above;
}

interface Found {
  readonly path: string;
  /** Below the served directory, with `/`. */
  readonly below: string;
  readonly signature: string;
}

interface Walked {
  readonly files: Found[];
  /** Files and directories that cannot be served, with the reason: the skill that holds one is left out. */
  readonly unservable: ScanWarning[];
}

/**
 * Reads a directory of skills. A skill is a directory with a SKILL.md, at any depth; its skill path is its path. Symbolic
 * links are followed as long as they stay inside. A skill that is not valid, or that holds something that cannot be
 * served, is left out with a warning that names it; the others are served.
 *
 * @param before files that did not change since are not read again
 * @throws what the file system gives when the directory itself cannot be read
 */
export async function scan(options: ScanOptions, before?: Snapshot): Promise<Snapshot> {
  const base = await realpath(options.directory);
  const walked: Walked = { files: [], unservable: [] };
  await walk(base, base, '', walked, new Set([base]));
  const signature = [
    ...walked.files.map((file) => `${file.below}\0${file.signature}`),
    ...walked.unservable.map(({ path, message }) => `${path}\0${message}`),
  ].join('\n');
  if (before?.signature === signature) return before;
  const known = new Map([...(before?.files.values() ?? [])].map((file) => [file.path, file]));
  const limit = pLimit(16);
  const warnings: ScanWarning[] = [...walked.unservable];
  const roots = new Map<string, ScannedFile[]>();
  for (const { below } of walked.files) if (SKILL_MD.test(below)) roots.set(below.slice(0, -'SKILL.md'.length), []);
  if (options.single && !roots.has('')) roots.clear();
  const inSkill = walked.files.filter(({ below }) => rootsAbove(below, roots).length > 0);
  const scanned = await Promise.all(
    inSkill.map(async (found) => {
      const file = await limit(() => scanFile(found, options.prefix, known.get(found.path), warnings));
      if (file !== undefined) for (const root of rootsAbove(found.below, roots)) roots.get(root)?.push(file);
      return file;
    }),
  );
  const files = scanned.filter((file) => file !== undefined);
  const skills = [...roots].flatMap(([root, inside]) => entryOf(root, inside, walked.unservable, options, warnings));
  skills.sort((a, b) => (a.uri < b.uri ? -1 : 1));
  const published = new Set(
    skills.flatMap(({ resources }) => (resources === 'dynamic' ? [] : resources.map(({ uri }) => uri))),
  );
  return {
    skills,
    files: new Map(files.filter(({ uri }) => published.has(uri)).map((file) => [file.uri, file])),
    signature,
    warnings,
  };
}

async function walk(base: string, path: string, below: string, walked: Walked, seen: Set<string>): Promise<void> {
  const entries = await readdir(path, { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (IGNORED.has(entry.name)) continue;
    const child = join(path, entry.name);
    const childBelow = below === '' ? entry.name : `${below}/${entry.name}`;
    const refuse = (message: string) => walked.unservable.push({ path: childBelow, message });
    try {
      const real = entry.isSymbolicLink() ? await realpath(child) : child;
      if (real !== base && !real.startsWith(base + sep)) {
        refuse('the symbolic link leads out of the served directory');
        continue;
      }
      const stats = await stat(real, { bigint: true });
      if (stats.isDirectory()) {
        if (seen.has(real) || seen.size > DEPTH) refuse('the directory is reached in a circle, or nested too deeply');
        else await walk(base, real, childBelow, walked, new Set([...seen, real]));
      } else if (stats.isFile()) {
        const signature = `${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`;
        walked.files.push({ path: real, below: childBelow, signature });
      } else refuse('it is neither a file nor a directory');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT' && !entry.isSymbolicLink()) continue;
      refuse(error instanceof Error ? error.message : String(error));
    }
  }
}

async function scanFile(
  { path, below, signature }: Found,
  prefix: string,
  known: ScannedFile | undefined,
  warnings: ScanWarning[],
): Promise<ScannedFile | undefined> {
  const uri = fromTreePath(prefix === '' ? below : `${prefix}/${below}`);
  if (uri === undefined) {
    warnings.push({ path: below, message: 'the name cannot be a part of a URI' });
    return undefined;
  }
  if (known?.signature === signature && known.uri === uri) return known;
  try {
    const bytes = await readFile(path);
    return {
      path,
      uri,
      size: bytes.byteLength,
      digest: digestOf(bytes),
      signature,
      frontmatter: SKILL_MD.test(below) ? frontmatterOf(bytes) : undefined,
    };
  } catch (error) {
    warnings.push({ path: below, message: error instanceof Error ? error.message : String(error) });
    return undefined;
  }
}

export function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

function frontmatterOf(bytes: Uint8Array): SkillFrontmatter | string {
  try {
    return readFrontmatter(bytes).frontmatter as SkillFrontmatter;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function entryOf(
  root: string,
  inside: readonly ScannedFile[],
  unservable: readonly ScanWarning[],
  { prefix, limits }: ScanOptions,
  warnings: ScanWarning[],
): readonly Skill[] {
  const path = `${root}SKILL.md`;
  const skip = (message: string) => {
    warnings.push({ path, message: `the skill is not served: ${message}` });
    return [];
  };
  const bad = unservable.find((one) => one.path.startsWith(root));
  if (bad !== undefined) return skip(`${bad.path}: ${bad.message}`);
  const rootUri = fromTreePath(`${prefix === '' ? '' : `${prefix}/`}${root}`.replace(/\/$/, ''));
  if (rootUri === undefined) return skip('it has no skill path; give it one, or serve the directory above it');
  const skillMd = inside.find(({ uri }) => uri === `${rootUri}/SKILL.md`);
  if (skillMd === undefined) return skip('its SKILL.md could not be read');
  if (typeof skillMd.frontmatter === 'string') return skip(skillMd.frontmatter);
  const entry = {
    uri: skillMd.uri,
    frontmatter: skillMd.frontmatter,
    resources: [...inside]
      .sort((a, b) => (a.uri < b.uri ? -1 : 1))
      .map(({ uri, size, digest }) => ({ uri, digest, size })),
  };
  const checked = checkEntry(entry, limits, { dynamic: 'allow' });
  if ('refusal' in checked) return skip(checked.refusal.message);
  for (const message of checked.warnings) warnings.push({ path, message });
  return [entry as Skill];
}
