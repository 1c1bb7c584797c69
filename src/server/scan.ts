import { createHash } from 'node:crypto';
import { readFile, realpath } from 'node:fs/promises';
import type { Skill, SkillFrontmatter } from '@modelcontextprotocol/core/ext/skills';
import pLimit from 'p-limit';
import { checkEntry } from '../catalog/entry.ts';
import { readFrontmatter } from '../catalog/frontmatter.ts';
import type { SkillLimits } from '../catalog/types.ts';
import { fromTreePath, toTreePath } from '../catalog/uri.ts';
import { type FoundFile, reasonOf, type ScanWarning, signatureOf, type Walked, walk } from './walk.ts';

/** A file as it was when its digest was taken. */
export interface ScannedFile extends FoundFile {
  readonly uri: string;
  readonly digest: string;
  /** Of a SKILL.md; a string says why it cannot be read as one. */
  readonly frontmatter: SkillFrontmatter | string | undefined;
}

/** A directory as it was: immutable, replaced as a whole. */
export interface Snapshot {
  /** Sorted by URI. */
  readonly skills: readonly Skill[];
  /** What those skills consist of, by URI. */
  readonly files: ReadonlyMap<string, ScannedFile>;
  readonly warnings: readonly ScanWarning[];
  readonly walked: Walked;
  /** Files whose digest need not be taken again while their signature stays, by path below the directory. */
  readonly known: ReadonlyMap<string, ScannedFile>;
}

export interface ScanOptions {
  readonly directory: string;
  /** The skill path of `directory` itself: `''`, `acme`, or for a single skill `acme/billing/refunds`. */
  readonly prefix: string;
  /** Whether only the skill at `directory` itself is published, and those nested in it. */
  readonly single: boolean;
  readonly limits: SkillLimits;
}

/** Files that are read at the same time. */
const READS = 16;

const SKILL_MD = /(?:^|\/)SKILL\.md$/;

/**
 * Reads a directory of skills. A skill is a directory with a SKILL.md, at any depth; its skill path is its path. A skill
 * that is not valid, or that holds something that cannot be served, is left out with a warning that names it; the others
 * are served.
 *
 * @param before returned as it is when nothing has changed since
 * @throws what {@link walk} throws for the directory itself
 */
export async function scan(options: ScanOptions, before?: Snapshot): Promise<Snapshot> {
  const walked = await walk(await realpath(options.directory));
  if (before !== undefined && signatureOf(before.walked) === signatureOf(walked)) return before;

  const roots = new Map<string, ScannedFile[]>();
  for (const { below } of walked.files) if (SKILL_MD.test(below)) roots.set(below.slice(0, -'SKILL.md'.length), []);
  if (options.single && !roots.has('')) roots.clear();

  const limit = pLimit(READS);
  const known = new Map<string, ScannedFile>();
  const unservable = [...walked.unservable];
  await Promise.all(
    walked.files.map(async (found) => {
      const above = rootsAbove(found.below, roots);
      if (above.length === 0) return;
      const file = await limit(() => scanFile(found, options, before?.known.get(found.below)));
      if (file === undefined) return;
      if ('message' in file) return void unservable.push(file);
      known.set(file.below, file);
      for (const root of above) roots.get(root)?.push(file);
    }),
  );

  const warnings = unservable.filter(({ path }) => rootsAbove(path, roots).length === 0);
  const skills = [...roots].flatMap(([root, inside]) => {
    const bad = unservable.find(({ path }) => path.startsWith(root));
    const skill = bad === undefined ? entryOf(root, inside, options) : `${bad.path}: ${bad.message}`;
    if (typeof skill !== 'string') return [skill];
    warnings.push({ path: `${root}SKILL.md`, message: `the skill is not served: ${skill}` });
    return [];
  });
  warnings.push(...misspelled(walked.files, roots));
  skills.sort(byUri);
  const published = new Set(
    skills.flatMap(({ resources }) => (resources === 'dynamic' ? [] : resources)).map(({ uri }) => uri),
  );
  const files = [...known.values()].filter(({ uri }) => published.has(uri));
  return { skills, files: new Map(files.map((file) => [file.uri, file])), warnings, walked, known };
}

/**
 * Whether a skill is still what the snapshot says, from its own directory alone.
 *
 * @param root the skill's directory, with a trailing slash: `acme/billing/refunds/`
 */
