import { readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { type ParseError, parse, printParseErrorCode } from 'jsonc-parser';
import { checkLabel, checkSource } from '../options.ts';
import type { ServerConfig } from '../protocol/server-config.ts';
import { expand } from './expand.ts';

/** What is to be said of a configuration; none of it costs another server. */
export interface Remark {
  /** `unusable`: something could not be used, a failure; `repeated`: another server of this label counts; `disabled`: as asked. */
  readonly kind: 'unusable' | 'repeated' | 'disabled';
  readonly message: string;
}

/** Servers by label, and what is to be said of those that are not among them. */
export interface FoundServers {
  readonly servers: ReadonlyMap<string, ServerConfig>;
  readonly remarks: readonly Remark[];
}

/** A project's own settings, which may hold its servers; those of the other files do not count then. */
export const SETTINGS_FILE = 'skillfs.json';

/** Where users already have their servers, relative to the working directory. */
export const KNOWN_FILES = ['.mcp.json', '.vscode/mcp.json', '.cursor/mcp.json'] as const;

/** The keys under which the files of the field keep their servers. */
const SERVER_KEYS = ['mcpServers', 'servers'] as const;

/** Reads the servers of a directory: of its settings, else of the known files; of servers with one label the first counts. */
export function discover(directory: string, env: NodeJS.ProcessEnv): FoundServers {
  const settings = settingsText(directory);
  if (settings !== undefined && namesServers(settings)) return readConfig(settings, SETTINGS_FILE, directory, env);
  const servers = new Map<string, ServerConfig>();
  const remarks: Remark[] = [];
  for (const name of KNOWN_FILES) {
    let text: string;
    try {
      text = readFileSync(join(directory, name), 'utf8');
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT' && code !== 'ENOTDIR') remarks.push(unusable(`${name}: ${(error as Error).message}`));
      continue;
    }
    const found = readConfig(text, name, directory, env);
    remarks.push(...found.remarks);
    for (const [label, config] of found.servers) {
      if (servers.has(label)) {
        const message = `${name}: the server "${label}" is in an earlier file too; this one is not used`;
        remarks.push({ kind: 'repeated', message });
      } else servers.set(label, config);
    }
  }
  return { servers, remarks };
}

/** @throws Error, a sentence that names the file, when it is there and cannot be read */
export function settingsText(directory: string): string | undefined {
  try {
    return readFileSync(join(directory, SETTINGS_FILE), 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new Error(`${SETTINGS_FILE}: cannot be read: ${message}`);
  }
}

/** What is no JSON is said to be none by whoever reads it. */
function namesServers(text: string): boolean {
  const value: unknown = parse(text.replace(/^\ufeff/, ''), [], { allowTrailingComma: true });
  return !isRecord(value) || SERVER_KEYS.some((key) => value[key] !== undefined);
}

/** @throws what the file system gives when the file cannot be read */
export function readConfigFile(file: string, env: NodeJS.ProcessEnv): FoundServers {
  const path = resolve(file);
  return readConfig(readFileSync(path, 'utf8'), file, workspaceOf(path), env);
}

/** The directory whose file it is: editors keep theirs one below. */
export function workspaceOf(path: string): string {
  const directory = dirname(path);
  return ['.vscode', '.cursor'].includes(basename(directory)) ? dirname(directory) : directory;
}

function unusable(message: string): Remark {
  return { kind: 'unusable', message };
}

/**
 * Reads the servers of a file's text, comments and trailing commas included, one by one.
 *
 * @param env where variables get their values; without it nothing is taken for one
 */
export function readConfig(
  text: string,
  name: string,
  directory: string,
  env: NodeJS.ProcessEnv | undefined,
): FoundServers {
  const errors: ParseError[] = [];
  const value: unknown = parse(text.replace(/^\ufeff/, ''), errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error !== undefined) {
    const line = text.slice(0, Math.min(error.offset, text.trimEnd().length)).split('\n').length;
    const what = printParseErrorCode(error.error).replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
    return {
      servers: new Map(),
      remarks: [unusable(`${name}:${line}: not JSON: ${what.toLowerCase()}`)],
    };
  }
  const file = isRecord(value) ? value : {};
  const key = SERVER_KEYS.find((one) => file[one] !== undefined);
  const listed = key === undefined ? undefined : file[key];
  if (!isRecord(listed)) {
    return { servers: new Map(), remarks: [unusable(`${name}: has no object "mcpServers" or "servers"`)] };
  }
  const servers = new Map<string, ServerConfig>();
  const remarks: Remark[] = [];
  for (const [label, server] of Object.entries(listed)) {
    if (isRecord(server) && server['disabled'] === true) {
      remarks.push({ kind: 'disabled', message: `${name}: server "${label}": is disabled there` });
      continue;
    }
    try {
      servers.set(checkLabel(label), serverOf(server, label, directory, env));
    } catch (problem) {
      remarks.push(unusable(`${name}: server "${label}": ${(problem as Error).message}`));
    }
  }
  return { servers, remarks };
}

/** What other tools keep beside is left alone; only what is needed to reach the server is taken. */
function serverOf(value: unknown, label: string, directory: string, env: NodeJS.ProcessEnv | undefined): ServerConfig {
  if (!isRecord(value)) throw new Error('is not an object');
  if (value['type'] === 'sse') throw new Error('speaks the old HTTP+SSE transport, which is not supported');
  const keys = value['url'] !== undefined && value['command'] === undefined ? HTTP_KEYS : STDIO_KEYS;
  const taken = Object.fromEntries(keys.filter((key) => value[key] != null).map((key) => [key, value[key]]));
  const expanded = env === undefined ? taken : expand(taken, { env, workspaceFolder: directory });
  return checkSource(expanded, `servers[${JSON.stringify(label)}]`) as ServerConfig;
}

const STDIO_KEYS = ['command', 'args', 'env', 'cwd'];
const HTTP_KEYS = ['url', 'headers'];

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
