// Programs over a kernel mount next to a real directory with the same files, in one run, as ratios. Linux with /dev/fuse.
// Usage: npm run build && node benchmarks/fuse.mjs
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { mountKernel } from '../dist/fuse.js';

const SKILLS = 125;
const FILES = 8;
const ROUNDS = 7;

if (!existsSync('/dev/fuse')) {
  console.log('kernel mounts: skipped, there is no /dev/fuse');
  process.exit();
}
const cli = new URL('../dist/cli.js', import.meta.url).pathname;
const scratch = mkdtempSync(join(tmpdir(), 'skillfs-bench-'));
const [real, at] = [join(scratch, 'real'), join(scratch, 'mount')];
mkdirSync(at);
for (let skill = 0; skill < SKILLS; skill++) {
  for (let file = 0; file < FILES; file++) {
    const name = file === 0 ? 'SKILL.md' : `references/file-${file}.md`;
    const head = file === 0 ? `---\nname: skill-${skill}\ndescription: Number ${skill}\n---\n` : '';
    const path = join(real, `acme/skill-${skill}`, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `${head}${skill} ${file} ${'Words. '.repeat(580)}\n`);
  }
}

const programs = {
  'ls -lR': ['ls', ['-lR']],
  'grep -r (nothing found)': ['grep', ['-r', 'nowhere', '.']],
  'cp -r': ['sh', ['-c', `cp -r . "$0" && chmod -R u+w "$0" && rm -r "$0"`, join(scratch, 'copy')]],
};
const run = promisify(execFile);

async function time([program, args], cwd) {
  const started = performance.now();
  await run(program, args, { cwd, maxBuffer: 2 ** 30 }).catch((error) => {
    if (program !== 'grep' || error.code !== 1) throw error;
  });
  return performance.now() - started;
}

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

async function warm(program, cwd) {
  const rounds = [];
  for (let round = 0; round < ROUNDS; round++) rounds.push(await time(program, cwd));
  return median(rounds);
}

console.log(`${SKILLS * FILES} files of 4 KB, ms (and how many times a real directory, whose files are in memory)`);
const server = { command: process.execPath, args: [cli, 'serve', real], stderr: 'ignore' };
for (const [name, program] of Object.entries(programs)) {
  const onDisk = await warm(program, real);
  const mounted = await mountKernel({ servers: { s: server } }, at);
  const below = join(at, 's');
  const cell = (ms) => `${ms.toFixed(0)} (${(ms / onDisk).toFixed(1)}x)`;
  // Connecting and listing are paid by whoever comes first; what is measured begins after that.
  await run('ls', [below]);
  const cold = await time(program, below);
  console.log(
    `  ${name.padEnd(26)}real ${onDisk.toFixed(0).padStart(4)}   cold ${cell(cold).padEnd(14)}warm ${cell(await warm(program, below))}`,
  );
  await mounted.unmount();
}
rmSync(scratch, { recursive: true });
