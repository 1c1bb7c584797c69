import {
  DIRECTORY_MIME_TYPE,
  RESOURCES_DIRECTORY_READ_METHOD,
  SKILLS_GET_METHOD,
  SKILLS_LIST_METHOD,
  skillsCapabilityOf,
} from '@modelcontextprotocol/core/ext/skills';
import { DIRECTORY_LIMITS, LISTING_LIMITS } from '../../base/limits.ts';
import { absentAsUndefined, record, unknownAsUndefined } from '../answers.ts';
import { type CallOptions, call, type McpClient } from '../client.ts';
import type { Dialect, DirectoryChild, Listing } from '../dialect.ts';
import { MalformedResult } from '../wire-errors.ts';
import { walkPages } from './paging.ts';

/** The final specification, on either protocol era; spoken only where the server declares it (NEG-1). */
export function skillsDialect(client: McpClient): Dialect | undefined {
  const capability = skillsCapabilityOf(client.getServerCapabilities() as { extensions?: Record<string, unknown> });
  if (capability === undefined) return undefined;
  return {
    name: 'skills',
    verbatim: true,
    list: (options) => list(client, options),
    get: (uri, options) => get(client, uri, options),
    read: (uri, options) => absentAsUndefined(call(client, 'resources/read', { uri }, options)),
    ...(capability.directoryRead === true && {
      readDirectory: (uri: string, options: CallOptions) => readDirectory(client, uri, options),
    }),
  };
}

async function list(client: McpClient, options: CallOptions): Promise<Listing> {
  let hints: Pick<Listing, 'ttlMs' | 'cacheScope'> = {};
  const { items, partial } = await walkPages({
    fetch: async (cursor) => {
      const page = record(await call(client, SKILLS_LIST_METHOD, cursor === undefined ? {} : { cursor }, options));
      if (!Array.isArray(page?.['skills']))
        throw new MalformedResult(`${SKILLS_LIST_METHOD} answered without a skills array`);
      if (cursor === undefined) hints = hintsOf(page);
      return { items: page['skills'] as readonly unknown[], nextCursor: page['nextCursor'] };
    },
    keyOf: (entry) => record(entry)?.['uri'],
    pages: LISTING_LIMITS.pages,
    items: LISTING_LIMITS.entries,
    ms: options.timeout,
  });
  return { entries: items, ...(partial !== undefined && { partial }), ...hints };
}

function hintsOf({ ttlMs, cacheScope }: Readonly<Record<string, unknown>>): Pick<Listing, 'ttlMs' | 'cacheScope'> {
  return {
    ...(typeof ttlMs === 'number' && { ttlMs }),
    ...((cacheScope === 'public' || cacheScope === 'private') && { cacheScope }),
  };
}

async function get(client: McpClient, uri: string, options: CallOptions): Promise<unknown> {
  // A server that lists and has no way to be asked for one skill has said all that it has to say.
  const result = await unknownAsUndefined(call(client, SKILLS_GET_METHOD, { uri }, options));
  if (result === undefined) return undefined;
  const skill = record(result)?.['skill'];
  if (skill === undefined) throw new MalformedResult(`${SKILLS_GET_METHOD} answered without a skill`);
  return skill;
}

async function readDirectory(
  client: McpClient,
  uri: string,
  options: CallOptions,
): Promise<readonly DirectoryChild[] | undefined> {
  const fetch = async (cursor: string | undefined) => {
    const params = cursor === undefined ? { uri } : { uri, cursor };
    const page = record(await call(client, RESOURCES_DIRECTORY_READ_METHOD, params, options));
    if (!Array.isArray(page?.['resources'])) {
      throw new MalformedResult(`${RESOURCES_DIRECTORY_READ_METHOD} answered without a resources array`);
    }
    return { items: page['resources'] as readonly unknown[], nextCursor: page['nextCursor'] };
  };
  const walk = walkPages({
    fetch,
    keyOf: (child) => record(child)?.['uri'],
    pages: DIRECTORY_LIMITS.pages,
    items: DIRECTORY_LIMITS.children,
    ms: options.timeout,
  });
  const walked = await absentAsUndefined(walk);
  return walked?.items.flatMap((item): DirectoryChild[] => {
    const child = record(item);
    if (typeof child?.['uri'] !== 'string') return [];
    return [{ uri: child['uri'], kind: child['mimeType'] === DIRECTORY_MIME_TYPE ? 'directory' : 'file' }];
  });
}