export async function isCurrent({ directory }: ScanOptions, { walked }: Snapshot, root: string): Promise<boolean> {
  try {
    return signatureOf(await walk(await realpath(directory), root)) === signatureOf(walked, root);
  } catch {
    return false;
  }
}

/** The same snapshot without confidence in one file, whose bytes were not those of its digest: the next scan reads it. */
export function distrust(snapshot: Snapshot, { below }: ScannedFile): Snapshot {
  const known = new Map(snapshot.known);
  known.delete(below);
  const files = snapshot.walked.files.filter((file) => file.below !== below);
  return { ...snapshot, known, walked: { ...snapshot.walked, files } };
}

export function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

/** Files that mean to be a SKILL.md, in directories that hold none. */
function misspelled(files: readonly FoundFile[], roots: ReadonlyMap<string, unknown>): readonly ScanWarning[] {
  return files.flatMap(({ below }) => {
    const [, directory = '', name = ''] = /^(.*\/)?([^/]*)$/.exec(below) ?? [];
    const meant = /^skill\.md$/i.test(name) && name !== 'SKILL.md' && !roots.has(directory);
    return meant ? [{ path: below, message: 'the skill is not served: the file has to be called SKILL.md' }] : [];
  });
}

/** The skills whose directory holds a path: `''` for the served directory itself, else with a trailing slash. */
function rootsAbove(below: string, roots: ReadonlyMap<string, unknown>): readonly string[] {
  const above: string[] = roots.has('') ? [''] : [];
  for (let cut = below.indexOf('/'); cut !== -1; cut = below.indexOf('/', cut + 1)) {
    const root = below.slice(0, cut + 1);
    if (roots.has(root)) above.push(root);
  }
  return above;
}

/** `undefined` when the file was removed meanwhile. */
async function scanFile(
  found: FoundFile,
  { prefix, limits }: ScanOptions,
  known: ScannedFile | undefined,
): Promise<ScannedFile | ScanWarning | undefined> {
  const { path, below, size, signature } = found;
  if (known?.signature === signature && known.path === path) return known;
  const uri = uriAt(prefix, below);
  if (uri === undefined) return { path: below, message: 'its name cannot be a part of a URI' };
  if (size > limits.bytes) return { path: below, message: `it has more than ${limits.bytes} bytes` };
  try {
    const bytes = await readFile(path);
    const frontmatter = SKILL_MD.test(below) ? frontmatterOf(bytes) : undefined;
    return { path, below, signature, uri, size: bytes.byteLength, digest: digestOf(bytes), frontmatter };
  } catch (error) {
    const reason = reasonOf(error);
    return reason === 'ENOENT' ? undefined : { path: below, message: reason };
  }
}

/** The URI of a path below the directory; the authority is spelled so that it has neither user nor port (MAP-3). */
function uriAt(prefix: string, below: string): string | undefined {
  const segments = [prefix, below].flatMap((part) => part.split('/')).filter((segment) => segment !== '');
  const uri = fromTreePath(toTreePath({ scheme: 'skill', segments }));
  return uri?.replace(/(?<=^skill:\/\/[^/]*)[:@]/g, encodeURIComponent);
}

function frontmatterOf(bytes: Uint8Array): SkillFrontmatter | string {
  try {
    return readFrontmatter(bytes).frontmatter as SkillFrontmatter;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** The skill's entry, or why it has none. */
function entryOf(root: string, inside: readonly ScannedFile[], { prefix, limits }: ScanOptions): Skill | string {
  const skillMd = inside.find(({ below }) => below === `${root}SKILL.md`);
  if (skillMd === undefined) return 'its SKILL.md was removed meanwhile';
  if (typeof skillMd.frontmatter === 'string') return skillMd.frontmatter;
  if (root === '' && prefix === '') return 'it has no skill path; serve the directory above it, or give it a prefix';
  const entry = {
    uri: skillMd.uri,
    frontmatter: skillMd.frontmatter,
    resources: inside.map(({ uri, size, digest }) => ({ uri, digest, size })).sort(byUri),
  };
  const checked = checkEntry(entry, limits, { dynamic: 'allow' });
  if ('refusal' in checked) return checked.refusal.message;
  // What a client may accept with a warning, a server should not publish: others refuse it.
  return checked.warnings[0] ?? (entry as Skill);
}

function byUri(a: { readonly uri: string }, b: { readonly uri: string }): number {
  return a.uri < b.uri ? -1 : 1;
}
