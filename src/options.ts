import * as z from 'zod';
import { CONCURRENCY, DEADLINES, MEMORY_BYTES, MISS_TTL, RETRY_AFTER } from './base/limits.ts';
import type { SkillLimits } from './catalog/types.ts';
import { isSharedStore, moduleAddress } from './content/shared/open.ts';
import type { SharedOptions } from './content/shared-store.ts';
import { type PolicyOptions, policySchema, type ResolvedPolicy } from './policy/options.ts';
import { isMcpClient, type McpClient } from './protocol/client.ts';
import { headerProblem } from './protocol/http/own-headers.ts';
import type { ServerConfig } from './protocol/server-config.ts';

/** A server as config, opened and closed by the mount, or a connected client of either SDK major, which stays the host's. */
export type ServerSource = ServerConfig | McpClient;

/** Where and how content is kept from one start to the next. */
export interface CacheOptions {
  /**
   * An absolute path, private to the user and outside of every directory in which agents look for skills. Default: `skillfs` in
   * the user's cache directory, as the operating system has it.
   */
  readonly directory?: string;
  /** Bytes on disk at most; what was not used for longest goes first. Default 512 MiB. */
  readonly maxBytes?: number;
  /**
   * What an access does that finds a kept listing no longer fresh. `background` (default) shows it, marked stale, while the
   * server is asked. `wait` asks first, and shows it only when there is no answer: for programs that end before another could
   * come.
   */
  readonly whenStale?: 'background' | 'wait';
  /**
   * By label, a name for the server and for whom it is asked. Needed for connected clients, which do not tell; content kept under
   * one name is never read under another.
   */
  readonly keys?: Readonly<Record<string, string>>;
}

export type { PolicyOptions } from './policy/options.ts';

export interface MountOptions {
  /**
   * The servers, under labels that the host assigns. A label is the server's directory below the mount point, and half of
   * every skill's identity (MAP-5).
   */
  readonly servers: Readonly<Record<string, ServerSource>>;
  /** An absolute path. Default `/mcp`. */
  readonly mountPoint?: string;
  /** What a skill may hold at most, and what happens to one over it (LIM-1). */
  readonly limits?: Partial<SkillLimits>;
  /** `deny` leaves out skills that publish no digests (VER-5). Default `allow`. */
  readonly dynamic?: 'allow' | 'deny';
  /**
   * Whether skills are also guessed among the resources of a server that says nothing of skills: what ends with
   * `/SKILL.md`, and `skill://<name>` or `skill://<server>/<name>` without it (DRAFT-4). Default `false`.
   */
  readonly probe?: boolean;
  /** Whether skills that a server's instructions name by URI are looked for, and mounted if it has them (GET-3). Default `true`. */
  readonly instructions?: boolean;
  /**
   * Whether what a server has among its resources beside skills is mounted too, unverified, below `@resources` in its directory:
   * `/mcp/<server>/@resources/<scheme>/…`. Default `false`.
   */
  readonly resources?: boolean;
  /**
   * Which skills are shown, which need an approval, and in which nothing is masked. By default all are shown, none needs one, and
   * whatever in a SKILL.md grants or runs something is masked (SEC-3, SEC-6, SEC-7).
   */
  readonly policy?: PolicyOptions;
  /**
   * Deadlines in milliseconds: 30,000 to connect and for a request, 120,000 for a whole listing, 1,000 that a read waits for a
   * shared store in all.
   */
  readonly deadlines?: {
    readonly connect?: number;
    readonly request?: number;
    readonly list?: number;
    readonly shared?: number;
  };
  /** Requests under way at once: 8 per server, 32 in all. */
  readonly concurrency?: { readonly perServer?: number; readonly total?: number };
  /** Bytes of verified content kept in memory. Default 64 MiB. */
  readonly memoryBytes?: number;
  /**
   * Whether listings and verified content are kept on this disk, apart for each server and its credentials (CACHE-1, CACHE-2).
   * Default `false`: a library writes nothing to its host's disk unasked.
   */
  readonly cache?: boolean | CacheOptions;
  /**
   * A store that many processes and machines share, so that each file is fetched from its server once. Content is apart for
   * each label, server and set of credentials, is verified on every read as the server's is, and has always been verified when
   * it is put there; dynamic content never is. A store that fails or is slow costs a read no more than `deadlines.shared`.
   */
  readonly shared?: SharedOptions;
  /**
   * Milliseconds for which a failed connection or listing is not tried again by an access, doubled with each failure in a
   * row up to five minutes. Default 10,000.
   */
  readonly retryAfter?: number;
  /** Milliseconds for which a server is not asked again for a skill it did not have. Default 30,000. */
  readonly missTtl?: number;
  /**
   * Whether to listen to what servers say of changes, and to list those again. Default `true`. On 2026-07-28 that is a
   * subscription; over HTTP in this thread its open stream keeps the process alive until the mount is closed.
   */
  readonly listen?: boolean;
  /**
   * Where connections to servers given as config live. `worker` (default): in a thread of their own, so that a
   * synchronous call can wait for content that is not in memory. `host`: in this thread, where such a call fails with
   * EAGAIN, as it does for clients given by the host.
   */
  readonly thread?: 'worker' | 'host';
  /** Where the worker's code is (the entry point `skillfs/worker`), for programs bundled without skillfs beside them. */
  readonly worker?: string | URL;
}

