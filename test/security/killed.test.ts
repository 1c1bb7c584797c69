import { spawn } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { Approvals } from '../../src/policy/approvals.ts';
import { directory } from '../views/views.ts';

const program = new URL('./approver.mjs', import.meta.url).pathname;
const APPROVALS = Number(process.env['SKILLFS_KILLED'] ?? 60);
const KILLS = 4;

test('SEC-6: processes that approve and are killed at any moment lose no approval and spoil nothing', async () => {
  const seed = Number(process.env['SKILLFS_SEED'] ?? Math.floor(Math.random() * 1e9));
  process.stdout.write(`SKILLFS_SEED=${seed}\n`);
  const random = generator(seed);
  const file = join(directory({}), 'approvals.json');
  let finished = false;
  const told = Promise.all(['a', 'b', 'c', 'd'].map((name) => approveAll(file, name, random))).finally(() => {
    finished = true;
  });
  // Whoever reads meanwhile sees a whole file that only grows.
  for (let known = 0; !finished; await new Promise((resolve) => setImmediate(resolve))) {
    const { length } = new Approvals(file).records();
    expect(length).toBeGreaterThanOrEqual(known);
    known = length;
  }
  const runs = await told;
  expect(runs.map(({ kills }) => kills)).toEqual([KILLS, KILLS, KILLS, KILLS]);
  const approvals = new Approvals(file);
  for (const { name, numbers } of runs) {
    expect(numbers).toHaveLength(APPROVALS);
    for (const number of numbers) {
      const record = approvals.recordAt(name, `${name}/n${number}`);
      expect(record?.approval?.files, `${name} ${number}`).toMatchObject([{ size: number }]);
    }
  }
  expect(approvals.records()).toHaveLength(4 * APPROVALS);
  // The next one cleans up; what was killed before it wrote who it is goes when it is old.
  approvals.disable({ label: 'a', uri: 'skill://a/n0/SKILL.md' });
  const left = readdirSync(dirname(file)).filter((name) => statSync(join(dirname(file), name)).size > 0);
  expect(left).toEqual(['approvals.json']);
}, 240_000);

/** Starts the program again after each kill, where it got to, until all are approved. */
async function approveAll(file: string, name: string, random: () => number) {
  const numbers: number[] = [];
  let kills = 0;
  while (numbers.length < APPROVALS) {
    const left = APPROVALS - numbers.length;
    const mayKill = kills < KILLS;
    const run = await approve(file, name, numbers, mayKill ? Math.floor(random() * (left / 4)) : undefined, random);
    if (run.killed) kills++;
    else if (numbers.length < APPROVALS) throw new Error(`the program ended by itself: ${run.stderr}`);
  }
  return { name, numbers, kills };
}

/** @param killAfter so many approvals, and some time that is different each time */
async function approve(
  file: string,
  name: string,
  numbers: number[],
  killAfter: number | undefined,
  random: () => number,
): Promise<{ killed: boolean; stderr: string }> {
  const first = numbers.length;
  const child = spawn(process.execPath, [program, file, name, `${first}`, `${APPROVALS - first}`]);
  let [killed, stderr] = [false, ''];
  child.stderr.on('data', (data) => {
    stderr += data;
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (Number(line) === numbers.length) numbers.push(Number(line));
    if (killAfter === undefined || killed || numbers.length - first <= killAfter) return;
    killed = true;
    setTimeout(() => child.kill('SIGKILL'), random() * 8);
  });
  const ended = await new Promise<NodeJS.Signals | null>((resolve) =>
    child.on('close', (_, signal) => resolve(signal)),
  );
  return { killed: ended === 'SIGKILL', stderr };
}

function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}
