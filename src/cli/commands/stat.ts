import type { Command } from 'commander';
import { contentOf } from '../content-of.ts';
import { EXIT } from '../failures.ts';
import { noteError, out, outJson, printable } from '../output.ts';
import { type SessionOptions, session, withServers } from '../session.ts';

interface StatOptions extends SessionOptions {
  readonly json?: boolean;
}

export function register(program: Command): void {
  withServers(
    program.command('stat').description('Show what is known of paths, and where they come from.').argument('<path...>'),
  )
    .option('--json', 'for programs')
    .action(run);
}

async function run(paths: readonly string[], options: StatOptions): Promise<void> {
  await session(options, async ({ mount, pathOf }) => {
    const known: object[] = [];
    const contentAt = contentOf(mount);
    for (const argument of paths) {
      const path = pathOf(argument);
      try {
        const stats = await mount.promises.stat(path);
        const origin = mount.originOf(path);
        const content = contentAt(path);
        known.push({
          path,
          kind: stats.isDirectory() ? 'directory' : 'file',
          size: stats.size,
          inode: stats.ino,
          modified: stats.mtime.toISOString(),
          ...(origin !== undefined && { server: origin.label }),
          ...(origin?.uri !== undefined && { uri: origin.uri }),
          ...(origin?.skill !== undefined && { skill: origin.skill }),
          ...(content !== undefined && { content }),
        });
      } catch (error) {
        process.exitCode = EXIT.failed;
        noteError(error);
      }
    }
    if (options.json === true) outJson(known);
    else if (known.length > 0) out(known.map(block).join('\n\n'));
  });
}

function block(known: object): string {
  return Object.entries(known)
    .map(([key, value]) => `${key.padEnd(9)} ${printable(String(value))}`)
    .join('\n');
}
