import type { CallOptions, McpClient } from '../client.ts';
import type { Dialect, DialectFactory, Listing, MadeEntry } from '../dialect.ts';
import { hasResources, type ListedResource, type ResourceWalk, readResource } from '../resources.ts';
import { entryOf, unlistedEntry } from './made-entry.ts';
import { isReserved } from './reserved.ts';

const SKILL_MD = '/SKILL.md';
/** `skill://<name>` or `skill://<server>/<name>`: a skill's URI in the oldest servers, which stands for its SKILL.md. */
const BARE = /^skill:\/\/(?:[^/?#]+\/)?[a-z0-9]+(?:-[a-z0-9]+)*$/;

/**
 * Servers that say nothing of skills and have some among their resources. A guess, made only on request (DRAFT-4):
 * whatever ends with `/SKILL.md` counts as a skill, and what is spelled like a skill without it.
 */
export const resourcesDialect: DialectFactory = async (client, options, walk) => {
  if (!hasResources(client)) return undefined;
  const { resources } = await walk.listing(options);
  return skillsAmong(resources).length > 0 ? new Resources(client, walk) : undefined;
};

class Resources implements Dialect {
  readonly name = 'resources';
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
    const { resources, ...rest } = await this.#walk.listing(options);
    return { entries: skillsAmong(resources), ...rest };
  }

  async get(uri: string, options: CallOptions): Promise<MadeEntry | undefined> {
    const { resources } = await this.#walk.listing(options);
    return skillsAmong(resources).find((entry) => entry.uri === uri) ?? unlistedEntry(this.#client, uri, options);
  }

  read(uri: string, options: CallOptions): Promise<unknown> {
    return readResource(this.#client, uri, options);
  }

  findChildren(uri: string, options: CallOptions) {
    return this.#walk.childrenOf(uri, options);
  }
}

function skillsAmong(resources: readonly ListedResource[]): readonly MadeEntry[] {
  const named = resources.filter(({ uri }) => !isReserved(uri));
  const explicit = named.filter(({ uri }) => uri.endsWith(SKILL_MD));
  const roots = new Set(explicit.map(({ uri }) => uri.slice(0, -SKILL_MD.length)));
  const bare = named.filter(({ uri, mimeType }) => BARE.test(uri) && isText(mimeType) && !roots.has(uri));
  for (const { uri } of bare) roots.add(uri);
  // What lies below a skill is a file of it.
  const outermost = bare.filter(({ uri }) => !roots.has(uri.slice(0, uri.lastIndexOf('/'))));
  return [
    ...explicit.map((resource) => entryOf(resource, 'dynamic')),
    ...outermost.map((resource) => bareEntryOf(resource)),
  ];
}

function bareEntryOf(resource: ListedResource): MadeEntry {
  return { ...entryOf({ ...resource, uri: resource.uri + SKILL_MD }, 'dynamic'), source: resource.uri };
}

/** A skill without an explicit SKILL.md is one Markdown text. */
function isText(mimeType: string | undefined): boolean {
  return mimeType === undefined || mimeType.startsWith('text/markdown') || mimeType.startsWith('text/plain');
}
