import type { Command } from 'commander';
import { liveMounts } from '../../fuse/records.ts';
import { out, outJson, printable, table } from '../output.ts';

export function register(program: Command): void {
  program
    .command('mounts')
    .description('List the mounts of this user, and clean up after those whose process died.')
    .option('--json', 'for programs')
    .action(run);
}

async function run({ json = false }: { json?: boolean }): Promise<void> {
  const mounts = await liveMounts();
  if (json) return outJson(mounts);
  const rows = mounts.map(({ dir, pid, servers, since }) => [
    printable(dir),
    pid,
    since.slice(0, 16).replace('T', ' '),
    servers.map(printable).join(', '),
  ]);
  for (const line of table(rows)) out(line);
}
