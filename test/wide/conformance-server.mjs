// The official suite's server scenarios against `skillfs serve --http` over the shipped skills.
// Needs SKILLFS_NODE24 (a Node.js >= 22 binary) and SKILLFS_CONFORMANCE (the suite's entry point).
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const { SKILLFS_NODE24: node, SKILLFS_CONFORMANCE: suite } = process.env;
const results = mkdtempSync(join(tmpdir(), 'skillfs-conformance-'));
const server = spawn(process.execPath, ['dist/cli.js', 'serve', 'fixtures/skills', '--http'], {
  stdio: ['ignore', 'ignore', 'pipe'],
});
const url = await new Promise((resolve, reject) => {
  let said = '';
  server.stderr.on('data', (chunk) => {
    said += chunk;
    const [found] = /http:\/\/\S+/.exec(said) ?? [];
    if (found) resolve(found);
  });
  server.once('exit', () => reject(new Error(`the server ended: ${said}`)));
});

let passed = 0;
let failed = 0;
for (const scenario of ['enumeration', 'manifest', 'directory'].map((name) => `sep-2640-skills-${name}`)) {
  const { status, stdout, stderr } = spawnSync(
    node,
    [suite, 'server', '--url', url, '--scenario', scenario, '-o', results],
    { encoding: 'utf8' },
  );
  console.log(`${status === 0 ? 'ok' : 'not ok'} ${scenario}`);
  if (status === 0) passed++;
  else {
    failed++;
    console.log(stdout, stderr);
  }
}
server.kill();
rmSync(results, { recursive: true });
console.log(`conformance-server: ${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
