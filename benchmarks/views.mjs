// Views: a union over 100 servers next to the same skills of one server, and what a patched process pays on other paths.
// Usage: npm run bench
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { flat, mount, patchFs, union } from '../dist/index.js';
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

console.log('A patched process on paths outside of mounts, next to the same process before (times slower)');
const file = join(local, 'file.md');
fs.writeFileSync(file, 'x'.repeat(4096));
const outside = {
  statSync: () => fs.statSync(file),
  'existsSync miss': () => fs.existsSync(`${file}.none`),
  'readFileSync utf8': () => fs.readFileSync(file, 'utf8'),
  readdirSync: () => fs.readdirSync(local),
};
const repeated = (call) => {
  for (let n = 0; n < 1_000; n++) call();
};
const overlay = union([{ path: join(local, 'skills') }, flat(one)], { mountPoint: join(local, 'skills') });
const ratios = Object.entries(outside).map(([name, call]) => {
  const patched = () => {
    const { restore } = patchFs([one, overlay]);
    const started = performance.now();
    repeated(call);
    const took = performance.now() - started;
    restore();
    return took;
  };
  const plain = () => {
    const started = performance.now();
    repeated(call);
    return performance.now() - started;
  };
  const best = [plain, patched].map(() => Number.POSITIVE_INFINITY);
  for (let turn = 0; turn < 60; turn++) {
    for (const [index, run] of [plain, patched].entries()) best[index] = Math.min(best[index], run());
  }
  return [name, Number((best[1] / best[0]).toFixed(3))];
});
console.table(Object.fromEntries(ratios));
fs.rmSync(local, { recursive: true });
process.exit(0);
