import type { Dirent } from 'node:fs';
import { posix } from 'node:path';
import type { Command } from 'commander';
import type { Mount } from '../../mount.ts';
import { EXIT } from '../failures.ts';
import { noteError, out, outJson, printable, table } from '../output.ts';
import { type SessionOptions, session, withServers } from '../session.ts';

interface LsOptions extends SessionOptions {
  readonly long?: boolean;
  readonly recursive?: boolean;
  readonly json?: boolean;
}

interface Listed {
  readonly path: string;
  readonly name: string;
  readonly kind: 'file' | 'directory';
  readonly size: number;
  readonly mtime: string;
}

export function register(program: Command): void {
  withServers(program.command('ls').description('List directories.').argument('[path...]'))
    .option('-l, --long', 'kind, size in bytes, time and name')
    .option('-R, --recursive', 'everything below, too')
    .option('--json', 'for programs')
    .action(run);
}

async function run(paths: readonly string[], options: LsOptions): Promise<void> {
  await session(options, async ({ mount, pathOf }) => {
    const all: Listed[] = [];
    const wanted = paths.length === 0 ? [''] : paths;
    for (const [index, argument] of wanted.entries()) {
      const path = pathOf(argument);
      try {
        const listed = await list(mount.promises, path, options);
        if (options.json === true) all.push(...listed);
        else print(path, listed, options, wanted.length > 1, index > 0);
      } catch (error) {
        process.exitCode = EXIT.failed;
        noteError(error);
      }
    }
    if (options.json === true) outJson(all);
  });
}

async function list(promises: Mount['promises'], path: string, options: LsOptions): Promise<Listed[]> {
  const { recursive = false, long = false, json = false } = options;
  if (!(await promises.stat(path)).isDirectory()) return [await describeEntry(promises, path, posix.basename(path))];
  const listed: Listed[] = [];
  const entries: Dirent[] = await promises.readdir(path, { withFileTypes: true });
  for (const entry of entries) {
    const child = posix.join(path, entry.name);
    try {
      // Names and kinds are known from listing; the size of a file may have to be fetched.
      const own = long || json ? await describeEntry(promises, child, entry.name) : named(child, entry);
      listed.push(own);
      if (recursive && own.kind === 'directory') listed.push(...(await list(promises, child, options)));
    } catch (error) {
      // One server that is down does not hide the others.
      process.exitCode = EXIT.failed;
      noteError(error);
    }
  }
  return listed;
}

function named(path: string, entry: Dirent): Listed {
  const kind = entry.isDirectory() ? 'directory' : 'file';
  return { path, name: entry.name, kind, size: 0, mtime: '' };
}

async function describeEntry(promises: Mount['promises'], path: string, name: string): Promise<Listed> {
  const stats = await promises.stat(path);
  const kind = stats.isDirectory() ? 'directory' : 'file';
  return { path, name, kind, size: stats.size, mtime: stats.mtime.toISOString() };
}

function print(path: string, listed: readonly Listed[], options: LsOptions, named: boolean, further: boolean): void {
  if (named) out(`${further ? '\n' : ''}${printable(path)}:`);
  const shown = (entry: Listed) => {
    const name = options.recursive === true ? posix.relative(path, entry.path) || entry.name : entry.name;
    return printable(name) + (entry.kind === 'directory' ? '/' : '');
  };
  if (options.long !== true) {
    for (const entry of listed) out(shown(entry));
    return;
  }
  const rows = listed.map((entry) => [
    entry.kind === 'directory' ? 'dr-xr-xr-x' : '-r--r--r--',
    entry.size,
    entry.mtime.slice(0, 16).replace('T', ' '),
    shown(entry),
  ]);
  for (const line of table(rows)) out(line);
}
