// Many agents over one real Redis. Usage: npm run build && node test/wide/redis/run.mjs
// Needs redis-server, in PATH or as SKILLFS_REDIS_SERVER.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createClient } from 'redis';
import { redisStore } from '../../../dist/redis.js';

const program = process.env.SKILLFS_REDIS_SERVER ?? 'redis-server';
const here = (file) => new URL(file, import.meta.url).pathname;
const AGENTS = 8;
const SKILLS = 200;
const FILES = SKILLS * 2;

const { error, stdout: version } = spawnSync(program, ['--version'], { encoding: 'utf8' });
if (error !== undefined) {
  console.log(`shared store in Redis: skipped, there is no ${program} (apt-get install redis-server)`);
  process.exit();
}
console.log(`shared store in Redis: ${version.trim()}`);

const directory = mkdtempSync(join(tmpdir(), 'skillfs-redis-'));
const children = new Set();
function start(command, args) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
}

/** What a child prints next, a line at a time. */
const linesOf = (child) => createInterface({ input: child.stdout })[Symbol.asyncIterator]();

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  return port;
}

/** A Redis of its own, with nothing in it. */
async function redis(...options) {
  const port = await freePort();
  const settings = ['--port', port, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', directory];
  const run = async () => {
    const child = start(program, [...settings, ...options].map(String));
    for await (const line of createInterface({ input: child.stdout })) if (line.includes('Ready to accept')) break;
    child.stdout.resume();
    return child;
  };
  let child = await run();
  return {
    url: `redis://127.0.0.1:${port}`,
    async kill(signal = 'SIGKILL') {
      const gone = once(child, 'exit');
      child.kill(signal);
      await gone;
    },
    pause: () => child.kill('SIGSTOP'),
    go: () => child.kill('SIGCONT'),
    async restart() {
      child = await run();
    },
    /** @param use given a client of the tests' own */
    async look(use) {
      const client = await createClient({ url: `redis://127.0.0.1:${port}` }).connect();
      try {
        return await use(client);
      } finally {
        await client.close();
      }
    },
  };
}

async function server(delay) {
  const child = start(process.execPath, [here('server.mjs'), String(SKILLS), String(delay)]);
  const { value: url } = await linesOf(child).next();
  return {
    url,
    reads: async () => Number(await (await fetch(new URL('/reads', url))).text()),
    close: () => child.kill(),
  };
}

/** @param onRead called with how many files the agent has read so far */
async function agent(url, shared, { how = 'async', onRead = () => {} } = {}) {
  const child = start(process.execPath, [here('agent.mjs'), url, JSON.stringify(shared), how]);
  const ended = once(child, 'exit');
  let read = 0;
  let last = '';
  for await (const line of createInterface({ input: child.stdout })) {
    if (line === 'read') onRead(++read);
    else last = line;
  }
  const [code] = await ended;
  assert.equal(code, 0, `an agent ended with ${code}`);
  return JSON.parse(last);
}

const results = { passed: 0, failed: 0 };
async function check(name, body) {
  const started = performance.now();
  try {
    const note = await body();
    results.passed++;
    console.log(`  passed  ${Math.round(performance.now() - started)} ms  ${name}${note ? `: ${note}` : ''}`);
  } catch (problem) {
    results.failed++;
    console.log(`  failed  ${name}\n${problem.stack}`);
  }
}

const everybody = (count, run) => Promise.all(Array.from({ length: count }, (_, index) => run(index)));

function allRight(agents) {
  for (const { files } of agents) assert.equal(files, FILES);
  assert.equal(new Set(agents.map(({ digest }) => digest)).size, 1, 'agents read the same bytes');
}

await check(`one agent fetches ${FILES} files, then ${AGENTS} agents none`, async () => {
  const [store, origin] = [await redis(), await server(0)];
  const shared = { redis: store.url };
  const first = await agent(origin.url, shared);
  assert.equal(await origin.reads(), FILES);
  const others = await everybody(AGENTS, (index) => agent(origin.url, shared, { how: index % 2 ? 'sync' : 'async' }));
  allRight([first, ...others]);
  assert.equal(await origin.reads(), FILES, 'no agent but the first read from the server');
  assert.deepEqual(
    [first, ...others].flatMap(({ problems }) => problems),
    [],
  );
  await store.look(async (client) => {
    const keys = await client.keys('*');
    for (const key of keys) assert.match(key, /^skillfs:[0-9a-f]{16}-[0-9a-f]{64}-[0-9a-f]{64}(:claim)?$/);
    const ttl = await client.ttl(keys.find((key) => !key.endsWith(':claim')));
    assert.ok(ttl > 6 * 86_400 && ttl <= 7 * 86_400, `an entry has ${ttl} s left`);
  });
  origin.close();
  await store.kill();
  return `cold ${first.ms} ms, from Redis ${others
    .map(({ ms }) => ms)
    .sort((a, b) => a - b)
    .join(' ')} ms`;
});

await check(`${AGENTS} agents that start together fetch ${FILES} files once in all`, async () => {
  const [store, origin] = [await redis(), await server(20)];
  const agents = await everybody(AGENTS, () => agent(origin.url, { redis: store.url }));
  allRight(agents);
  const reads = await origin.reads();
  const problems = agents.flatMap((one) => one.problems);
  assert.ok(reads <= FILES * 1.1, `${reads} reads of ${FILES} files\n${problems.join('\n')}`);
  origin.close();
  await store.kill();
  return `${reads} reads, ${AGENTS * FILES} without a store`;
});

await check('Redis is killed in the middle: reads go on, and it is used again when it is back', async () => {
  const [store, origin] = [await redis(), await server(5)];
  const shared = { redis: store.url, ttlSeconds: 600 };
  let killing;
  const onRead = (read) => {
    if (read === FILES / 4) killing ??= store.kill();
  };
  const agents = await everybody(AGENTS, (index) =>
    agent(origin.url, shared, { how: index % 2 ? 'sync' : 'async', onRead }),
  );
  await killing;
  allRight(agents);
  for (const { problems } of agents) assert.ok(problems.length <= 2, problems.join('\n'));
  assert.ok(
    agents.some(({ problems }) => problems.length > 0),
    'an agent told of it',
  );
  await store.restart();
  await agent(origin.url, shared);
  const before = await origin.reads();
  await agent(origin.url, shared);
  assert.equal(await origin.reads(), before);
  origin.close();
  await store.kill();
});

await check('Redis that stops answering delays nobody for long', async () => {
  const [store, origin] = [await redis(), await server(0)];
  store.pause();
  const stuck = await agent(origin.url, { redis: store.url });
  allRight([stuck]);
  assert.equal(stuck.problems.length, 1, stuck.problems.join('\n'));
  assert.match(stuck.problems[0], /no answer within/);
  store.go();
  origin.close();
  await store.kill();
  return `${stuck.ms} ms`;
});

await check('what somebody else put there is noticed, and never served', async () => {
  const [store, origin] = [await redis(), await server(0)];
  const shared = { redis: store.url };
  const first = await agent(origin.url, shared);
  const poisoned = await store.look(async (client) => {
    const keys = (await client.keys('*')).filter((key) => !key.endsWith(':claim'));
    for (const key of keys.slice(0, 100)) await client.set(key, 'poison');
    return 100;
  });
  const second = await agent(origin.url, shared);
  allRight([first, second]);
  assert.equal(second.problems.length, poisoned);
  assert.equal(await origin.reads(), FILES + poisoned);
  const third = await agent(origin.url, shared);
  allRight([first, third]);
  assert.deepEqual(third.problems, []);
  assert.equal(await origin.reads(), FILES + poisoned, 'what was dropped was put anew');
  origin.close();
  await store.kill();
});

await check('a Redis that is full gives what it has', async () => {
  const [store, origin] = [await redis('--maxmemory-policy', 'noeviction'), await server(0)];
  await store.look(async (client) => {
    const [, used] = /used_memory:(\d+)/.exec(await client.info('memory'));
    await client.configSet('maxmemory', String(Number(used) + 300_000));
  });
  const agents = [await agent(origin.url, { redis: store.url }), await agent(origin.url, { redis: store.url })];
  allRight(agents);
  assert.match(agents[0].problems.join(), /cannot be written: OOM/);
  origin.close();
  await store.kill();
});

await check(
  'the store as an object: binary-safe, over a password, again after the connection was lost, and idle',
  async () => {
    const store = await redis('--requirepass', 'secret');
    const url = store.url.replace('//', '//:secret@');
    const bytes = Buffer.from(Array.from({ length: 1024 }, (_, index) => index % 256));
    const own = redisStore({ url, prefix: 'mine:' });
    await own.put('key', bytes);
    assert.deepEqual(Buffer.from(await own.get('key')), bytes);
    await own.put('empty', new Uint8Array());
    assert.equal((await own.get('empty')).byteLength, 0);
    assert.equal(await own.get('other'), undefined);
    assert.equal(await own.claim('key', 60_000), true);
    assert.equal(await own.claim('key', 60_000), false);
    await own.delete('key');
    assert.equal(await own.get('key'), undefined);
    await store.kill();
    await assert.rejects(own.get('key'));
    await store.restart();
    await own.put('key', bytes);
    assert.deepEqual(Buffer.from(await own.get('key')), bytes);
    await own.close();
    const wrong = redisStore({ url: store.url.replace('//', '//:wrong@') });
    await assert.rejects(wrong.get('key'), ({ message }) => /WRONGPASS/.test(message) && !message.includes(':wrong'));
    const idle = `const { redisStore } = await import(${JSON.stringify(new URL('../../../dist/redis.js', import.meta.url).href)});
    await redisStore({ url: ${JSON.stringify(url)} }).get('key');`;
    const { status, signal } = spawnSync(process.execPath, ['--input-type=module', '-e', idle], { timeout: 20_000 });
    assert.deepEqual({ status, signal }, { status: 0, signal: null }, 'an idle connection keeps no process alive');
    await store.kill();
  },
);

for (const child of children) child.kill('SIGKILL');
rmSync(directory, { recursive: true });
console.log(`${results.passed} passed, ${results.failed} failed`);
process.exit(results.failed > 0 ? 1 : 0);
