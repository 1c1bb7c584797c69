import type { Command } from 'commander';
import { unmountServed } from '../../fuse/unmount.ts';
import { note, printable } from '../output.ts';

export function register(program: Command): void {
  program.command('unmount').description('Take a mount away.').argument('<dir>').action(run);
}

async function run(directory: string): Promise<void> {
  const { dir, pid, ended } = await unmountServed(directory);
  if (!ended) note(`${printable(dir)}: files are still open; process ${pid} serves them for some seconds more`);
}
