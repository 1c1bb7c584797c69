import { shortened } from '../base/quote.ts';

/**
 * Skill URIs and tree paths (MAP-1 to MAP-4).
 *
 * A URI is split on `/` first and each segment is decoded once, so an escape can never make a second separator. Nothing
 * is resolved or normalised: `new URL` throws on names that servers use, resolves `%2e%2e` and drops newlines.
 */

/** A skill URI taken apart. */
export interface ParsedUri {
  /** As the server spells it; `skill` exactly is the plain one. */
  readonly scheme: string;
  /** Decoded; the first one is the URI's authority, which is a name and no host (MAP-3). */
  readonly segments: readonly string[];
}

/** Why a URI is no skill URI. */
export interface UriProblem {
  /** A sentence that names the URI and what is wrong with it. */
  readonly problem: string;
  /** Set where the URI is well formed and lies outside the directory asked about. */
  readonly outside?: true;
}

/** Where a skill is, read off the URI of its SKILL.md. */
export interface SkillRoot {
  /** Without trailing slash, as the server spells it. */
  readonly rootUri: string;
  /** Path below the server's directory. */
  readonly treePath: string;
  /** Decoded; has to be the skill's name (MAP-2). */
  readonly lastSegment: string;
}

/** Bytes of one name in the tree, as UTF-8. */
const NAME_BYTES = 255;
/** Bytes of one path below the server's directory, as UTF-8. */
const PATH_BYTES = 4096;

/** Characters of a URI that can be the URI of a path at all: each byte may be escaped. */
const URI_CHARACTERS = 3 * PATH_BYTES + 1024;

const SKILL_MD = '/SKILL.md';
const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]*$/;
const LONE_SURROGATE = /\p{Surrogate}/u;
const BAD_ESCAPE = /%(?![0-9A-Fa-f]{2})/;
/** A first segment that would be taken for `@<scheme>`, after 0 or more rounds of escaping. */
const ESCAPED_AT = /^%(?:25)*40/;
/** What `encodeURIComponent` escapes although a path segment may hold it: `$ & + , : ; = @`. */
const ESCAPED_PLAIN = /%(?:24|26|2B|2C|3A|3B|3D|40)/g;
/** A segment that stands for itself: ASCII, no escape, neither `.` nor `..`, not over-long. */
const PLAIN_SEGMENT = String.raw`(?!\.{1,2}(?:/|$))[A-Za-z0-9 !$&'()*+,\-.:;=@_~]{1,${NAME_BYTES}}`;
const PLAIN_PATH = new RegExp(`^${PLAIN_SEGMENT}(?:/${PLAIN_SEGMENT})*$`);
/** Characters of a URI whose path cannot be over {@link PATH_BYTES}, whatever the characters are. */
const SURELY_SHORT = PATH_BYTES / 4;

/** Whether `value` is a problem and not the answer. */
export function isUriProblem<T extends object | string>(value: T | UriProblem): value is UriProblem {
  return typeof value === 'object' && 'problem' in value;
}

/** Takes a skill URI apart, or says what makes it unusable as a path. */
export function parseSkillUri(uri: string): ParsedUri | UriProblem {
  if (uri.length > URI_CHARACTERS) return problem(shortened(uri), `is a path of more than ${PATH_BYTES} bytes`);
  if (LONE_SURROGATE.test(uri)) return problem(uri, 'holds half of a surrogate pair');
  const colon = uri.indexOf('://');
  if (colon === -1) return problem(uri, 'has no "scheme://"');
  const scheme = uri.slice(0, colon);
  if (!SCHEME.test(scheme)) return problem(uri, `has the malformed scheme ${JSON.stringify(scheme)}`);
  const path = uri.slice(colon + 3);
  if (path.includes('?')) return problem(uri, 'has a query; a "?" in a name is spelled %3F');
  if (path.includes('#')) return problem(uri, 'has a fragment; a "#" in a name is spelled %23');
  const segments: string[] = [];
  for (const raw of path.split('/')) {
    const segment = decoded(raw);
    if (segment === undefined) {
      const what = BAD_ESCAPE.test(raw) ? 'a malformed escape' : 'escapes that are not UTF-8';
      return problem(uri, `has ${what} in the segment ${JSON.stringify(raw)}`);
    }
    const wrong = segmentProblem(segment);
    if (wrong !== undefined) return problem(uri, wrong);
    segments.push(segment);
  }
  const parsed = { scheme, segments };
  const tooLong = lengthProblem(toTreePath(parsed));
  return tooLong === undefined ? parsed : problem(uri, tooLong);
}

/**
 * The path of a URI below its server's directory: `skill://a/b` is `a/b`, `repo://a/b` is `@repo/a/b`. A first segment of
 * a `skill` path that begins with `@` begins with `%40` instead, and one that begins with `%40`, `%2540`, … has one
 * more `25`, so that two URIs have one path only if they have the same scheme and segments.
 */
