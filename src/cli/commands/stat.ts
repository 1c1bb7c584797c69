import type { Command } from 'commander';
import type { Mount, Origin } from '../../mount.ts';
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
        const origin = await originOf(mount, path);
        const { masked, servedDigest } = origin ?? {};
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
          ...(origin?.digest !== undefined && { digest: origin.digest }),
          ...(masked !== undefined && masked.length > 0 && { masked }),
          ...(servedDigest !== undefined && servedDigest !== origin?.digest && { servedDigest }),
          ...(origin?.approved !== undefined && { approved: origin.approved }),
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

/** What is masked in a SKILL.md is known once it was read; one that is not served says so when it is. */
async function originOf(mount: Mount, path: string): Promise<Origin | undefined> {
  const origin = mount.originOf(path);
  if (origin?.verified === undefined || origin.masked !== undefined) return origin;
  await mount.promises.readFile(path).catch(noteError);
  return mount.originOf(path);
}

function block(known: object): string {
  return Object.entries(known)
    .map(([key, value]) => `${key.padEnd(12)} ${printable(String(value))}`)
    .join('\n');
}
