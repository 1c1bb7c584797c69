// Kernel mounts, read by programs that know nothing of us. Usage: npm run build && node test/wide/fuse/run.mjs
// Needs Linux with /dev/fuse. As root everything runs a second time as an unprivileged user, in a mount namespace of its own.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { apiChecks } from './api.mjs';
import { faultChecks } from './faults.mjs';
import { removeFixtures } from './fixture.mjs';
import { manyChecks } from './many.mjs';
import { has, obstacle } from './obstacle.mjs';
import { programChecks, readingFixture } from './programs.mjs';
import { viewChecks } from './views.mjs';

const isRoot = process.getuid?.() === 0;

if (obstacle() !== undefined) {
  console.log(`kernel mounts: skipped, ${obstacle()}`);
  process.exit();
}

let last = performance.now();
const results = { passed: 0, failed: 0, skipped: 0 };
const row = (result, name, note = '') => {
  results[result]++;
  const ms = Math.round(performance.now() - last);
  last = performance.now();
  console.log(`  ${result.padEnd(8)}${`${ms} ms`.padStart(10)}  ${name}${note}`);
};

async function check(name, ...rest) {
  const body = rest.at(-1);
  const { needs } = rest.length > 1 ? rest[0] : {};
  if (needs !== undefined && !has(needs)) return row('skipped', name, ` (there is no ${needs})`);
  try {
    await body();
    row('passed', name);
  } catch (error) {
    row('failed', name, `\n${error.stack}`);
  }
}

console.log(`kernel mounts as ${isRoot ? 'root' : `user ${process.getuid()}`}`);
const reading = readingFixture();
await reading.mount();
await programChecks(check, reading);
await reading.unmount();
await faultChecks(check);
await manyChecks(check);
await apiChecks(check);
await viewChecks(check);
removeFixtures();
console.log(`${results.passed} passed, ${results.failed} failed, ${results.skipped} skipped`);
if (results.failed > 0) process.exitCode = 1;

if (isRoot) {
  const self = new URL(import.meta.url).pathname;
  const asNobody = ['--reuid=65534', '--regid=65534', '--clear-groups'];
  const missing = ['fusermount3', 'setpriv', 'unshare'].filter((program) => !has(program));
  if (missing.length > 0) console.log(`kernel mounts as another user: skipped, there is no ${missing.join(', ')}`);
  else if (spawnSync('setpriv', [...asNobody, process.execPath, '--check', self]).status !== 0) {
    console.log('kernel mounts as another user: skipped, this checkout is not readable by others');
  } else {
    const scratch = mkdtempSync(join(tmpdir(), 'skillfs-fuse-device-'));
    // A device that everybody may open, as most systems have it, seen by nobody else.
    const script = `mknod "$0" c 10 229 && chmod 666 "$0" && mount --make-rprivate / && mount --bind "$0" /dev/fuse &&
      exec setpriv ${asNobody.join(' ')} env -u XDG_RUNTIME_DIR HOME=/tmp TMPDIR=/tmp "$@"`;
    const args = ['-m', 'sh', '-c', script, join(scratch, 'fuse'), process.execPath, self];
    const { status } = spawnSync('unshare', args, { stdio: 'inherit' });
    rmSync(scratch, { recursive: true });
    if (status !== 0) process.exitCode = 1;
  }
}