export interface ResolvedOptions {
  readonly servers: ReadonlyMap<string, ServerSource>;
  readonly mountPoint: string;
  readonly limits: SkillLimits;
  readonly dynamic: 'allow' | 'deny';
  readonly probe: boolean;
  readonly instructions: boolean;
  readonly resources: boolean;
  readonly policy: ResolvedPolicy;
  readonly deadlines: {
    readonly connect: number;
    readonly request: number;
    readonly list: number;
    readonly shared: number;
  };
  readonly concurrency: { readonly perServer: number; readonly total: number };
  readonly memoryBytes: number;
  readonly cache: CacheOptions | undefined;
  readonly shared: SharedOptions | undefined;
  readonly retryAfter: number;
  readonly missTtl: number;
  readonly listen: boolean;
  readonly thread: 'worker' | 'host';
  readonly worker: string | URL | undefined;
}

/** Options that cannot be used. The message names the key and what is wrong with it. */
export class OptionsError extends TypeError {
  override readonly name = 'OptionsError';
  readonly code = 'ERR_SKILLFS_OPTIONS';
}

const milliseconds = z.number().int().min(1).max(2_147_483_647);
const count = z.number().int().min(1);

/** Text that a process can be started with. What is wrong with it is said without it: it may be a secret. */
const text = z.string().refine((value) => !value.includes('\0'), { error: 'expected no NUL in it' });
const variableName = z.string().regex(/^[^=\0]+$/);

const stdioServer = z.strictObject({
  command: text.min(1),
  args: z.array(text).optional(),
  env: z.record(variableName, text).optional(),
  cwd: text.min(1).optional(),
  stderr: z.enum(['inherit', 'ignore']).optional(),
});

const httpServer = z.strictObject({
  url: z
    .url({ protocol: /^https?$/, error: 'expected an http:// or https:// URL' })
    .refine((url) => !hasCredentials(url), {
      error: 'expected a URL without user and password; give them as the header Authorization',
    }),
  headers: z
    .record(z.string(), z.string())
    .check(({ value, issues }) => {
      for (const [name, given] of Object.entries(value)) {
        const problem = headerProblem(name, given);
        if (problem !== undefined) issues.push({ code: 'custom', input: name, path: [name], message: problem });
      }
    })
    .optional(),
  authProvider: z
    .custom(isCredentialSource, { error: 'expected an AuthProvider or an OAuthClientProvider' })
    .optional(),
  fetch: z.custom((value) => typeof value === 'function', { error: 'expected a function' }).optional(),
});

const sharedKeys = { keys: z.record(z.string(), z.string().min(1)).optional() };

/** By the key that says how the store is had. */
const sharedSources = {
  redis: z.strictObject({
    redis: z.url({ protocol: /^rediss?$/, error: 'expected a redis:// or rediss:// URL' }),
    prefix: z.string().optional(),
    ttlSeconds: count.optional(),
    ...sharedKeys,
  }),
  module: z.strictObject({
    module: z.union([z.string().min(1), z.instanceof(URL)]).transform((module) => moduleAddress(module)),
    options: z.custom(isCloneable, { error: 'expected plain data: a module may be used in another thread' }).optional(),
    ...sharedKeys,
  }),
  store: z.strictObject({
    store: z.custom(isSharedStore, { error: 'expected an object with the methods get, put and delete' }),
    ...sharedKeys,
  }),
};

const mountPoint = z.string().refine(isMountPoint, {
  error: 'expected an absolute, normalised path such as /mcp',
});

