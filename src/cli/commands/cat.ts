import { once } from 'node:events';
import type { Command } from 'commander';
import { EXIT } from '../failures.ts';
import { noteError } from '../output.ts';
import { type SessionOptions, session, withServers } from '../session.ts';

export function register(program: Command): void {
  withServers(program.command('cat').description('Print verified files.').argument('<path...>')).action(run);
}

/** Reading a directory fails without a path, in Node too. */
function named(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || error.message.includes(path)) return error;
  return new Error(`${path}: ${error.message}`, { cause: error.cause });
}

async function run(paths: readonly string[], options: SessionOptions): Promise<void> {
  await session(options, async ({ mount, pathOf }) => {
    for (const path of paths) {
      try {
        const bytes = await mount.promises.readFile(pathOf(path));
        if (!process.stdout.write(bytes)) await once(process.stdout, 'drain');
      } catch (error) {
        process.exitCode = EXIT.failed;
        noteError(named(error, path));
      }
    }
  });
}
