import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { KNOWN_FILES } from '../config/files.ts';
import { policyIn } from '../config/policy.ts';
import { diskStore } from '../content/disk/disk-store.ts';
import { CacheDirectoryError } from '../content/disk/private-directory.ts';
import { moduleAddress } from '../content/shared/open.ts';
import type { SharedConfig } from '../content/shared-store.ts';
import type { ServingOptions } from '../fuse/setup.ts';
import { type Mount, mount } from '../mount.ts';
import type { CacheOptions, MountOptions, PolicyOptions } from '../options.ts';
import { type ServerOptions, serversOf } from './config/servers.ts';
import { UsageError } from './failures.ts';
import { note, printable } from './output.ts';
import { skillArgument } from './skill-argument.ts';

/** The options of every command that looks into servers. */
export interface SessionOptions extends ServerOptions {
  readonly mountPoint?: string;
  readonly timeout?: number;
  readonly dynamic?: 'allow' | 'deny';
  readonly probe?: boolean;
  readonly resources?: boolean;
  readonly allowOverLimits?: boolean;
  readonly verbose?: boolean;
  /** Whether content is kept on this disk; absent for a command {@link withLiveServers}. */
  readonly cache?: boolean;
  readonly cacheDir?: string;
  readonly grant?: readonly string[];
  readonly requireApproval?: boolean;
  readonly approvals?: string;
  readonly shared?: SharedConfig;
}

export interface Session {
  readonly mount: Mount;
  /** What it was made with. */
  readonly options: MountOptions;
  /** Servers that could not be configured; each was told of on standard error. */
  readonly problems: readonly string[];
  /** An argument as a path of the mount: absolute, or below the mount point. */
  pathOf(argument: string): string;
}

/** Adds the options to a command that shows what servers have, by what is kept on this disk where that will do. */
export function withServers(command: Command): Command {
  return withReview(command)
    .option(
      '--shared <store>',
      'share verified files with others: redis://…, or a module file that makes a store',
      sharedStore,
    )
    .option('--grant <skill>', 'let what a skill grants or runs take effect (repeatable)', collect)
    .option('--require-approval', 'read skills only that were approved (skillfs approve)');
}

/** Adds the options to a command with which a user looks at skills, or decides about them. */
export function withReview(command: Command): Command {
  return withCacheDirectory(withLiveServers(command)).option(
    '--no-cache',
    'keep nothing on this disk, and use nothing kept there',
  );
}

/** Adds where a user's decisions are to a command that makes or reads them. */
export function withApprovals(command: Command): Command {
  return command.option('--approvals <file>', 'where approvals are kept, instead of the user’s own file');
}

function collect(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value];
}

export function withCacheDirectory(command: Command): Command {
  return command.option('--cache-dir <dir>', 'where listings and verified files are kept, instead of the user’s cache');
}

/** Adds the options to a command that examines servers: what they said earlier is of no use to it. */
export function withLiveServers(command: Command): Command {
  return withApprovals(command)
    .option('--server <label=target>', "a server: label='command args' or label=https://… (repeatable)", collect)
    .option('--header <label:Name=value>', 'an HTTP header for a server given with --server (repeatable)', collect)
    .option('--config <file>', 'a JSON file with "mcpServers" or "servers"')
    .option('--mount-point <path>', 'where the servers are mounted (default: /mcp)')
    .option('--timeout <ms>', 'deadline for connecting, and for each request', milliseconds)
    .addOption(new Option('--dynamic <how>', 'skills that publish no digests').choices(['allow', 'deny']))
    .option('--probe', 'guess skills among the resources of servers that say nothing of skills')
    .option('--resources', 'mount what is no skill too, below <label>/@resources')
    .option('--allow-over-limits', 'load skills of more than 512 files or 16 MiB too')
    .option('--verbose', 'show diagnostics, the standard error of servers, and stacks');
}

/**
 * A command that ends soon asks the server for a listing that is no longer fresh, and takes the kept one when there is no
 * answer.
 *
 * @throws UsageError when the directory that was asked for cannot be used
 */
function cacheOf({ cache, cacheDir }: SessionOptions): false | CacheOptions {
  if (cache !== true) return false;
  const options: CacheOptions = { whenStale: 'wait', ...(cacheDir !== undefined && { directory: resolve(cacheDir) }) };
  try {
    diskStore(options);
    return options;
  } catch (error) {
    if (!(error instanceof CacheDirectoryError)) throw error;
    if (cacheDir !== undefined) throw new UsageError(`--cache-dir: ${error.message}`);
    note(printable(`${error.message}; nothing is kept`));
    return false;
  }
}

