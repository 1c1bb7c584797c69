/**
 * The built package's adapters against hosts that are too large for everybody's installation: `npm ci --ignore-scripts
 * --prefix test/wide/adapters`, then this.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const tsc = fileURLToPath(new URL('../../../node_modules/typescript/bin/tsc', import.meta.url));
const tests = ['mastra', 'deepagents', 'just-bash'].map((host) => `${host}.test.mjs`);

for (const command of [
  [tsc, '--noEmit', '-p', '.'],
  // The search on the disk that deepagents compares with leaves a timer of half a minute.
  ['--test', '--test-force-exit', ...tests],
]) {
  const { status } = spawnSync(process.execPath, command, { cwd: here, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
