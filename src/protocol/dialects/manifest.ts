import { LISTING_REQUESTS } from '../../base/limits.ts';
import { jsonOf, record } from '../answers.ts';
import type { CallOptions, McpClient } from '../client.ts';
import type { Dialect, DialectFactory, Listing, MadeEntry } from '../dialect.ts';
import { hasResources, type ListedResource, type ResourceWalk, readResource } from '../resources.ts';
import { MalformedResult } from '../wire-errors.ts';
import { entryOf } from './made-entry.ts';
import { isReserved } from './reserved.ts';

const SKILL_MD = '/SKILL.md';
const MANIFEST = '/_manifest';

/**
 * Servers made with FastMCP before it spoke the extension: `skill://<name>/SKILL.md` among the resources, and beside it
 * `skill://<name>/_manifest` with path, size and hash of every file. What is read is held against it (DRAFT-4).
 */
export const manifestDialect: DialectFactory = async (client, options, walk) => {
  if (!hasResources(client)) return undefined;
  const { resources } = await walk.listing(options);
  return resources.some(({ uri }) => isManifest(uri)) ? new Manifests(client, walk) : undefined;
};

class Manifests implements Dialect {
  readonly name = 'manifest';
  readonly verbatim = false;
  readonly #client: McpClient;
  readonly #walk: ResourceWalk;
  /** Whether the walk that found the dialect was not used as a listing yet. */
  #found = true;

  constructor(client: McpClient, walk: ResourceWalk) {
    this.#client = client;
    this.#walk = walk;
  }

  async list(options: CallOptions): Promise<Listing> {
    if (!this.#found) this.#walk.forget();
    this.#found = false;
    const { resources, partial, ttlMs } = await this.#walk.listing(options);
    const manifests = new Set(
      resources.flatMap(({ uri }) => (isManifest(uri) ? [uri.slice(0, -MANIFEST.length)] : [])),
    );
    const skills = resources.filter(
      ({ uri }) => uri.endsWith(SKILL_MD) && !isReserved(uri) && !isFileOfOther(uri, manifests),
    );
    const notes: string[] = [];
    const entries = await inParallel(skills, async (skill) => {
      const root = skill.uri.slice(0, -SKILL_MD.length);
      if (!manifests.has(root)) return entryOf(skill, 'dynamic');
      try {
        return (await this.#withManifest(skill, options)) ?? entryOf(skill, 'dynamic');
      } catch (error) {
        options.signal.throwIfAborted();
        // An entry without resources is refused with this reason in the notes; the others load (ENT-5).
        notes.push(`${root}${MANIFEST} cannot be used: ${error instanceof Error ? error.message : String(error)}`);
        return entryOf(skill, undefined);
      }
    });
    return {
      entries,
      ...(partial !== undefined && { partial }),
      ...(notes.length > 0 && { notes }),
      ...(ttlMs !== undefined && { ttlMs }),
    };
  }

  async get(uri: string, options: CallOptions): Promise<MadeEntry | undefined> {
    const { resources } = await this.#walk.listing(options);
    const skill = resources.find((resource) => resource.uri === uri) ?? { uri };
    return this.#withManifest(skill, options);
  }

  read(uri: string, options: CallOptions): Promise<unknown> {
    return readResource(this.#client, uri, options);
  }

  findChildren(uri: string, options: CallOptions) {
    return this.#walk.childrenOf(uri, options);
  }

  async #withManifest(skill: ListedResource, options: CallOptions): Promise<MadeEntry | undefined> {
    const root = skill.uri.slice(0, -SKILL_MD.length);
    const manifest = root + MANIFEST;
    const result = await readResource(this.#client, manifest, options);
    if (result === undefined) return undefined;
    const files = record(jsonOf(result, manifest))?.['files'];
    if (!Array.isArray(files)) throw new MalformedResult(`${manifest} has no files array`);
    const resources = files.map((file) => {
      const { path, size, hash } = record(file) ?? {};
      return { uri: typeof path === 'string' ? `${root}/${spelled(path)}` : path, size, digest: hash };
    });
    return entryOf(skill, resources);
  }
}

function isManifest(uri: string): boolean {
  // Of a skill: `skill://_manifest` is none's.
  return uri.startsWith('skill://') && uri.endsWith(MANIFEST) && uri.length > 'skill:/'.length + MANIFEST.length;
}

/** Whether a SKILL.md has no manifest of its own and lies in a skill that has one: a file of that, as its manifest says. */
function isFileOfOther(skillMd: string, manifests: ReadonlySet<string>): boolean {
  const root = skillMd.slice(0, -SKILL_MD.length);
  if (manifests.has(root)) return false;
  for (let cut = root.lastIndexOf('/'); cut > 'skill://'.length; cut = root.lastIndexOf('/', cut - 1)) {
    if (manifests.has(root.slice(0, cut))) return true;
  }
  return false;
}

/** A path of a manifest as these servers spell it in URIs. */
function spelled(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

/** Maps in order, with a bounded number under way. */
async function inParallel<T, R>(items: readonly T[], map: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const next = items.entries();
  const run = async () => {
    for (const [index, item] of next) results[index] = await map(item);
  };
  await Promise.all(Array.from({ length: LISTING_REQUESTS }, run));
  return results;
}