/** What is wrong is said without the value, which may hold a password. */
function sharedStore(value: string): SharedConfig {
  if (/^rediss?:\/\//.test(value)) return { redis: value };
  if (/^(\.{0,2}[/\\]|file:)/.test(value)) return { module: moduleAddress(value) };
  throw new UsageError('--shared: expected redis://…, rediss://… or the path of a module, such as ./store.mjs');
}

function milliseconds(value: string): number {
  const ms = Number(value);
  if (!Number.isInteger(ms) || ms < 1) throw new UsageError(`--timeout ${value}: expected milliseconds`);
  return ms;
}

/**
 * The policy of the configuration, and what the options say besides. What users decided with this program counts wherever it
 * is used.
 *
 * @param configured of the files that the options name, unless given
 * @throws UsageError when it cannot be used
 */
export function policyFrom(options: SessionOptions, configured = configuredPolicy(options)): PolicyOptions {
  const { grant = [], requireApproval, approvals, mountPoint } = options;
  const grants: Record<string, readonly string[]> = { ...configured?.grants };
  for (const argument of grant) {
    const { label, uri } = skillArgument(argument, mountPoint);
    grants[label] = [...(grants[label] ?? []), uri];
  }
  return {
    approvals: true,
    ...configured,
    ...(approvals !== undefined && { approvals: resolve(approvals) }),
    ...(requireApproval === true && { approval: 'required' as const }),
    grants,
  };
}

function configuredPolicy({ server, config }: SessionOptions): PolicyOptions | undefined {
  // Servers that are given by hand are in no configuration.
  if (server !== undefined && config === undefined) return undefined;
  try {
    return policyIn(config, process.cwd());
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

const NO_SERVERS = `no servers: give --server label='command args' or --server label=https://…, --config file, or have one of ${KNOWN_FILES.join(', ')} here`;

/** What the options say of a mount, but for its servers. */
export function settingsFrom(options: SessionOptions): Omit<ServingOptions, 'servers'> {
  const { timeout, mountPoint, dynamic, probe, resources, allowOverLimits, shared } = options;
  return {
    ...(mountPoint !== undefined && { mountPoint }),
    ...(timeout !== undefined && { deadlines: { connect: timeout, request: timeout, list: timeout } }),
    ...(dynamic !== undefined && { dynamic }),
    ...(probe !== undefined && { probe }),
    ...(resources !== undefined && { resources }),
    ...(allowOverLimits === true && { limits: { over: 'allow' } }),
    ...(shared !== undefined && { shared }),
  };
}

/**
 * What the options say of a mount, whose servers are all config. What is to be said of the configuration is told.
 *
 * @throws UsageError when an option cannot be used, or there is no server
 */
export function mountOptionsOf(options: SessionOptions): {
  readonly mountOptions: ServingOptions;
  readonly problems: readonly string[];
} {
  const { servers, remarks } = serversOf(options, process.cwd(), process.env);
  const { verbose = false } = options;
  for (const { kind, message } of remarks) if (verbose || kind !== 'disabled') note(printable(message));
  if (servers.size === 0) throw new UsageError(NO_SERVERS);
  const problems = remarks.flatMap(({ kind, message }) => (kind === 'unusable' ? [message] : []));
  const stderr = verbose ? 'inherit' : 'ignore';
  const quiet = [...servers].map(([label, config]) => [label, 'command' in config ? { ...config, stderr } : config]);
  const mountOptions = {
    servers: Object.fromEntries(quiet),
    cache: cacheOf(options),
    policy: policyFrom(options),
    ...settingsFrom(options),
  };
  return { mountOptions, problems };
}

/**
 * Mounts what the options say, runs, and closes, whatever happens.
 *
 * @param policy instead of the one that the options say
 */
export async function session<T>(
  options: SessionOptions,
  run: (session: Session) => Promise<T>,
  policy?: PolicyOptions,
): Promise<T> {
  const { mountOptions, problems } = mountOptionsOf(options);
  const { verbose = false, mountPoint = '/mcp' } = options;
  const mounted = mount(policy === undefined ? mountOptions : { ...mountOptions, policy });
  mounted.on('diagnostic', ({ severity, code, label, message }) => {
    if (verbose || (severity !== 'info' && code !== 'cache'))
      note(`${severity}: ${label === undefined ? '' : `${printable(label)}: `}${printable(message)}`);
  });
  const pathOf = (argument: string) => {
    const trimmed = argument.length > 1 ? argument.replace(/\/+$/, '') : argument;
    if (trimmed.startsWith('/')) return trimmed;
    return trimmed === '' || trimmed === '.' ? mountPoint : `${mountPoint === '/' ? '' : mountPoint}/${trimmed}`;
  };
  try {
    return await run({ mount: mounted, options: mountOptions, problems, pathOf });
  } finally {
    await mounted.close();
  }
}
