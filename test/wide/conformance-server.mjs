// The official suite's server scenarios against `skillfs serve --http` over the shipped skills, on both protocol eras.
// Needs SKILLFS_NODE24 (a Node.js >= 22 binary) and SKILLFS_CONFORMANCE (the suite's entry point).
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const { SKILLFS_NODE24: node, SKILLFS_CONFORMANCE: suite } = process.env;
if (!node || !suite) {
  console.error('SKILLFS_NODE24 and SKILLFS_CONFORMANCE have to be set');
  process.exit(2);
}
const pathOf = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const server = spawn(process.execPath, [pathOf('dist/cli.js'), 'serve', pathOf('fixtures/skills'), '--http', '0'], {
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

const results = mkdtempSync(join(tmpdir(), 'skillfs-conformance-'));
let passed = 0;
let failed = 0;
for (const version of ['2025-11-25', '2026-07-28']) {
  for (const scenario of ['enumeration', 'manifest', 'directory'].map((name) => `sep-2640-skills-${name}`)) {
    // Scenarios of extensions belong to no version of the protocol; without --force they are skipped, with success.
    const about = ['--scenario', scenario, '--spec-version', version, '--force', '-o', results];
    const { status, stdout, stderr } = spawnSync(node, [suite, 'server', '--url', url, ...about], { encoding: 'utf8' });
    const ok = status === 0 && /Passed: \d+\/\d+, 0 failed/.test(stdout);
    console.log(`${ok ? 'ok' : 'not ok'} ${scenario} ${version}`);
    if (ok) passed++;
    else {
      failed++;
      console.log(stdout, stderr);
    }
  }
}
server.kill();
rmSync(results, { recursive: true });
console.log(`conformance-server: ${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
