import type { Skill, SkillSource } from '@modelcontextprotocol/server/ext/skills';
import { DIRECTORY_MIME_TYPE } from '@modelcontextprotocol/server/ext/skills';
import { checkEntry } from '../catalog/entry.ts';
import { readFrontmatter } from '../catalog/frontmatter.ts';
import { fromTreePath, isUriProblem, parseSkillUri, toTreePath } from '../catalog/uri.ts';
import { digestOf } from '../content/verify.ts';

const SKILL_MD = 'SKILL.md';

/** Files as a server of skills knows them. */
export interface MemoryCatalog {
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** One entry for each SKILL.md, with all files at and below its directory. */
  readonly skills: readonly Skill[];
}

/**
 * @param dynamic paths of the skills that publish no manifest
 * @throws Error naming the SKILL.md that makes no valid entry
 */
export function catalogOf(files: ReadonlyMap<string, Uint8Array>, dynamic: ReadonlySet<string>): MemoryCatalog {
  const skills = [...files].flatMap(([path, bytes]) => {
    if (!path.endsWith(`/${SKILL_MD}`)) return [];
    const root = path.slice(0, -SKILL_MD.length);
    return [entryOf(path, bytes, dynamic.has(root.slice(0, -1)) ? 'dynamic' : manifestOf(files, root))];
  });
  return { files, skills };
}

function entryOf(path: string, skillMd: Uint8Array, resources: Skill['resources']): Skill {
  try {
    const entry = { uri: uriOf(path), frontmatter: readFrontmatter(skillMd).frontmatter, resources };
    const checked = checkEntry(entry, { files: Infinity, bytes: Infinity, over: 'allow' }, { dynamic: 'allow' });
    if ('refusal' in checked) throw new Error(checked.refusal.message);
    return entry as Skill;
  } catch (error) {
    throw new Error(`${path} makes no skill entry: ${(error as Error).message}`, { cause: error });
  }
}

function manifestOf(files: ReadonlyMap<string, Uint8Array>, root: string): Exclude<Skill['resources'], 'dynamic'> {
  const inside = [...files].filter(([path]) => path.startsWith(root));
  return inside.map(([path, bytes]) => ({ uri: uriOf(path), digest: digestOf(bytes), size: bytes.byteLength }));
}

/** What a source says, and how faults change it. */
export interface MemorySourceOptions {
  /** Asked at every call. */
  readonly catalog: () => MemoryCatalog;
  readonly directoryRead: boolean;
  /** How many entries a listing has at most. */
  readonly listed: () => number;
  /** What is served for the bytes of a file. */
  readonly serve: (path: string, bytes: Uint8Array) => Uint8Array;
}

/** Serves a catalog through the SDK's own extension. */
export function memorySource({ catalog, directoryRead, listed, serve }: MemorySourceOptions): SkillSource {
  const readDirectory: SkillSource['readDirectory'] = async (uri) => {
    const resources = childrenOf(catalog().files, pathOf(uri));
    return resources.length === 0 ? undefined : { resources };
  };
  return {
    list: async () => ({ skills: catalog().skills.slice(0, listed()) }),
    get: async (uri) => catalog().skills.find((skill) => pathOf(skill.uri) === pathOf(uri)),
    read: async (uri) => {
      const path = pathOf(uri);
      const bytes = path === undefined ? undefined : catalog().files.get(path);
      return path === undefined || bytes === undefined ? undefined : contentOf(path, serve(path, bytes));
    },
    ...(directoryRead && { readDirectory }),
  };
}

function childrenOf(files: ReadonlyMap<string, Uint8Array>, path: string | undefined) {
  if (path === undefined) return [];
  const names = new Map<string, boolean>();
  for (const file of files.keys()) {
    if (!file.startsWith(`${path}/`)) continue;
    const [name = '', ...below] = file.slice(path.length + 1).split('/');
    names.set(name, below.length > 0);
  }
  return [...names].map(([name, isDirectory]) => ({
    uri: uriOf(`${path}/${name}`),
    name,
    ...(isDirectory && { mimeType: DIRECTORY_MIME_TYPE }),
  }));
}

/** Text where the bytes are UTF-8, so that both kinds of content occur. */
function contentOf(path: string, bytes: Uint8Array) {
  const mimeType = path.endsWith('.md') ? { mimeType: 'text/markdown' } : {};
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return { text, ...mimeType };
  } catch {
    return { bytes };
  }
}

/** The tree path a URI stands for; spellings of one path are one. */
export function pathOf(uri: string): string | undefined {
  const parsed = parseSkillUri(uri);
  return isUriProblem(parsed) ? undefined : toTreePath(parsed);
}

function uriOf(path: string): string {
  const uri = fromTreePath(path);
  if (uri === undefined) throw new TypeError(`${JSON.stringify(path)} cannot be the path of a skill URI`);
  return uri;
}
