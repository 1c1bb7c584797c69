// Warm and cold calls of a mount next to node:fs on the disk and memfs, in one run, as ratios.
// Usage: npm run bench

// Warm and cold calls of a mount next to node:fs on the disk and memfs, in one run, as ratios.
// Usage: npm run bench
import fs, { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createFsFromVolume, Volume } from 'memfs';
import { mount } from '../dist/index.js';

const SKILLS = 200;
const FILES = 8;
const cli = new URL('../dist/cli.js', import.meta.url).pathname;
const directory = mkdtempSync(join(tmpdir(), 'skillfs-bench-'));
const tree = {};
for (let skill = 0; skill < SKILLS; skill++) {
  const name = `skill-${skill}`;
  tree[`acme/${name}/SKILL.md`] =
    `---\nname: ${name}\ndescription: Skill number ${skill}\n---\n\n${'Text. '.repeat(650)}\n`;
  for (let file = 1; file < FILES; file++)
    tree[`acme/${name}/references/file-${file}.md`] = `${skill} ${file} ${'Words. '.repeat(580)}\n`;
}
for (const [path, content] of Object.entries(tree)) {
  mkdirSync(dirname(join(directory, path)), { recursive: true });
  writeFileSync(join(directory, path), content);
}
const paths = Object.keys(tree);

const server = { command: process.execPath, args: [cli, 'serve', directory], stderr: 'ignore' };
const mounted = mount({ servers: { s: server } });
await mounted.ready();
await mounted.preload();
const volume = Volume.fromJSON(tree, '/mem');
const contenders = {
  'node:fs': { fs, at: (path) => join(directory, path) },
  memfs: { fs: createFsFromVolume(volume), at: (path) => `/mem/${path}` },
  skillfs: { fs: mounted.fs, at: (path) => `/mcp/s/${path}` },
};

const operations = {
  'readFileSync utf8': ({ fs }, path) => fs.readFileSync(path, 'utf8'),
  'readFileSync Buffer': ({ fs }, path) => fs.readFileSync(path),
  statSync: ({ fs }, path) => fs.statSync(path),
  'existsSync hit': ({ fs }, path) => fs.existsSync(path),
  'existsSync miss': ({ fs }, path) => fs.existsSync(`${path}.none`),
  'readdirSync names': ({ fs }, path) => fs.readdirSync(dirname(path)),
  'readdirSync types': ({ fs }, path) => fs.readdirSync(dirname(path), { withFileTypes: true }),
  'promises.readFile utf8': ({ fs }, path) => fs.promises.readFile(path, 'utf8'),
  'promises.stat': ({ fs }, path) => fs.promises.stat(path),
};

/** Microseconds per call: the median of several rounds over all paths. */
async function measure(operation, contender) {
  const at = paths.map(contender.at);
  const rounds = [];
  for (let round = 0; round < 12; round++) {
    const started = performance.now();
    for (const path of at) {
      const result = operation(contender, path);
      if (result instanceof Promise) await result;
    }
    rounds.push(((performance.now() - started) * 1000) / at.length);
  }
  return rounds.sort((a, b) => a - b)[rounds.length >> 1];
}

console.log(`warm, ${paths.length} files of 4 KB, µs per call (and how many times faster than node:fs)`);
for (const [name, operation] of Object.entries(operations)) {
  const measured = {};
  for (const [who, contender] of Object.entries(contenders)) measured[who] = await measure(operation, contender);
  const cells = Object.entries(measured).map(
    ([who, us]) => `${who} ${us.toFixed(2)} (${(measured['node:fs'] / us).toFixed(1)}x)`,
  );
  console.log(`  ${name.padEnd(24)}${cells.join('   ')}`);
}

console.log('cold, through a stdio server, ms per file (ratio to the asynchronous read of one file at a time)');
const cold = {
  'async, one at a time': async ({ promises }) => {
    for (const path of paths) await promises.readFile(`/mcp/s/${path}`);
  },
  'async, all at once': ({ promises }) => Promise.all(paths.map((path) => promises.readFile(`/mcp/s/${path}`))),
  sync: ({ fs }) => {
    for (const path of paths) fs.readFileSync(`/mcp/s/${path}`);
  },
};
let base;
for (const [name, run] of Object.entries(cold)) {
  const fresh = mount({ servers: { s: server } });
  await fresh.ready();
  const started = performance.now();
  await run(fresh);
  const ms = (performance.now() - started) / paths.length;
  base ??= ms;
  console.log(`  ${name.padEnd(24)}${ms.toFixed(3)} (${(ms / base).toFixed(2)}x)`);
  await fresh.close();
}
await mounted.close();
rmSync(directory, { recursive: true });