const schema = z.strictObject({
  servers: z.record(z.string(), z.unknown()),
  mountPoint: mountPoint.default('/mcp'),
  limits: z
    .strictObject({
      files: count.default(512),
      bytes: count.default(16 * 1024 * 1024),
      over: z.enum(['refuse', 'allow']).default('refuse'),
    })
    .prefault({}),
  dynamic: z.enum(['allow', 'deny']).default('allow'),
  probe: z.boolean().default(false),
  instructions: z.boolean().default(true),
  resources: z.boolean().default(false),
  policy: policySchema.prefault({}),
  deadlines: z
    .strictObject({
      connect: milliseconds.default(DEADLINES.connect),
      request: milliseconds.default(DEADLINES.request),
      list: milliseconds.default(DEADLINES.list),
      shared: milliseconds.default(DEADLINES.shared),
    })
    .prefault({}),
  concurrency: z
    .strictObject({
      perServer: count.default(CONCURRENCY.perServer),
      total: count.default(CONCURRENCY.total),
    })
    .prefault({}),
  memoryBytes: z.number().int().min(0).default(MEMORY_BYTES),
  cache: z.preprocess(
    (given) => (given === true ? {} : given === false ? undefined : given),
    z
      .strictObject({
        directory: z.string().min(1).optional(),
        maxBytes: count.optional(),
        whenStale: z.enum(['background', 'wait']).optional(),
        keys: z.record(z.string(), z.string().min(1)).optional(),
      })
      .optional(),
  ),
  shared: z.unknown().optional(),
  retryAfter: z.number().int().min(0).default(RETRY_AFTER),
  missTtl: z.number().int().min(0).default(MISS_TTL),
  listen: z.boolean().default(true),
  thread: z.enum(['worker', 'host']).default('worker'),
  worker: z.union([z.string(), z.instanceof(URL)]).optional(),
});

/** @throws OptionsError naming the first key that is wrong */
export function resolveOptions(options: MountOptions): ResolvedOptions {
  const resolved = check(schema, options, 'options');
  const servers = new Map<string, ServerSource>();
  for (const [label, source] of Object.entries(options.servers)) {
    servers.set(checkLabel(label), checkSource(source, `servers[${JSON.stringify(label)}]`));
  }
  const cache = resolved.cache as CacheOptions | undefined;
  return { ...resolved, servers, cache, shared: checkShared(options.shared), worker: resolved.worker };
}

/** @throws OptionsError when a label cannot be a path segment */
export function checkLabel(label: string): string {
  const problem = labelProblem(label);
  if (problem === undefined) return label;
  throw new OptionsError(`servers: the label ${JSON.stringify(label)} cannot be a directory name: ${problem}`);
}

function labelProblem(label: string): string | undefined {
  if (label === '' || label === '.' || label === '..') return 'it is no name';
  if (/[/\\]|\p{Cc}/u.test(label)) return 'it holds a slash, a backslash or a control character';
  if (/\p{Surrogate}/u.test(label)) return 'it is not well-formed Unicode';
  if (new TextEncoder().encode(label).byteLength > 255) return 'it is longer than 255 bytes';
  return undefined;
}

/** @throws OptionsError naming the key below `where` that is wrong */
export function checkSource(source: unknown, where: string): ServerSource {
  if (isMcpClient(source)) return source;
  if (typeof source !== 'object' || source === null) {
    throw new OptionsError(`${where}: expected {command, args, env, cwd}, {url, headers} or a connected MCP client`);
  }
  if ('command' in source && 'url' in source) {
    throw new OptionsError(`${where}: has both a command and a url; a server is reached in one way`);
  }
  if ('command' in source) return check(stdioServer, source, where) as ServerConfig;
  if ('url' in source) return check(httpServer, source, where) as ServerConfig;
  throw new OptionsError(`${where}: has neither a command nor a url, and is no connected MCP client`);
}

/** @throws OptionsError naming the key that is wrong */
function checkShared(shared: unknown): SharedOptions | undefined {
  if (shared === undefined) return undefined;
  const ways = Object.keys(sharedSources) as (keyof typeof sharedSources)[];
  const [way, another] = ways.filter((key) => typeof shared === 'object' && shared !== null && key in shared);
  if (way === undefined || another !== undefined)
    throw new OptionsError('shared: expected {redis}, {module} or {store}');
  return check<unknown>(sharedSources[way], shared, 'shared') as SharedOptions;
}

function check<T>(against: z.ZodType<T>, value: unknown, where: string): T {
  const result = against.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const key = (issue?.path ?? []).map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`)).join('');
  const path = where === 'options' ? key.slice(1) : where + key;
  throw new OptionsError(`${path === '' ? 'options' : path}: ${issue?.message ?? 'cannot be used'}`);
}

function hasCredentials(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { username, password } = new URL(url);
  return username !== '' || password !== '';
}

function isCredentialSource(value: unknown): boolean {
  const { token, tokens } = (value ?? {}) as { token?: unknown; tokens?: unknown };
  return typeof token === 'function' || typeof tokens === 'function';
}

function isCloneable(value: unknown): boolean {
  try {
    structuredClone(value);
    return true;
  } catch {
    return false;
  }
}

function isMountPoint(path: string): boolean {
  if (path === '/') return true;
  return /^(\/[^/\0]+)+$/.test(path) && !path.split('/').some((segment) => segment === '.' || segment === '..');
}
