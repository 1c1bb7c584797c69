import { nestsDeeper } from '../base/depth.ts';
import { quoted, shortened } from '../base/quote.ts';
import type { ManifestFile, Refusal, SkillEntry, SkillFrontmatter, SkillLimits } from './types.ts';
import { isSkillName, isUriProblem, pathBelow, type SkillRoot, skillRootOf } from './uri.ts';

export interface EntryOptions {
  /** Whether skills whose files cannot be verified are taken at all (VER-5). */
  readonly dynamic: 'allow' | 'deny';
  /**
   * Whether entries come from the server as they are (default), so that their frontmatter is SKILL.md's; else they were made
   * of what a server without entries tells, and say in `compared` and `source` what that is (DRAFT-2).
   */
  readonly verbatim?: boolean;
  /** A directory that no skill may lie in, as something else is mounted there. */
  readonly taken?: string;
}

export type CheckedEntry =
  /** `warnings` are sentences about what is unusual and was accepted. */
  { readonly entry: SkillEntry; readonly warnings: readonly string[] } | { readonly refusal: Refusal };

type Problem = Omit<Refusal, 'uri'>;

type MadeFields = Pick<SkillEntry, 'compared' | 'source'>;

/** Characters of a description, beyond which the specification of Agent Skills does not go. */
const DESCRIPTION_CHARACTERS = 1024;
/** Characters of the `compatibility` field, likewise. */
const COMPATIBILITY_CHARACTERS = 500;

/** Levels of an entry: the frontmatter of a SKILL.md that can be read has 32, and stands below the entry. */
const DEPTH = 40;

const DIGEST = /^sha256:[0-9a-f]+$/;
const DIGEST_LENGTH = 'sha256:'.length + 64;

/**
 * Checks one entry of a listing, or the skill of a `skills/get` answer (ENT-1 to ENT-3, ENT-5, ENT-7, LIM-1). The first
 * rule it breaks refuses it. Fields that are not known, `_meta` among them, say nothing here (ENT-6).
 *
 * The entry keeps the frontmatter and the resource objects of `value`, which are never modified.
 *
 * Accepted with a warning, where the SDK's own check refuses: a description over 1,024 characters; a `compatibility` that is no
 * text of 1 to 500 characters; `metadata` that maps to something else than strings. Real skills have all three, and
 * nothing here depends on them. Names, URIs, sizes and digests are as strict as there.
 */
export function checkEntry(value: unknown, limits: SkillLimits, options: EntryOptions): CheckedEntry {
  if (!isObject(value)) return { refusal: { reason: 'not-an-object', message: 'the entry is no object' } };
  const { uri, frontmatter, resources } = value;
  if (typeof uri !== 'string') return { refusal: { reason: 'uri', message: 'the entry has no uri' } };
  const refuse = ({ reason, message }: Problem) => ({ refusal: { uri, reason, message: shortened(message) } });

  if (nestsDeeper(value, DEPTH)) {
    return refuse({ reason: 'too-deep', message: `${uri} has an entry that nests deeper than ${DEPTH} levels` });
  }
  const root = skillRootOf(uri);
  if (isUriProblem(root)) return refuse({ reason: 'uri', message: root.problem });
  if (options.taken !== undefined && `${root.treePath}/`.startsWith(`${options.taken}/`)) {
    return refuse({
      reason: 'uri',
      message: `${uri} would lie in ${options.taken}, where other resources are mounted`,
    });
  }
  const unfit = frontmatterProblem(frontmatter, uri, root);
  if (unfit !== undefined) return refuse(unfit);
  const made = options.verbatim === false ? (value as Partial<MadeFields>) : {};
  const checked = {
    uri,
    root: root.treePath,
    frontmatter: frontmatter as SkillFrontmatter,
    ...(made.compared !== undefined && { compared: made.compared }),
    ...(made.source !== undefined && { source: made.source }),
  };
  const warnings = frontmatterWarnings(checked.frontmatter, uri);

  if (resources === 'dynamic') {
    if (options.dynamic === 'allow') return { entry: { ...checked, resources, bytes: 0 }, warnings };
    return refuse({ reason: 'dynamic-denied', message: `${uri} is dynamic, and dynamic skills are denied` });
  }
  if (!Array.isArray(resources)) {
    const found = resources === undefined ? 'no resources' : `resources that are neither an array nor "dynamic"`;
    return refuse({ reason: 'resources', message: `${uri} has ${found}` });
  }
  const wrong = manifestProblem(resources, uri, root);
  if (wrong !== undefined) return refuse(wrong);
  const files: readonly ManifestFile[] = resources;
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  if (files.length > limits.files || bytes > limits.bytes) {
    const message =
      `${uri} has ${files.length} files of ${bytes} bytes together, ` +
      `the limits are ${limits.files} files and ${limits.bytes} bytes`;
    if (limits.over === 'refuse') return refuse({ reason: 'over-limit', message });
    warnings.push(message);
  }
  return { entry: { ...checked, resources: files, bytes }, warnings };
}

