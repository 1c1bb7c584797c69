import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parse } from 'jsonc-parser';
import * as z from 'zod';
import { moduleAddress } from '../content/shared/open.ts';
import { type MountOptions, resolveOptions } from '../options.ts';
import { expand } from './expand.ts';
import {
  discover,
  type FoundServers,
  type Remark,
  readConfig,
  SETTINGS_FILE,
  settingsText,
  workspaceOf,
} from './files.ts';

/** What a directory shows of the servers, beside what is in it: every skill at one level, or `<server>/<skill-path>`. */
export type OverlayView = 'flat' | 'tree';

/** What a whole process is set up with. */
export interface Settings {
  readonly mount: MountOptions;
  /** Views by the real directory, an absolute path, that each is shown in. */
  readonly overlays: ReadonlyMap<string, OverlayView>;
  readonly collisions: 'rename' | 'hide';
  /** Names that skills elsewhere have, and that none in a flat view gets. */
  readonly reserved: readonly string[];
  /** What could not be used; none of it costs anything else. */
  readonly remarks: readonly Remark[];
  /** Where it is from, for messages. */
  readonly source: string;
}

/** Directories of a project in which loaders look for skills. The first is the one most of them share. */
const SKILL_DIRECTORIES = [
  '.agents/skills',
  '.claude/skills',
  '.gemini/skills',
  '.qwen/skills',
  '.cline/skills',
  '.pi/skills',
];

/** Milliseconds that the first look of a program waits for servers that do not answer, where the settings do not say. */
const CONNECT = 10_000;

/** Settings that are passed on to `mount()` as they are. */
export const MOUNT_KEYS = [
  'mountPoint',
  'limits',
  'dynamic',
  'deadlines',
  'concurrency',
  'memoryBytes',
  'cache',
  'retryAfter',
  'missTtl',
  'shared',
  'listen',
  'instructions',
  'probe',
  'resources',
  'policy',
] as const;

/** What applies instead of a setting that would keep something out, and cannot be used. */
const SAFE: Readonly<Record<string, unknown>> = { dynamic: 'deny' };

const overlaysSchema = z.record(z.string().min(1), z.enum(['flat', 'tree']));
const reservedSchema = z.array(z.string()).default([]);
/** Loaders that go by the name in a SKILL.md would take the second of two for the first: none must replace a local skill. */
const collisionsSchema = z.enum(['rename', 'hide']).default('hide');

/**
 * The settings of a process: what `SKILLFS_CONFIG` names (a file, or the JSON itself, in which nothing is expanded), else `skillfs.json`, else the servers
 * of the files that MCP hosts keep. Without `overlays`, the skill directories that the project has, or `.agents/skills`.
 *
 * @returns `undefined` where there is nothing of that
 * @throws Error, a sentence that names the file, when it cannot be read
 */
export function settingsOf(directory: string, env: NodeJS.ProcessEnv): Settings | undefined {
  const told = env['SKILLFS_CONFIG'];
  if (told?.trimStart().startsWith('{') === true) {
    return settings(readConfig(told, 'SKILLFS_CONFIG', directory, undefined), told, 'SKILLFS_CONFIG', [
      directory,
      directory,
    ]);
  }
  if (told !== undefined && told !== '') {
    const file = resolve(directory, told);
    const text = textOf(file, `SKILLFS_CONFIG (${told})`);
    const workspace = workspaceOf(file);
    return settings(readConfig(text, told, workspace, env), text, told, [workspace, directory], env);
  }
  const own = settingsText(directory);
  const found = discover(directory, env);
  if (own !== undefined) return settings(found, own, SETTINGS_FILE, [directory, directory], env);
  if (found.servers.size === 0 && found.remarks.length === 0) return undefined;
  return settings(found, '{}', 'the MCP configuration of the working directory', [directory, directory]);
}

function textOf(file: string, name: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`${name}: cannot be read: ${(error as Error).message}`);
  }
}

/** @param directories what paths in the settings are relative to, and the working directory */
function settings(
  found: FoundServers,
  text: string,
  source: string,
  [base, directory]: readonly [string, string],
  env?: NodeJS.ProcessEnv,
): Settings {
  const value: unknown = parse(text.replace(/^\ufeff/, ''), [], { allowTrailingComma: true });
  const file = typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  const remarks = [...found.remarks];
  const unusable = (message: string) => remarks.push({ kind: 'unusable', message: `${source}: ${message}` });
  const own = ['overlays', 'collisions', 'reserved', 'mcpServers', 'servers', '$schema'];
  const known = new Set<string>([...MOUNT_KEYS, ...own]);
  // Files of other programs hold what is theirs.
  if (!/mcp|claude|settings/i.test(basename(source))) {
    for (const key of Object.keys(file)) if (!known.has(key)) unusable(`${key}: is no setting`);
  }
  const servers = Object.fromEntries(found.servers);
  const mount: Record<string, unknown> = { servers };
  for (const key of MOUNT_KEYS) {
    if (file[key] === undefined) continue;
    try {
      const value = key === 'shared' ? sharedOf(file[key], base, env) : file[key];
      resolveOptions({ servers: {}, [key]: value } as MountOptions);
      mount[key] = value;
    } catch (error) {
      // Without what the user forbade or wants to approve, nothing is shown.
      if (key === 'policy') throw new Error(`${source}: ${(error as Error).message}`);
      const safe = SAFE[key];
      if (safe !== undefined) mount[key] = safe;
      unusable(`${(error as Error).message}; ${safe === undefined ? 'the default' : JSON.stringify(safe)} applies`);
    }
  }
  const collisions = collisionsSchema.safeParse(file['collisions']);
  if (!collisions.success) unusable('collisions: expected "rename" or "hide"');
  const reserved = reservedSchema.safeParse(file['reserved']);
  if (!reserved.success) unusable('reserved: expected an array of names');
  const overlays = overlaysSchema.optional().safeParse(file['overlays']);
  if (!overlays.success) unusable('overlays: expected an object of directories, each "flat" or "tree"');
  const given =
    overlays.data === undefined
      ? usualOverlays(directory).map(([path, view]) => [join(directory, path), view] as const)
      : Object.entries(overlays.data);
  mount['deadlines'] = { connect: CONNECT, ...(mount['deadlines'] as object | undefined) };
  return {
    mount: mount as unknown as MountOptions,
    overlays: new Map(given.map(([path, view]) => [resolve(base, atHome(path)), view])),
    collisions: collisions.data ?? 'hide',
    reserved: reserved.data ?? [],
    remarks,
    source,
  };
}

/**
 * A shared store as a file describes it: with variables, as its URL may hold a password, and modules found from where the file
 * is.
 *
 * @throws Error naming a variable that is not set
 */
function sharedOf(value: unknown, directory: string, env: NodeJS.ProcessEnv | undefined): unknown {
  const shared = env === undefined ? value : expand(value, { env, workspaceFolder: directory }, 'shared');
  const { module } = (shared ?? {}) as { readonly module?: unknown };
  return typeof module === 'string' ? { ...(shared as object), module: moduleAddress(module, directory) } : shared;
}

function usualOverlays(directory: string): readonly (readonly [string, OverlayView])[] {
  const there = SKILL_DIRECTORIES.filter((path) => existsSync(join(directory, path)));
  return (there.length === 0 ? SKILL_DIRECTORIES.slice(0, 1) : there).map((path) => [path, 'flat']);
}

/** `~` is the user's home directory. */
export function atHome(path: string): string {
  return path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(1)) : path;
}
