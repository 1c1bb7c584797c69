import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { diskStore } from '../../src/content/disk/disk-store.ts';
import { digestOf } from '../../src/content/verify.ts';
import { blob, blobFiles, temporaryDirectory } from './support.ts';

const program = new URL('./cache-user.mjs', import.meta.url).pathname;
const OPERATIONS = 200;

test('CACHE-1: processes that share a cache and are killed at any moment spoil nothing', async () => {
  const seed = Number(process.env['SKILLFS_SEED'] ?? Math.floor(Math.random() * 1e9));
  process.stdout.write(`SKILLFS_SEED=${seed}\n`);
  const random = generator(seed);
  const directory = join(temporaryDirectory(), 'cache');
  const runs = await Promise.all(Array.from({ length: 4 }, () => useUntilDone(directory, random)));
  expect(runs.flatMap(({ wrong }) => wrong)).toEqual([]);
  expect(runs.reduce((sum, { kills }) => sum + kills, 0)).toBeGreaterThanOrEqual(4);

  for (const file of blobFiles(directory)) expect(digestOf(readFileSync(file))).toBe(`sha256:${basename(file)}`);
  const store = diskStore({ directory });
  expect(store.prune().corrupt.files).toBe(0);
  const server = store.server('a', {}, 'key');
  const last = blob('last');
  server?.put(last.digest, last.bytes);
  expect(server?.get(last)).toEqual(last.bytes);
}, 120_000);

/** Starts the program again after each kill, until all its operations are done. */
async function useUntilDone(directory: string, random: () => number): Promise<{ wrong: string[]; kills: number }> {
  const wrong: string[] = [];
  let kills = 0;
  for (let done = 0; done < OPERATIONS; ) {
    const left = OPERATIONS - done;
    const killAfter = kills < 3 ? 1 + Math.floor(random() * Math.min(left, 100)) : Number.POSITIVE_INFINITY;
    const run = await use(directory, Math.floor(random() * 1e9), left, killAfter);
    done += run.done;
    wrong.push(...run.wrong);
    if (run.killed) kills++;
    else if (run.done < left) throw new Error(`the program ended by itself: ${run.stderr}`);
  }
  return { wrong, kills };
}

async function use(directory: string, seed: number, operations: number, killAfter: number) {
  const child = spawn(process.execPath, [program, directory, `${seed}`, `${operations}`]);
  const wrong: string[] = [];
  let [done, killed, stderr] = [0, false, ''];
  child.stderr.on('data', (data) => {
    stderr += data;
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line.startsWith('wrong')) wrong.push(line);
    else done = Number(line);
    if (done < killAfter || killed) return;
    killed = child.kill('SIGKILL');
  });
  await new Promise((resolve) => child.on('close', resolve));
  return { done, killed, wrong, stderr };
}

function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}
