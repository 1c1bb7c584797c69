import { once } from 'node:events';
import { type Command, Option } from 'commander';
import { launch } from '../../fuse/launch.ts';
import { EXIT } from '../failures.ts';
import { note, plural, printable } from '../output.ts';
import { mountOptionsOf, type SessionOptions, withServers } from '../session.ts';

interface MountCommandOptions extends SessionOptions {
  readonly view: 'tree' | 'flat';
  readonly local?: readonly string[];
  readonly foreground?: boolean;
  readonly nonempty?: boolean;
  readonly allowOther?: boolean;
}

export function register(program: Command): void {
  const collect = (value: string, before: readonly string[] | undefined) => [...(before ?? []), value];
  withServers(
    program
      .command('mount')
      .description('Mount servers on an empty directory, for every program (Linux).')
      .argument('<dir>'),
  )
    .addOption(new Option('--view <view>', 'how skills are laid out').choices(['tree', 'flat']).default('tree'))
    .option('--local <directory>', 'skills of your own, shown first (repeatable)', collect)
    .option('--foreground', 'stay until the mount ends; SIGINT and SIGTERM unmount')
    .option('--nonempty', 'on a directory that is not empty, too')
    .option('--allow-other', 'other users may look into the mount (as root only)')
    .action(run);
}

async function run(directory: string, options: MountCommandOptions): Promise<void> {
  const { mountOptions, problems } = mountOptionsOf(options);
  if (problems.length > 0) process.exitCode = EXIT.failed;
  const { view, local = [], verbose = false, nonempty = false, allowOther = false, foreground = false } = options;
  const { dir, child } = await launch(directory, {
    options: mountOptions,
    arrangement: { view, local },
    verbose,
    nonempty,
    allowOther,
    lifetime: foreground ? 'program' : 'detached',
  });
  const servers = plural(Object.keys(mountOptions.servers).length, 'server');
  note(`${servers} mounted on ${printable(dir)}, served by process ${child.pid}`);
  if (!foreground) {
    child.unref();
    return;
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) process.exitCode = EXIT.failed;
}
