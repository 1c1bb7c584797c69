import type { Dirent } from 'node:fs';
import type { Command } from 'commander';
import type { Mount } from '../../mount.ts';
import { contentOf } from '../content-of.ts';
import { EXIT } from '../failures.ts';
import { noteError, out, plural, printable } from '../output.ts';
import { type SessionOptions, session, withServers } from '../session.ts';

export function register(program: Command): void {
  withServers(program.command('tree').description('Show the tree below a directory.').argument('[path]')).action(run);
}

async function run(path: string | undefined, options: SessionOptions): Promise<void> {
  await session(options, async ({ mount, pathOf }) => {
    const root = pathOf(path ?? '');
    await mount.promises.readdir(root);
    out(printable(root));
    const counts = await printTree(mount, root);
    out(
      `\n${plural(counts.skills, 'skill')}, ${plural(counts.directories, 'directory', 'directories')}, ${plural(counts.files, 'file')}`,
    );
  });
}

interface Counts {
  skills: number;
  directories: number;
  files: number;
}

/** Prints what is below a directory; a part that cannot be listed says so in its place, and the rest goes on. */
export async function printTree(
  mount: Mount,
  path: string,
  indent = '',
  counts: Counts = { skills: 0, directories: 0, files: 0 },
  contentAt = contentOf(mount),
): Promise<Counts> {
  let entries: Dirent[];
  try {
    entries = await mount.promises.readdir(path, { withFileTypes: true });
  } catch (error) {
    process.exitCode = EXIT.failed;
    out(`${indent}└── (${printable((error as NodeJS.ErrnoException).code ?? 'failed')})`);
    noteError(error);
    return counts;
  }
  for (const [index, entry] of entries.entries()) {
    const last = index === entries.length - 1;
    const child = path === '/' ? `/${entry.name}` : `${path}/${entry.name}`;
    const directory = entry.isDirectory();
    if (entry.name === 'SKILL.md') counts.skills++;
    counts[directory ? 'directories' : 'files']++;
    // VER-5: unverified content is marked wherever it shows.
    const marked = entry.name === 'SKILL.md' || entry.name === '@resources';
    const mark = marked && contentAt(child) === 'dynamic' ? '  (dynamic, unverified)' : '';
    out(`${indent}${last ? '└── ' : '├── '}${printable(entry.name)}${directory ? '/' : ''}${mark}`);
    if (directory) await printTree(mount, child, `${indent}${last ? '    ' : '│   '}`, counts, contentAt);
  }
  return counts;
}
