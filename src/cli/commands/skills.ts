import type { Command } from 'commander';
import { EXIT } from '../failures.ts';
import { out, outJson, plural, printable } from '../output.ts';
import { type SessionOptions, session, withServers } from '../session.ts';

interface SkillsOptions extends SessionOptions {
  readonly json?: boolean;
}

export function register(program: Command): void {
  withServers(program.command('skills').description('List every skill, with its origin.'))
    .option('--json', 'for programs')
    .action(run);
}

async function run(options: SkillsOptions): Promise<void> {
  await session(options, async ({ mount }) => {
    const status = await mount.ready();
    if (status.some(({ state }) => state === 'failed')) process.exitCode = EXIT.failed;
    const skills = mount.skills();
    if (options.json === true) return outJson(skills);
    for (const { label, name, description, path, uri, files, bytes, content } of skills) {
      const size = content === 'dynamic' ? 'dynamic, unverified' : `${plural(files ?? 0, 'file')}, ${bytes} bytes`;
      out(`${printable(name)}  (${printable(label)}, ${size})`);
      out(`  ${printable(description)}`);
      out(`  ${printable(path)}  ${printable(uri)}\n`);
    }
  });
}
