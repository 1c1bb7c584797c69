import { RESOURCE_LIMITS } from '../base/limits.ts';
import { absentAsUndefined, record } from './answers.ts';
import { type CallOptions, call, type McpClient } from './client.ts';
import type { DirectoryChild } from './dialect.ts';
import { walkPages } from './dialects/paging.ts';
import { MalformedResult } from './wire-errors.ts';

/** One of a server's resources as `resources/list` tells of it. */
export interface ListedResource {
  readonly uri: string;
  readonly description?: string;
  readonly mimeType?: string;
}

/** Everything a server lists of its resources, as far as the bounds let it. */
export interface ResourceListing {
  readonly resources: readonly ListedResource[];
  readonly partial?: string;
  readonly ttlMs?: number;
}

/** Whether the server has resources at all; without them, nothing is asked. */
export function hasResources(client: McpClient): boolean {
  return record(record(client.getServerCapabilities())?.['resources']) !== undefined;
}

/** The unchecked result of `resources/read`; `undefined` when there is no such resource. */
export function readResource(client: McpClient, uri: string, options: CallOptions): Promise<unknown> {
  return absentAsUndefined(call(client, 'resources/read', { uri }, options));
}

/** The resources of one server, walked once for everybody who asks, until they are forgotten. */
export class ResourceWalk {
  readonly #client: McpClient;
  #walk: { readonly listing: Promise<ResourceListing>; readonly signal: AbortSignal } | undefined;
  #children: ReadonlyMap<string, ReadonlyMap<string, DirectoryChild>> | undefined;

  constructor(client: McpClient) {
    this.#client = client;
  }

  /** Whoever asks next gets what is there then. */
  forget(): void {
    this.#walk = undefined;
    this.#children = undefined;
  }

  async listing(options: CallOptions): Promise<ResourceListing> {
    const shared = this.#walk;
    if (shared !== undefined) {
      try {
        return await shared.listing;
      } catch (error) {
        // That somebody else gave up is nothing to those who share the walk.
        if (!shared.signal.aborted || options.signal.aborted) throw error;
      }
    }
    const walk = { listing: walkResources(this.#client, options), signal: options.signal };
    this.#walk = walk;
    walk.listing.catch(() => {
      if (this.#walk === walk) this.forget();
    });
    return walk.listing;
  }

  /** The direct children of a directory, read off the URIs below it; directories are there because files are. */
  async childrenOf(uri: string, options: CallOptions): Promise<readonly DirectoryChild[]> {
    const { resources } = await this.listing(options);
    this.#children ??= childrenByDirectory(resources);
    return [...(this.#children.get(uri)?.values() ?? [])];
  }
}

/** Walks `resources/list`; nothing is asked of a server without resources, and absence is an empty list. */
export async function walkResources(client: McpClient, options: CallOptions): Promise<ResourceListing> {
  if (!hasResources(client)) return { resources: [] };
  let ttlMs: number | undefined;
  const walk = walkPages({
    fetch: async (cursor) => {
      const page = record(await call(client, 'resources/list', cursor === undefined ? {} : { cursor }, options));
      if (!Array.isArray(page?.['resources'])) {
        throw new MalformedResult('resources/list answered without a resources array');
      }
      if (cursor === undefined && typeof page['ttlMs'] === 'number') ttlMs = page['ttlMs'];
      return { items: page['resources'] as readonly unknown[], nextCursor: page['nextCursor'] };
    },
    keyOf: (resource) => record(resource)?.['uri'],
    pages: RESOURCE_LIMITS.pages,
    items: RESOURCE_LIMITS.resources,
    ms: options.timeout,
  });
  const { items, partial } = (await absentAsUndefined(walk)) ?? { items: [], partial: undefined };
  const resources = items.flatMap((item): ListedResource[] => {
    const { uri, description, mimeType } = record(item) ?? {};
    if (typeof uri !== 'string') return [];
    return [
      {
        uri,
        ...(typeof description === 'string' && { description }),
        ...(typeof mimeType === 'string' && { mimeType }),
      },
    ];
  });
  return { resources, ...(partial !== undefined && { partial }), ...(ttlMs !== undefined && { ttlMs }) };
}

function childrenByDirectory(resources: readonly ListedResource[]): Map<string, Map<string, DirectoryChild>> {
  const directories = new Map<string, Map<string, DirectoryChild>>();
  for (const resource of resources) {
    // A manifest of the `manifest` dialect is about a skill, and no file of it.
    if (resource.uri.endsWith('/_manifest')) continue;
    let child: DirectoryChild = { uri: resource.uri, kind: 'file' };
    for (let cut = child.uri.lastIndexOf('/'); cut > child.uri.indexOf('://') + 2; cut = child.uri.lastIndexOf('/')) {
      const uri = child.uri.slice(0, cut);
      const children = directories.get(uri);
      const known = children?.get(child.uri);
      if (children === undefined) directories.set(uri, new Map([[child.uri, child]]));
      else if (known?.kind !== 'directory') children.set(child.uri, child);
      // The directories above a known child are known, too.
      if (known !== undefined) break;
      child = { uri, kind: 'directory' };
    }
  }
  return directories;
}