export function toTreePath({ scheme, segments }: ParsedUri): string {
  const path = segments.join('/');
  if (scheme !== 'skill') return `@${scheme}/${path}`;
  if (path.startsWith('@')) return `%40${path.slice(1)}`;
  return ESCAPED_AT.test(path) ? `%25${path.slice(1)}` : path;
}

/**
 * The canonical URI of a tree path: the inverse of {@link toTreePath} up to spelling, with only those characters escaped
 * that a URI path cannot hold. `undefined` for a path that no skill URI has.
 */
export function fromTreePath(path: string): string | undefined {
  if (LONE_SURROGATE.test(path)) return undefined;
  let scheme = 'skill';
  let rest = path;
  if (path.startsWith('@')) {
    const cut = path.indexOf('/');
    scheme = path.slice(1, cut);
    if (cut === -1 || scheme === 'skill') return undefined;
    rest = path.slice(cut + 1);
  } else if (path.startsWith('%40')) rest = `@${path.slice(3)}`;
  else if (ESCAPED_AT.test(path)) rest = `%${path.slice(3)}`;
  const uri = `${scheme}://${rest.split('/').map(encoded).join('/')}`;
  return isUriProblem(parseSkillUri(uri)) ? undefined : uri;
}

/** The skill that a SKILL.md URI names: the URI ends with exactly `/SKILL.md`, below at least one segment (MAP-1). */
export function skillRootOf(skillMdUri: string): SkillRoot | UriProblem {
  if (!skillMdUri.endsWith(SKILL_MD)) return problem(skillMdUri, `does not end with ${SKILL_MD}`);
  const parsed = parseSkillUri(skillMdUri);
  if (isUriProblem(parsed)) return parsed;
  const segments = parsed.segments.slice(0, -1);
  const lastSegment = segments.at(-1);
  if (lastSegment === undefined) return problem(skillMdUri, `has no skill directory before ${SKILL_MD}`);
  const treePath = toTreePath({ scheme: parsed.scheme, segments });
  return { rootUri: skillMdUri.slice(0, -SKILL_MD.length), treePath, lastSegment };
}

/** Whether a skill may have this name: 1 to 64 of a-z, 0-9 and single inner hyphens (MAP-2). */
export function isSkillName(name: string): boolean {
  return name.length <= 64 && /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name);
}

/**
 * The decoded path of a file below a skill's root: `SKILL.md`, `references/a b.md`. A file that spells the root
 * differently (`a%2Db` for `a-b`) is inside it all the same.
 *
 * @param rootUri the root as {@link skillRootOf} gives it
 * @param rootTreePath the same root's tree path
 */
export function pathBelow(rootUri: string, rootTreePath: string, uri: string): string | UriProblem {
  // Begins with the root and a slash; this spelling takes half the time of `startsWith`, on every file of a listing.
  if (uri.length <= SURELY_SHORT && uri.charCodeAt(rootUri.length) === 0x2f && uri.lastIndexOf(rootUri, 0) === 0) {
    const below = uri.slice(rootUri.length + 1);
    if (PLAIN_PATH.test(below)) return below;
  }
  const parsed = parseSkillUri(uri);
  if (isUriProblem(parsed)) return parsed;
  const path = toTreePath(parsed);
  if (path.startsWith(`${rootTreePath}/`)) return path.slice(rootTreePath.length + 1);
  return { ...problem(uri, `is outside the skill's directory ${rootUri}`), outside: true };
}

function problem(uri: string, what: string): UriProblem {
  return { problem: `${uri} ${what}` };
}

function decoded(raw: string): string | undefined {
  try {
    return decodeURIComponent(raw);
  } catch {
    return undefined;
  }
}

function encoded(segment: string): string {
  return encodeURIComponent(segment).replace(ESCAPED_PLAIN, decodeURIComponent);
}

function segmentProblem(segment: string): string | undefined {
  if (segment === '') return 'has an empty segment';
  if (segment === '.' || segment === '..') return `has the segment ${JSON.stringify(segment)}`;
  for (const [char, name] of FORBIDDEN) {
    if (segment.includes(char)) return `has ${name} inside the segment ${JSON.stringify(segment)}`;
  }
  return undefined;
}

const FORBIDDEN = [
  ['/', 'a slash'],
  ['\\', 'a backslash'],
  ['\0', 'a NUL'],
] as const;

function lengthProblem(treePath: string): string | undefined {
  if (treePath.length * 3 <= NAME_BYTES) return undefined;
  if (utf8Length(treePath) > PATH_BYTES) return `is a path of more than ${PATH_BYTES} bytes`;
  const long = treePath.split('/').find((name) => utf8Length(name) > NAME_BYTES);
  return long === undefined ? undefined : `has a name of more than ${NAME_BYTES} bytes: ${JSON.stringify(long)}`;
}

const utf8 = new TextEncoder();

function utf8Length(text: string): number {
  return utf8.encode(text).byteLength;
}
