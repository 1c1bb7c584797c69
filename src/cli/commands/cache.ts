import { resolve } from 'node:path';
import type { Command } from 'commander';
import { type DiskStore, diskStore } from '../../content/disk/disk-store.ts';
import { CacheDirectoryError } from '../../content/disk/private-directory.ts';
import type { Freed } from '../../content/disk/space.ts';
import { EXIT, UsageError } from '../failures.ts';
import { note, out, outJson, plural, printable, table } from '../output.ts';
import { withCacheDirectory } from '../session.ts';

interface CacheOptions {
  readonly cacheDir?: string;
  readonly maxBytes?: number;
  readonly json?: boolean;
}

export function register(program: Command): void {
  const cache = program.command('cache').description('Look at what is kept of servers on this disk, and clean it up.');
  withCacheDirectory(cache.command('ls').description('List what is kept, by server and credentials.'))
    .option('--json', 'for programs')
    .action(list);
  withCacheDirectory(
    cache.command('prune').description('Check every file, drop what is corrupt or left over, keep the bound.'),
  )
    .option('--max-bytes <bytes>', 'the bound (512 MiB unless given)', positive)
    .action(prune);
  withCacheDirectory(
    cache.command('rm').description('Remove all that is kept of a server.').argument('<label>'),
  ).action(remove);
}

function positive(value: string): number {
  const bytes = Number(value);
  if (!Number.isSafeInteger(bytes) || bytes < 1)
    throw new UsageError(`--max-bytes ${value}: expected a number of bytes`);
  return bytes;
}

function open({ cacheDir, maxBytes }: CacheOptions): DiskStore {
  try {
    return diskStore({
      ...(cacheDir !== undefined && { directory: resolve(cacheDir) }),
      ...(maxBytes !== undefined && { maxBytes }),
    });
  } catch (error) {
    throw error instanceof CacheDirectoryError ? new UsageError(error.message) : error;
  }
}

function list(options: CacheOptions): void {
  const { directory, usage } = open(options);
  const kept = usage();
  if (options.json === true) {
    const scopes = kept.map(({ listedAt, ...rest }) => ({
      ...rest,
      ...(listedAt !== undefined && { listedAt: new Date(listedAt).toISOString() }),
    }));
    outJson({ directory, scopes });
    return;
  }
  const rows = kept.map(({ label = '?', scope, files, bytes, listedAt }) => [
    printable(label),
    shortId(scope),
    files,
    bytes,
    listedAt === undefined ? 'no listing' : `listed ${ago(Date.now() - listedAt)}`,
  ]);
  if (rows.length > 0) for (const line of table([['server', 'scope', 'files', 'bytes', 'listing'], ...rows])) out(line);
  note(printable(`${plural(rows.length, 'server')} in ${directory}`));
}

function prune(options: CacheOptions): void {
  const { leftovers, corrupt, evicted } = open(options).prune();
  out(`${amount(corrupt)} corrupt, ${amount(leftovers)} left over, ${amount(evicted)} over the bound: removed`);
}

function remove(label: string, options: CacheOptions): void {
  const { directory, usage, remove } = open(options);
  const freed = remove(label);
  if (freed.files > 0) {
    out(`${amount(freed)}: removed`);
    return;
  }
  process.exitCode = EXIT.failed;
  const labels = [...new Set(usage().flatMap((kept) => kept.label ?? []))];
  const known = labels.length === 0 ? 'nothing is' : `there is something of ${labels.join(', ')}`;
  note(printable(`nothing of the server "${label}" is kept in ${directory}; ${known}`));
}

/** The part that tells scopes of one label apart. */
function shortId(scope: string): string {
  return scope.slice(scope.indexOf('-') + 1).slice(0, 8);
}

function amount({ files, bytes }: Freed): string {
  return `${plural(files, 'file')} of ${plural(bytes, 'byte')}`;
}

function ago(ms: number): string {
  const minutes = Math.max(0, Math.floor(ms / 60_000));
  if (minutes < 60) return `${plural(minutes, 'minute')} ago`;
  if (minutes < 48 * 60) return `${plural(Math.floor(minutes / 60), 'hour')} ago`;
  return `${plural(Math.floor(minutes / (24 * 60)), 'day')} ago`;
}
