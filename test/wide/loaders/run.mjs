// Skill loaders of real agents, unmodified, on a plain directory of files and then on a directory of local skills beside the
// skills of MCP servers: they have to find the same. Usage: node run.mjs [loader…] [--scenario name]…
// Needs `npm ci --ignore-scripts --prefix test/wide/loaders` and, for all but the plain directory, `npm run build`.
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { drive } from './drive.mjs';
import { differences, expectedHabits, less, loaders } from './expect.mjs';
import { directories, scenarios } from './scenarios.mjs';
import { flat, localSkills, servedSkills, write, writeHabits } from './skills.mjs';

/** Milliseconds, for servers that do not answer. */
const DEADLINES = { connect: 3000, request: 3000, list: 3000 };
const register = new URL('../../../dist/register.js', import.meta.url);

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { scenario: { type: 'string', multiple: true, default: Object.keys(scenarios) } },
});
const chosen = positionals.length > 0 ? positionals : Object.keys(loaders);
const unknown = [
  ...chosen.filter((name) => !(name in loaders)),
  ...values.scenario.filter((name) => !(name in scenarios)),
];
if (unknown.length > 0) {
  console.error(`not known: ${unknown.join(', ')}`);
  console.error(`loaders: ${Object.keys(loaders).join(', ')}; scenarios: ${Object.keys(scenarios).join(', ')}`);
  process.exit(2);
}

const scratch = await realpath(await mkdtemp(join(tmpdir(), 'skillfs-loaders-')));
const shared = await directories(scratch);
const plainRoot = await write(join(scratch, 'plain'), { ...localSkills, ...flat(servedSkills) });
const skillNames = (await readdir(plainRoot)).sort();
const habits = await writeHabits(join(scratch, 'habits'), join(scratch, 'elsewhere'));
const skipped = existsSync(register) ? undefined : 'dist/register.js is not built';

/** What a loader finds in a directory that holds all skills; nothing in it is ours. */
async function reference(loader) {
  const output = await drive(loader, plainRoot, { scratch });
  const found = output.skills.map(({ name }) => name).join(', ');
  if (found !== skillNames.join(', ')) throw new Error(`finds ${found}; expected ${skillNames.join(', ')}`);
  return output;
}

/** The loader keeps the habits we know: a new version that looks elsewhere is noticed here, not in a mount. */
async function habitual(loader) {
  const { skills } = await drive(loader, habits, { scratch });
  const found = skills.map(({ name }) => name).join(', ');
  const expected = expectedHabits(loaders[loader]).join(', ');
  return found === expected ? [] : [`of the habits it finds ${found}; expected ${expected}`];
}

/** The loader finds in a scenario what it finds in the plain directory, less what has to be missing. */
async function mounted(loader, scenario, plain) {
  const { missing, servers } = scenarios[scenario];
  const config = join(scratch, `${scenario}.json`);
  const overlays = { [shared.local]: 'flat' };
  await writeFile(config, JSON.stringify({ mcpServers: servers(shared), overlays, deadlines: DEADLINES }));
  const execArgv = ['--import', register.href];
  const output = await drive(loader, shared.local, { scratch, execArgv, env: { SKILLFS_CONFIG: config } });
  const expected = { root: plainRoot, output: less(missing, plain) };
  return differences(expected, { root: shared.local, output });
}

/** What differs in each column. */
async function examine(loader) {
  const row = {};
  const fill = async (column, check) => {
    const started = Date.now();
    row[column] = await check().catch(({ message }) => [message]);
    console.error(`${loader}, ${column}: ${cell(row[column])} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
  };
  let plain;
  await fill('plain', async () => {
    plain = await reference(loader);
    return habitual(loader);
  });
  for (const scenario of values.scenario) {
    await fill(scenario, async () => {
      if (skipped !== undefined) return skipped;
      return plain === undefined ? ['nothing to compare with'] : mounted(loader, scenario, plain);
    });
  }
  return row;
}

function cell(outcome) {
  if (outcome === skipped) return 'skipped';
  return outcome.length === 0 ? 'ok' : `${outcome.length} differ`;
}

const rows = {};
for (const loader of chosen) rows[loader] = await examine(loader);
await rm(scratch, { recursive: true, force: true });

const table = {};
for (const [loader, row] of Object.entries(rows)) {
  table[loader] = {};
  for (const [column, outcome] of Object.entries(row)) {
    table[loader][column] = cell(outcome);
    if (outcome !== skipped) for (const line of outcome) console.log(`${loader}, ${column}: ${line}`);
  }
}
if (skipped !== undefined) console.log(`${values.scenario.join(', ')}: skipped, because ${skipped}`);
console.table(table);
const cells = Object.values(table).flatMap((row) => Object.values(row));
const count = (wanted) => cells.filter(wanted).length;
const failed = count((text) => text.endsWith('differ'));
console.log(
  `loaders: ${count((text) => text === 'ok')} passed, ${failed} failed, ${count((text) => text === 'skipped')} skipped`,
);
process.exitCode = failed > 0 ? 1 : 0;