/** ENT-1, MAP-2 */
function frontmatterProblem(frontmatter: unknown, uri: string, { lastSegment }: SkillRoot): Problem | undefined {
  if (!isObject(frontmatter)) return { reason: 'frontmatter', message: `${uri} has no frontmatter object` };
  const { name, description } = frontmatter;
  if (typeof name !== 'string') return { reason: 'name', message: `${uri} has no frontmatter name` };
  if (!isSkillName(name)) {
    const rule = 'no 1 to 64 of a-z, 0-9 and single inner hyphens';
    return { reason: 'name', message: `${uri} has the frontmatter name ${quoted(name)}, which is ${rule}` };
  }
  if (name !== lastSegment) {
    const directory = JSON.stringify(lastSegment);
    return { reason: 'name', message: `${uri} has the frontmatter name "${name}" in a directory ${directory}` };
  }
  if (typeof description !== 'string' || description === '') {
    return { reason: 'description', message: `${uri} has no frontmatter description` };
  }
  return undefined;
}

function frontmatterWarnings(frontmatter: SkillFrontmatter, uri: string): string[] {
  const { description, compatibility, metadata } = frontmatter as Record<string, unknown>;
  const warnings: string[] = [];
  if (!isText(description, DESCRIPTION_CHARACTERS)) {
    warnings.push(`${uri} has a description of more than ${DESCRIPTION_CHARACTERS} characters`);
  }
  if (compatibility !== undefined && !isText(compatibility, COMPATIBILITY_CHARACTERS)) {
    warnings.push(`${uri} has a compatibility field that is no text of 1 to ${COMPATIBILITY_CHARACTERS} characters`);
  }
  if (metadata !== undefined && !(isObject(metadata) && Object.values(metadata).every((v) => typeof v === 'string'))) {
    warnings.push(`${uri} has metadata that does not map names to texts`);
  }
  return warnings;
}

/** Whether `value` is a text of 1 to `limit` characters, counted as code points. */
function isText(value: unknown, limit: number): boolean {
  if (typeof value !== 'string' || value === '') return false;
  return value.length <= limit || (value.length <= limit * 2 && [...value].length <= limit);
}

/** ENT-3, ENT-7. One pass for the files, one for the few directories. */
function manifestProblem(resources: readonly unknown[], uri: string, root: SkillRoot): Problem | undefined {
  const files = new Set<string>();
  const directories = new Set<string>();
  // Of the file before, up to its last slash: manifests list a directory's files together.
  let directory = '';
  for (const file of resources) {
    const index = files.size;
    if (!isObject(file) || typeof file['uri'] !== 'string') {
      return { reason: 'resources', message: `resource ${index} of ${uri} is no object with a uri` };
    }
    const path = pathBelow(root.rootUri, root.treePath, file['uri']);
    if (isUriProblem(path)) return { reason: path.outside ? 'outside-root' : 'uri', message: path.problem };
    if (files.add(path).size === index) return repeated(resources, index, path, root);
    const wrong = digestProblem(file['digest'], file['uri']) ?? sizeProblem(file['size'], file['uri']);
    if (wrong !== undefined) return wrong;
    if (path.lastIndexOf(directory, 0) !== 0 || path.indexOf('/', directory.length) !== -1) {
      directory = path.slice(0, path.lastIndexOf('/') + 1);
      directories.add(directory);
    }
  }
  if (!files.has('SKILL.md')) {
    return { reason: 'missing-skill-md', message: `the resources of ${uri} do not include it` };
  }
  for (const directory of directories) {
    for (let cut = directory.length - 1; cut > 0; cut = directory.lastIndexOf('/', cut - 1)) {
      const path = directory.slice(0, cut);
      if (files.has(path)) {
        return { reason: 'file-and-directory', message: `${root.rootUri}/${path} is both a file and a directory` };
      }
    }
  }
  return undefined;
}

/** `resources[index]` has the path of an earlier resource: under the same URI, or under another spelling of it. */
function repeated(resources: readonly unknown[], index: number, path: string, root: SkillRoot): Problem {
  const earlier = (resources.slice(0, index) as ManifestFile[]).map((file) => file.uri);
  const { uri } = resources[index] as ManifestFile;
  if (earlier.includes(uri)) return { reason: 'duplicate-file', message: `${uri} is listed more than once` };
  const other = earlier.find((one) => pathBelow(root.rootUri, root.treePath, one) === path);
  return { reason: 'same-path', message: `${other} and ${uri} are two spellings of one path` };
}

function digestProblem(digest: unknown, uri: string): Problem | undefined {
  if (isDigest(digest)) return undefined;
  const what =
    digest === undefined
      ? 'no digest'
      : typeof digest === 'string' && isDigest(digest.toLowerCase())
        ? `the digest ${digest}, which is not in lower case`
        : `the digest ${quoted(digest)}, which is not "sha256:" and 64 hexadecimal digits`;
  return { reason: 'digest', message: `${uri} has ${what}` };
}

function isDigest(value: unknown): boolean {
  return typeof value === 'string' && value.length === DIGEST_LENGTH && DIGEST.test(value);
}

function sizeProblem(size: unknown, uri: string): Problem | undefined {
  if (Number.isSafeInteger(size) && (size as number) >= 0) return undefined;
  const what = size === undefined ? 'no size' : `the size ${quoted(size)}, which is no number of bytes`;
  return { reason: 'size', message: `${uri} has ${what}` };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
