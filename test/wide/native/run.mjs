// Agents that are native programs, which no patch inside Node.js reaches, started by `skillfs run`: they find the skills of
// servers beside the project's own, and nothing of the project changes.
// Usage: npm run build && npm ci --ignore-scripts --prefix test/wide/native && node test/wide/native/run.mjs
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { obstacle } from '../fuse/obstacle.mjs';
import { agents, obstacleTo, skillsOf } from './agents.mjs';

const cli = fileURLToPath(new URL('../../../dist/cli.js', import.meta.url));
const fixtures = fileURLToPath(new URL('../../../fixtures/skills', import.meta.url));
const served = readdirSync(fixtures, { recursive: true })
  .filter((path) => path.endsWith('/SKILL.md'))
  .map((path) => path.split('/').at(-2));
const server = `s='${process.execPath}' '${cli}' serve '${fixtures}'`;
const results = { passed: 0, failed: 0, skipped: 0 };

for (const [name, agent] of Object.entries(agents)) {
  for (const how of ['mount', 'export']) {
    const why = obstacleTo(agent) ?? (how === 'mount' ? obstacle() : undefined);
    if (why === undefined) await check(`${name}, ${how}`, () => finds(name, agent, how));
    else row('skipped', `${name}, ${how}`, ` (${why})`);
  }
}
console.log(`native agents: ${results.passed} passed, ${results.failed} failed, ${results.skipped} skipped`);
if (results.failed > 0) process.exitCode = 1;

/** A project with a skill of its own, and one whose name a server's skill has, too. */
async function finds(name, agent, how) {
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'skillfs-native-')));
  const [cwd, home, temporary, runtime] = ['project', 'home', 'tmp', 'run'].map((part) => join(scratch, part));
  for (const directory of [cwd, home, temporary, runtime]) mkdirSync(directory);
  spawnSync('git', ['init', '-q', cwd]);
  const local = (skill) => join(cwd, agent.local, skill, 'SKILL.md');
  for (const skill of ['own', 'refunds']) {
    mkdirSync(join(local(skill), '..'), { recursive: true });
    writeFileSync(local(skill), `---\nname: ${skill}\ndescription: Of the project\n---\n`);
  }
  const before = contentsOf(cwd);
  try {
    const command = [process.execPath, cli, 'run', '--server', server, '--for', name, '--how', how, '--'];
    const directories = { HOME: home, TMPDIR: temporary, XDG_RUNTIME_DIR: runtime };
    const env = { ...directories, NODE_OPTIONS: '', XDG_CONFIG_HOME: '', XDG_DATA_HOME: '' };
    const found = await skillsOf(agent, command, { cwd, env });
    const names = new Set(found.map((skill) => skill.name));
    for (const skill of [...served, 'own'])
      assert.ok(names.has(skill), `${skill} is not among ${[...names].join(', ')}`);
    // A name that the project has is not given to a server's skill (SEC-5).
    const refunds = found.filter((skill) => skill.name === 'refunds');
    assert.equal(refunds.length, 1);
    if (refunds[0].path !== undefined) assert.equal(refunds[0].path, local('refunds'));
    assert.deepEqual(contentsOf(cwd), before);
    const left = [...readdirSync(temporary), ...contentsOf(runtime)];
    assert.deepEqual(
      left.filter((entry) => entry.startsWith('skillfs-') || entry.endsWith('.json')),
      [],
    );
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function contentsOf(directory) {
  return readdirSync(directory, { recursive: true })
    .filter((path) => !path.startsWith('.git'))
    .sort();
}

async function check(name, body) {
  try {
    await body();
    row('passed', name);
  } catch (error) {
    row('failed', name, `\n${error.stack}`);
  }
}

function row(outcome, name, note = '') {
  results[outcome]++;
  console.log(`  ${outcome}  ${name}${note}`);
}
