import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { settingsOf } from '../../config/settings.ts';
import { serversOf } from '../config/servers.ts';
import { EXIT, UsageError } from '../failures.ts';
import { note, printable } from '../output.ts';
import { policyFrom, type SessionOptions, settingsFrom, withServers } from '../session.ts';

interface RunOptions extends SessionOptions {
  readonly overlay?: readonly string[];
  readonly view: 'flat' | 'tree';
}

export function register(program: Command): void {
  const collect = (value: string, before: readonly string[] | undefined) => [...(before ?? []), value];
  withServers(program.command('run').description('Run a Node.js program that sees the skills of servers.'))
    .argument('<command...>', 'what to run, after --')
    .option('--overlay <directory>', 'a skill directory that shows them beside its own (repeatable)', collect)
    .option('--view <how>', 'what overlays show: flat (every skill by its name) or tree', 'flat')
    .action(run);
}

async function run([command = '', ...args]: readonly string[], options: RunOptions): Promise<void> {
  if (!['flat', 'tree'].includes(options.view)) throw new UsageError(`--view ${options.view}: expected flat or tree`);
  const env = { ...process.env, NODE_OPTIONS: nodeOptions(), SKILLFS_CONFIG: JSON.stringify(configOf(options)) };
  const child = spawn(command, args, {
    stdio: 'inherit',
    env: options.verbose === true ? { ...env, SKILLFS_VERBOSE: '1' } : env,
  });
  const pass = (signal: NodeJS.Signals) => child.kill(signal);
  for (const signal of PASSED) process.on(signal, pass);
  process.exitCode = await new Promise<number>((done) => {
    child.on('error', (error) => {
      note(printable(`${command}: cannot be run: ${error.message}`));
      done(EXIT.failed);
    });
    child.on('exit', (code, signal) => done(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
  });
  for (const signal of PASSED) process.off(signal, pass);
}

/** Signals that a terminal or a supervisor sends to end a program. */
const PASSED: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** Every Node.js process below is set up before its program is loaded. */
function nodeOptions(): string {
  const preload = `--import=${new URL('./register.js', import.meta.url).href}`;
  return [process.env['NODE_OPTIONS'], preload].filter(Boolean).join(' ');
}

/** What the options of this command say, as the settings of another process; nothing is left to be found there. */
function configOf(options: RunOptions): object {
  const directory = process.cwd();
  const explicit = options.server !== undefined || options.config !== undefined;
  const found = explicit ? undefined : settingsOf(directory, process.env);
  const { servers, remarks } = explicit
    ? serversOf(options, directory, process.env)
    : { servers: new Map(), remarks: [] };
  for (const { message } of [...remarks, ...(found?.remarks ?? [])]) note(printable(message));
  const mount = found?.mount ?? { servers: Object.fromEntries(servers) };
  if (Object.keys(mount.servers).length === 0)
    throw new UsageError('no servers: give --server or --config, or have a skillfs.json or .mcp.json here');
  const overlays = options.overlay?.map((path) => [resolve(directory, path), options.view] as const) ?? found?.overlays;
  const { servers: mounted, policy, ...rest } = { ...mount, ...settingsFrom(options) };
  return {
    ...rest,
    policy: { ...policy, ...policyFrom(options) },
    mcpServers: mounted,
    ...(found !== undefined && { collisions: found.collisions }),
    ...(overlays !== undefined && { overlays: Object.fromEntries(overlays) }),
  };
}
