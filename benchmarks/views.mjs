// Views: a union over 100 servers next to the same skills of one server, and what a patched process pays on other paths.
// Usage: npm run bench
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { flat, mount, union } from '../dist/index.js';
import { memoryServer } from '../dist/testing.js';

const SKILLS = 2_000;
const FILES = 4;
const SERVERS = 100;
const ROUNDS = 15;

const skills = Array.from({ length: SKILLS }, (_, index) => `skill-${index}`);
const filesOf = (name) => ({
  [`acme/${name}/SKILL.md`]: `---\nname: ${name}\ndescription: About ${name}\n---\n`,
  ...Object.fromEntries(Array.from({ length: FILES - 1 }, (_, file) => [`acme/${name}/references/${file}.md`, 'text'])),
});

/** The same skills, dealt out to a number of servers. */
async function mounted(count) {
  const servers = {};
  for (let n = 0; n < count; n++) {
    const own = skills.filter((_, index) => index % count === n);
    servers[`s${n}`] = (await memoryServer(Object.assign({}, ...own.map(filesOf)))).client;
  }
  const all = mount({ servers });
  await all.ready();
  return all;
}

/** The shortest of many turns each, in milliseconds: turn about, so that a busy machine is busy for both. */
function compared(first, second, turns = ROUNDS) {
  const best = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let turn = 0; turn < turns; turn++) {
    for (const [index, run] of [first, second].entries()) {
      const started = performance.now();
      run();
      best[index] = Math.min(best[index], performance.now() - started);
    }
  }
  return Number((best[1] / best[0]).toFixed(2));
}

const local = fs.mkdtempSync(join(tmpdir(), 'skillfs-bench-'));
const [one, many] = [await mounted(1), await mounted(SERVERS)];
const layered = { 'flat view': (all) => [flat(all)], 'server trees': (all) => [all] };
const operations = {
  'recursive readdirSync': ({ fs, mountPoint }) => fs.readdirSync(mountPoint, { recursive: true, withFileTypes: true }),
  'statSync of every skill': ({ fs, paths }) => paths.map((path) => fs.statSync(path)),
  'existsSync of none': ({ fs, paths }) => paths.map((path) => fs.existsSync(`${path}/none`)),
};

console.log(`${SKILLS} skills of ${FILES} files over a local directory: ${SERVERS} servers next to one (times slower)`);
const rows = {};
for (const [how, layersOf] of Object.entries(layered)) {
  const views = [one, many].map((all) => {
    const view = union([{ path: local }, ...layersOf(all)]);
    return { fs: view.fs, mountPoint: view.mountPoint, paths: view.skills().map(({ path }) => path) };
  });
  rows[how] = {};
  for (const [what, run] of Object.entries(operations)) {
    rows[how][what] = compared(
      () => run(views[0]),
      () => run(views[1]),
    );
  }
}
console.table(rows);

console.log('A patched process on paths outside of mounts, next to one that is not (times slower)');
const elsewhere = join(local, 'elsewhere');
fs.mkdirSync(elsewhere);
fs.writeFileSync(join(elsewhere, 'file.md'), 'x'.repeat(4096));
const config = JSON.stringify({
  mcpServers: { none: { command: 'none' } },
  overlays: { [join(local, 'project/.agents/skills')]: 'flat' },
});
// Each process times short bursts, of which the shortest counts; processes take turns.
const burst = `
  const fs = require('node:fs');
  const file = ${JSON.stringify(join(elsewhere, 'file.md'))};
  const calls = {
    statSync: () => fs.statSync(file),
    'existsSync miss': () => fs.existsSync(file + '.none'),
    'readFileSync utf8': () => fs.readFileSync(file, 'utf8'),
    readdirSync: () => fs.readdirSync(${JSON.stringify(elsewhere)}),
  };
  const best = {};
  for (const [name, call] of Object.entries(calls)) {
    for (let turn = 0; turn < 60; turn++) {
      const started = performance.now();
      for (let n = 0; n < 1_000; n++) call();
      best[name] = Math.min(best[name] ?? Infinity, performance.now() - started);
    }
  }
  console.log(JSON.stringify(best));`;
const register = new URL('../dist/register.js', import.meta.url).href;
const results = [[], []];
for (let turn = 0; turn < 5; turn++) {
  for (const [index, flags] of [[], ['--import', register]].entries()) {
    const env = { ...process.env, SKILLFS_CONFIG: config };
    results[index].push(JSON.parse(execFileSync(process.execPath, [...flags, '-e', burst], { env, encoding: 'utf8' })));
  }
}
const shortest = (runs, name) => Math.min(...runs.map((run) => run[name]));
const ratios = Object.keys(results[0][0]).map((name) => [
  name,
  Number((shortest(results[1], name) / shortest(results[0], name)).toFixed(3)),
]);
console.table(Object.fromEntries(ratios));
fs.rmSync(local, { recursive: true });
process.exit(0);
