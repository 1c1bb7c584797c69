// Runs one driver as a program of its own.
import { spawn } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Milliseconds for a driver to end by itself. Most need two seconds; the limit is for a machine with other things to do. */
const LIMIT = 90_000;

/**
 * Runs a driver on `root`, in a home directory of its own and with an environment that says nothing else.
 *
 * @param scratch where the home directory is made
 * @param execArgv further arguments of node
 * @returns the driver's output
 * @throws Error when it fails, does not end, or leaves a process behind
 */
export async function drive(loader, root, { scratch, execArgv = [], env = {} }) {
  const driver = fileURLToPath(new URL(`./drivers/${loader}.mjs`, import.meta.url));
  const home = await mkdtemp(join(scratch, 'home-'));
  const { PATH } = process.env;
  const child = spawn(process.execPath, [...execArgv, driver, root], {
    cwd: home,
    env: { PATH, HOME: home, TMPDIR: scratch, MASTRA_TELEMETRY_DISABLED: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const stdout = collect(child.stdout);
  const stderr = collect(child.stderr);
  const code = await ended(child);
  if (code === 0) return JSON.parse(stdout().trimEnd().split('\n').at(-1));
  const said = `${stdout()}${stderr()}`.split('\n').filter((line) => line !== '' && !line.startsWith('{"loader":'));
  const tail = said.slice(-12).join('\n    ');
  throw new Error(`${code === undefined ? notEnded(child, stdout()) : `ended with ${code}`}\n    ${tail}`);
}

function collect(stream) {
  const chunks = [];
  stream.on('data', (chunk) => chunks.push(chunk));
  return () => Buffer.concat(chunks).toString();
}

/** The exit code or signal once the program ended and nobody holds its output any more; `undefined` when that takes too long. */
function ended(child) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => resolve(undefined), LIMIT);
    child.once('error', reject).once('close', (code, signal) => {
      clearTimeout(timer);
      resolve(code ?? signal);
    });
  });
}

function notEnded(child, stdout) {
  child.stdout.destroy();
  child.stderr.destroy();
  if (child.exitCode !== null) return 'ended, but a process it started holds its output';
  child.kill('SIGKILL');
  return `did not end in ${LIMIT / 1000} s (${stdout.includes('"skills"') ? 'after' : 'before'} it printed its output)`;
}
