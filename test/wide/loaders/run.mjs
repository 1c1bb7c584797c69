// Skill loaders of real agents, unmodified, on a plain directory of files and then on a directory of local skills beside the
// skills of MCP servers: they have to find the same. Usage: node run.mjs [loader…] [--scenario name]…
// Needs `npm ci --ignore-scripts --prefix test/wide/loaders` and, for all but the plain directory, `npm run build`.
import { existsSync } from 'node:fs';
import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { drive } from './drive.mjs';
import { differences, expectedHabits, loaders } from './expect.mjs';
import { directories, scenarios } from './scenarios.mjs';
import { write, writeHabits } from './skills.mjs';

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
const habits = await writeHabits(join(scratch, 'habits'), join(scratch, 'elsewhere'));
const skipped = existsSync(register) ? undefined : 'dist/register.js is not built';

/** A loader keeps the habits we know, so that a plain directory is a fair measure. */
async function plain(loader) {
  const { skills } = await drive(loader, habits, { scratch });
  const found = skills.map(({ name }) => name).join(', ');
  const expected = expectedHabits(loaders[loader]).join(', ');
  return found === expected ? [] : [`of the habits it finds ${found}; expected ${expected}`];
}

/** A loader finds in a scenario what it finds in a plain directory. */
async function mounted(loader, name) {
  const { expected, servers } = scenarios[name];
  const root = await write(join(scratch, `${name}-plain`), expected);
  const reference = { root, output: await drive(loader, root, { scratch }) };
  const names = new Set(Object.keys(expected).map((path) => path.split('/')[0]));
  if (reference.output.skills.length !== names.size) {
    return [`finds ${reference.output.skills.length} skills of ${names.size} in the plain directory`];
  }
  if (skipped !== undefined) return skipped;
  const config = join(scratch, `${name}.json`);
  const mcpServers = servers(shared);
  const overlays = { [shared.local]: 'flat' };
  await writeFile(config, JSON.stringify({ mcpServers, overlays, deadlines: DEADLINES }));
  const output = await drive(loader, shared.local, {
    scratch,
    execArgv: ['--import', register.href],
    env: { SKILLFS_CONFIG: config },
  });
  return differences(reference, { root: shared.local, output });
}

const columns = ['plain', ...values.scenario];
const failures = [];
const rows = {};
for (const loader of chosen) {
  rows[loader] = {};
  for (const column of columns) {
    const outcome = await (column === 'plain' ? plain(loader) : mounted(loader, column)).catch(({ message }) => [
      message,
    ]);
    if (Array.isArray(outcome)) {
      rows[loader][column] = outcome.length === 0 ? 'ok' : `${outcome.length} differ`;
      failures.push(...outcome.map((line) => `${loader}, ${column}: ${line}`));
    } else rows[loader][column] = 'skipped';
    console.error(`${loader}, ${column}: ${rows[loader][column]}`);
  }
}
await rm(scratch, { recursive: true, force: true });

for (const failure of failures) console.log(failure);
if (skipped !== undefined) console.log(`${values.scenario.join(', ')}: skipped, because ${skipped}`);
console.table(rows);
const count = (wanted) => Object.values(rows).flatMap((row) => Object.values(row).filter(wanted)).length;
console.log(`loaders: ${count((cell) => cell === 'ok')} passed, ${count((cell) => cell.endsWith('differ'))} failed`);
process.exitCode = failures.length > 0 ? 1 : 0;
