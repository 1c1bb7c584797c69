import { LISTING_LIMITS, TEMPLATES } from '../../base/limits.ts';
import { quoted } from '../../base/quote.ts';
import { jsonOf, record } from '../answers.ts';
import type { CallOptions, McpClient } from '../client.ts';
import type { Dialect, DialectFactory, Listing, MadeEntry, ResourceTemplate } from '../dialect.ts';
import { hasResources, type ResourceWalk, readResource } from '../resources.ts';
import { MalformedResult } from '../wire-errors.ts';
import { unlistedEntry } from './made-entry.ts';

const INDEX = 'skill://index.json';

/**
 * The earlier draft of the specification: skills are named by the resource `skill://index.json`, their files have no
 * digests, and are found among the server's resources or by reading (DRAFT-1, DRAFT-2).
 */
export const indexJsonDialect: DialectFactory = async (client, options, walk) => {
  if (!hasResources(client)) return undefined;
  const index = await readIndex(client, options);
  return index && new IndexJson(client, walk, index);
};

class IndexJson implements Dialect {
  readonly name = 'index-json';
  readonly verbatim = false;
  readonly #client: McpClient;
  readonly #walk: ResourceWalk;
  /** What was read to find the dialect: the first listing. */
  #found: Listing | undefined;
  #listed: ReadonlyMap<string, MadeEntry>;

  constructor(client: McpClient, walk: ResourceWalk, found: Listing) {
    this.#client = client;
    this.#walk = walk;
    this.#found = found;
    this.#listed = byUri(found);
  }

  async list(options: CallOptions): Promise<Listing> {
    const listing = this.#found ?? (await readIndex(this.#client, options));
    this.#found = undefined;
    if (listing === undefined) throw new MalformedResult(`${INDEX} was there, and is not any more`);
    this.#listed = byUri(listing);
    this.#walk.forget();
    return listing;
  }

  /** The entry as the index has it now; of a skill that it does not name, that there is a SKILL.md. */
  async get(uri: string, options: CallOptions): Promise<MadeEntry | undefined> {
    if (this.#listed.has(uri)) {
      const index = await readIndex(this.#client, options);
      const entry = index && byUri(index).get(uri);
      if (entry !== undefined) return entry;
    }
    return unlistedEntry(this.#client, uri, options);
  }

  read(uri: string, options: CallOptions): Promise<unknown> {
    return readResource(this.#client, uri, options);
  }

  findChildren(uri: string, options: CallOptions) {
    return this.#walk.childrenOf(uri, options);
  }
}

async function readIndex(client: McpClient, options: CallOptions): Promise<Listing | undefined> {
  const result = await readResource(client, INDEX, options);
  if (result === undefined) return undefined;
  const skills = record(jsonOf(result, INDEX))?.['skills'];
  if (!Array.isArray(skills)) throw new MalformedResult(`${INDEX} has no skills array`);
  const ttlMs = record(result)?.['ttlMs'];
  const entries: unknown[] = [];
  const templates: ResourceTemplate[] = [];
  const skipped = new Map<string, number>();
  for (const skill of skills.map(record)) {
    const { type, name, description, url } = skill ?? {};
    if (type === 'skill-md') {
      const frontmatter = { name, description };
      entries.push({ uri: url, frontmatter, resources: 'dynamic', compared: ['name', 'description'] });
    } else if (type === 'mcp-resource-template' && typeof url === 'string') {
      templates.push({ uriTemplate: url, ...(typeof description === 'string' && { description }) });
    } else {
      const what = type === undefined ? 'no type' : `the type ${quoted(type)}`;
      skipped.set(what, (skipped.get(what) ?? 0) + 1);
    }
  }
  const notes = [...skipped].map(
    ([what, count]) => `${INDEX} has entries of ${what}, which are not known here and were skipped: ${count}`,
  );
  const cut = entries.length > LISTING_LIMITS.entries || templates.length > TEMPLATES;
  return {
    entries: entries.slice(0, LISTING_LIMITS.entries),
    templates: templates.slice(0, TEMPLATES),
    ...(cut && { partial: `cut at ${LISTING_LIMITS.entries} skills and ${TEMPLATES} templates` }),
    ...(notes.length > 0 && { notes }),
    ...(typeof ttlMs === 'number' && { ttlMs }),
  };
}

function byUri({ entries }: Listing): ReadonlyMap<string, MadeEntry> {
  return new Map((entries as readonly MadeEntry[]).map((entry) => [entry.uri, entry]));
}
