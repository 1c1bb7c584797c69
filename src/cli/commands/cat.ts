import { once } from 'node:events';
import type { Command } from 'commander';
import { EXIT } from '../failures.ts';
import { noteError } from '../output.ts';
import { type SessionOptions, session, withServers } from '../session.ts';

export function register(program: Command): void {
  withServers(program.command('cat').description('Print verified files.').argument('<path...>')).action(run);
}

async function run(paths: readonly string[], options: SessionOptions): Promise<void> {
  await session(options, async ({ mount, pathOf }) => {
    for (const path of paths) {
      try {
        const bytes = await mount.promises.readFile(pathOf(path));
        if (!process.stdout.write(bytes)) await once(process.stdout, 'drain');
      } catch (error) {
        process.exitCode = EXIT.failed;
        noteError(error);
      }
    }
  });
}
