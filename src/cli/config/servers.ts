import { checkLabel, checkSource } from '../../options.ts';
import type { ServerConfig } from '../../protocol/connect.ts';
import { UsageError } from '../failures.ts';
import { discover, type FoundServers, KNOWN_FILES, readConfigFile } from './files.ts';
import { splitCommand } from './split-command.ts';

/** The options of every command that needs servers. */
export interface ServerOptions {
  readonly server?: readonly string[];
  readonly header?: readonly string[];
  readonly config?: string;
}

/**
 * The servers a command works on: those named in its options, else those of the known files.
 *
 * @throws UsageError when an option cannot be used, or there is no server at all
 */
export function serversOf(options: ServerOptions, directory: string, env: NodeJS.ProcessEnv): FoundServers {
  const servers = new Map<string, ServerConfig>();
  const problems: string[] = [];
  if (options.config !== undefined) {
    try {
      const found = readConfigFile(options.config, env);
      for (const [label, config] of found.servers) servers.set(label, config);
      problems.push(...found.problems);
    } catch (error) {
      throw new UsageError(`--config ${options.config}: ${(error as Error).message}`);
    }
  }
  const headers = headersOf(options.header ?? []);
  for (const given of options.server ?? []) {
    const [label, config] = parseServer(given, headers);
    servers.set(label, config);
  }
  if (options.config === undefined && options.server === undefined) {
    const found = discover(directory, env);
    for (const [label, config] of found.servers) servers.set(label, config);
    problems.push(...found.problems);
  }
  if (servers.size > 0) return { servers, problems };
  const looked = `no servers: give --server label='command args' or --server label=https://…, --config file, or have one of ${KNOWN_FILES.join(', ')} here`;
  throw new UsageError([...problems, looked].join('\n'));
}

function parseServer(given: string, headers: ReadonlyMap<string, Record<string, string>>): [string, ServerConfig] {
  const cut = given.indexOf('=');
  if (cut <= 0) throw new UsageError(`--server ${given}: expected label='command args' or label=https://…`);
  const [label, target] = [given.slice(0, cut), given.slice(cut + 1).trim()];
  try {
    checkLabel(label);
    if (/^https?:\/\//.test(target)) {
      const own = headers.get(label);
      return [label, checkSource({ url: target, ...(own && { headers: own }) }, `--server ${label}`) as ServerConfig];
    }
    const [command, ...args] = splitCommand(target);
    return [label, checkSource({ command: command ?? '', args }, `--server ${label}`) as ServerConfig];
  } catch (error) {
    throw new UsageError(`--server ${given}: ${(error as Error).message}`);
  }
}

function headersOf(given: readonly string[]): ReadonlyMap<string, Record<string, string>> {
  const headers = new Map<string, Record<string, string>>();
  for (const header of given) {
    const [, label, name, value] = /^([^:]+):([^=:\s]+)\s*[=:]\s*(.*)$/s.exec(header) ?? [];
    if (label === undefined || name === undefined || value === undefined) {
      throw new UsageError(`--header ${header}: expected label:Name=value`);
    }
    headers.set(label, { ...headers.get(label), [name]: value });
  }
  return headers;
}
