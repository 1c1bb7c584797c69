import { discover, type FoundServers, type Remark, readConfigFile } from '../../config/files.ts';
import { checkLabel, checkSource } from '../../options.ts';
import type { ServerConfig } from '../../protocol/server-config.ts';
import { UsageError } from '../failures.ts';
import { splitCommand } from './split-command.ts';

/** The options of every command that needs servers. */
export interface ServerOptions {
  readonly server?: readonly string[];
  readonly header?: readonly string[];
  readonly config?: string;
}

/**
 * The servers a command works on: those named in its options, else those of the known files; there may be none.
 *
 * @throws UsageError when an option cannot be used
 */
export function serversOf(options: ServerOptions, directory: string, env: NodeJS.ProcessEnv): FoundServers {
  const given = givenServers(options.server ?? [], options.header ?? []);
  if (options.config === undefined) {
    return options.server === undefined ? discover(directory, env) : { servers: given, remarks: [] };
  }
  const found = configured(options.config, env);
  const repeated = [...given.keys()].filter((label) => found.servers.has(label));
  const remarks = repeated.map((label): Remark => {
    const message = `${options.config}: the server "${label}" is given with --server too; this one is not used`;
    return { kind: 'repeated', message };
  });
  return { servers: new Map([...found.servers, ...given]), remarks: [...found.remarks, ...remarks] };
}

function configured(file: string, env: NodeJS.ProcessEnv): FoundServers {
  try {
    return readConfigFile(file, env);
  } catch (error) {
    throw new UsageError(`--config ${file}: ${(error as Error).message}`);
  }
}

function givenServers(targets: readonly string[], given: readonly string[]): ReadonlyMap<string, ServerConfig> {
  const headers = headersOf(given);
  const servers = new Map<string, ServerConfig>();
  for (const target of targets) {
    const [label, config] = parseServer(target, headers);
    if (servers.has(label)) throw new UsageError(`--server ${label}: is given twice`);
    servers.set(label, config);
  }
  for (const label of headers.keys()) {
    const config = servers.get(label);
    if (config === undefined || !('url' in config)) {
      throw new UsageError(`--header ${label}: there is no --server ${label}=https://… to send it to`);
    }
  }
  return servers;
}

function parseServer(given: string, headers: ReadonlyMap<string, Record<string, string>>): [string, ServerConfig] {
  const cut = given.indexOf('=');
  const [label, target] = [given.slice(0, cut), given.slice(cut + 1).trim()];
  if (cut <= 0 || target === '') {
    throw new UsageError(`--server ${given}: expected label='command args' or label=https://…`);
  }
  try {
    checkLabel(label);
    return [label, checkSource(sourceOf(target, headers.get(label)), 'server') as ServerConfig];
  } catch (error) {
    throw new UsageError(`--server ${label}: ${(error as Error).message}`);
  }
}

function sourceOf(target: string, headers: Record<string, string> | undefined): ServerConfig {
  if (/^https?:\/\//.test(target)) return { url: target, ...(headers && { headers }) };
  const [command = '', ...args] = splitCommand(target);
  return { command, args };
}

/** Errors keep the values, which may be secrets, to themselves. */
function headersOf(given: readonly string[]): ReadonlyMap<string, Record<string, string>> {
  const headers = new Map<string, Record<string, string>>();
  for (const header of given) {
    const [, label, name, value] = /^([^:]+):([^=:\s]+)\s*[=:]\s*(.*)$/s.exec(header) ?? [];
    if (label === undefined || name === undefined || value === undefined) {
      throw new UsageError(`--header ${header.split(/[:=]/)[0]}: expected label:Name=value`);
    }
    headers.set(label, { ...headers.get(label), [name]: value });
  }
  return headers;
}
