import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parse } from 'jsonc-parser';
import { z } from 'zod';
import { type MountOptions, OptionsError, resolveOptions } from '../options.ts';
import { discover, type FoundServers, type Remark, readConfig, workspaceOf } from './files.ts';

/** What a directory shows of the servers, beside what is in it: every skill at one level, or `<server>/<skill-path>`. */
export type OverlayView = 'flat' | 'tree';

/** What a whole process is set up with. */
export interface Settings {
  readonly mount: MountOptions;
  /** Views by the real directory, an absolute path, that each is shown in. */
  readonly overlays: ReadonlyMap<string, OverlayView>;
  readonly collisions: 'rename' | 'hide';
  /** What could not be used; none of it costs anything else. */
  readonly remarks: readonly Remark[];
  /** Where it is from, for messages. */
  readonly source: string;
}

/** The file of a project's own settings, relative to the working directory. */
export const SETTINGS_FILE = 'skillfs.json';

/** Directories of a project in which loaders look for skills. The first is the one most of them share. */
const SKILL_DIRECTORIES = [
  '.agents/skills',
  '.claude/skills',
  '.gemini/skills',
  '.qwen/skills',
  '.cline/skills',
  '.pi/skills',
];

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
  'listen',
  'instructions',
  'probe',
  'resources',
  'policy',
] as const;

const overlaysSchema = z.record(z.string().min(1), z.enum(['flat', 'tree']));
const collisionsSchema = z.enum(['rename', 'hide']).default('rename');

/**
 * The settings of a process: what `SKILLFS_CONFIG` names (a file, or the JSON itself, in which nothing is expanded), else `skillfs.json`, else the servers
 * of the files that MCP hosts keep. Without `overlays`, the skill directories that the project has, or `.agents/skills`.
 *
 * @returns `undefined` where there is nothing of that
 * @throws Error, a sentence that names the file, when it cannot be read
 */
export function settingsOf(directory: string, env: NodeJS.ProcessEnv): Settings | undefined {
  const told = env['SKILLFS_CONFIG'];
  if (told?.trimStart().startsWith('{') === true) return read(told, 'SKILLFS_CONFIG', directory, undefined);
  if (told !== undefined && told !== '') {
    const file = resolve(directory, told);
    return read(textOf(file, `SKILLFS_CONFIG (${told})`), told, workspaceOf(file), env);
  }
  const own = join(directory, SETTINGS_FILE);
  if (existsSync(own)) return read(textOf(own, SETTINGS_FILE), SETTINGS_FILE, directory, env);
  const found = discover(directory, env);
  if (found.servers.size === 0 && found.remarks.length === 0) return undefined;
  return settings(found, {}, 'the MCP configuration of the working directory', directory);
}

function textOf(file: string, name: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`${name}: cannot be read: ${(error as Error).message}`);
  }
}

function read(text: string, name: string, directory: string, env: NodeJS.ProcessEnv | undefined): Settings {
  const value: unknown = parse(text.replace(/^\ufeff/, ''), [], { allowTrailingComma: true });
  const file = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  return settings(readConfig(text, name, directory, env), file, name, directory);
}

function settings(
  found: FoundServers,
  file: Readonly<Record<string, unknown>>,
  source: string,
  directory: string,
): Settings {
  const remarks = [...found.remarks];
  const unusable = (message: string) => remarks.push({ kind: 'unusable', message: `${source}: ${message}` });
  const known = new Set<string>([...MOUNT_KEYS, 'overlays', 'collisions', 'mcpServers', 'servers', '$schema']);
  if (basename(source) === SETTINGS_FILE) {
    for (const key of Object.keys(file)) if (!known.has(key)) unusable(`${key}: is no setting`);
  }
  const servers = Object.fromEntries(found.servers);
  const mount: Record<string, unknown> = { servers };
  for (const key of MOUNT_KEYS) {
    if (file[key] === undefined) continue;
    try {
      resolveOptions({ servers: {}, [key]: file[key] } as MountOptions);
      mount[key] = file[key];
    } catch (error) {
      if (!(error instanceof OptionsError)) throw error;
      // Without what the user forbade or wants to approve, nothing is shown.
      if (key === 'policy') throw new Error(`${source}: ${error.message}`);
      unusable(error.message);
    }
  }
  const collisions = collisionsSchema.safeParse(file['collisions']);
  if (!collisions.success) unusable('collisions: expected "rename" or "hide"');
  const overlays = overlaysSchema.optional().safeParse(file['overlays']);
  if (!overlays.success) unusable('overlays: expected an object of directories, each "flat" or "tree"');
  const given = overlays.data === undefined ? usualOverlays(directory) : Object.entries(overlays.data);
  return {
    mount: mount as unknown as MountOptions,
    overlays: new Map(given.map(([path, view]) => [resolve(directory, atHome(path)), view])),
    collisions: collisions.data ?? 'rename',
    remarks,
    source,
  };
}

function usualOverlays(directory: string): readonly (readonly [string, OverlayView])[] {
  const there = SKILL_DIRECTORIES.filter((path) => existsSync(join(directory, path)));
  return (there.length === 0 ? SKILL_DIRECTORIES.slice(0, 1) : there).map((path) => [path, 'flat']);
}

/** `~` is the user's home directory. */
export function atHome(path: string): string {
  return path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(1)) : path;
}
