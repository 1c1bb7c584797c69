import fs from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { promisify } from 'node:util';
import { describe, expect, test, vi } from 'vitest';
import { Fault } from '../../src/base/fault.ts';
import { createNodeFs } from '../../src/node/index.ts';
import { fetching, rejected, thrown } from './facades.ts';
import { driver, MemoryReadFs } from './memory-read-fs.ts';
import { FILES } from './mirrored.ts';

const SKILL = '/mcp/s/acme/billing/refunds/SKILL.md';
const TEXT = FILES['acme/billing/refunds/SKILL.md'] as string;

async function readAll(handle: FileHandle): Promise<string> {
  const text = await handle.readFile('utf8');
  await handle.close();
  return text;
}

function readAndClose(fd: number): string {
  const text = fs.readFileSync(fd, 'utf8');
  fs.closeSync(fd);
  return text;
}

describe('what is not here yet', () => {
  test('is fetched once when it is read, and is here then for synchronous calls', async () => {
    const { ours, requests } = fetching();
    expect(await ours.promises.readFile(SKILL, 'utf8')).toBe(TEXT);
    expect(ours.readFileSync(SKILL, 'utf8')).toBe(TEXT);
    expect(await promisify(ours.readFile)(SKILL, 'utf8')).toBe(TEXT);
    expect(requests).toEqual([SKILL]);
  });

  test('is EAGAIN in a synchronous call, with what is to be said about it', () => {
    const { ours } = fetching();
    const expected = { code: 'EAGAIN', errno: -11, syscall: 'open', path: SKILL };
    const message = `EAGAIN: the file is not here yet, open '${SKILL}'`;
    for (const call of [() => ours.readFileSync(SKILL), () => ours.openSync(SKILL, 'r')]) {
      expect(thrown(call)).toMatchObject({ ...expected, message });
    }
  });

  test('is fetched for handles, descriptors and streams', async () => {
    for (const read of [
      async (ours: typeof fs) => readAll(await ours.promises.open(SKILL)),
      async (ours: typeof fs) => readAndClose(await promisify(ours.open)(SKILL, 'r')),
      async (ours: typeof fs) => (await ours.createReadStream(SKILL, 'utf8').toArray()).join(''),
      async (ours: typeof fs) => (await ours.openAsBlob(SKILL)).text(),
    ]) {
      const { ours, requests } = fetching();
      expect(await read(ours)).toBe(TEXT);
      expect(requests).toEqual([SKILL]);
    }
  });

  test('is not fetched to look at it (LAZY-1)', async () => {
    const { ours, requests } = fetching();
    expect(ours.existsSync(SKILL)).toBe(true);
    expect(ours.statSync(SKILL).size).toBe(TEXT.length);
    ours.accessSync(SKILL);
    await ours.promises.realpath(SKILL);
    expect(requests).toEqual([]);
  });

  test('is not waited for once a signal aborts', async () => {
    const { ours } = fetching();
    const stop = new AbortController();
    const read = ours.promises.readFile(SKILL, { signal: stop.signal });
    stop.abort(new Error('enough'));
    const expected = { name: 'AbortError', code: 'ABORT_ERR', message: 'The operation was aborted' };
    const error = await rejected(read);
    expect(error).toMatchObject(expected);
    expect(error.cause).toMatchObject({ message: 'enough' });
    expect(await rejected(ours.promises.readFile(SKILL, { signal: stop.signal }))).toMatchObject(expected);
    const called = await new Promise((resolve) => ours.readFile(SKILL, { signal: stop.signal }, resolve));
    expect(called).toMatchObject(expected);
  });
});

test('a failure keeps its reason: in the message, and as the cause', async () => {
  const cause = new Error('sha256 differs');
  const core = new MemoryReadFs('/mcp/s', FILES);
  core.read = function* () {
    yield 'the file';
    throw new Fault('EIO', { detail: 'the digest is not the listed one', cause });
  };
  const ours = createNodeFs(core, driver, { mountPoint: '/mcp' });
  const error = await rejected(ours.promises.readFile(SKILL));
  expect(error).toMatchObject({ code: 'EIO', errno: -5, syscall: 'open', path: SKILL, cause });
  expect(error.message).toBe(`EIO: the digest is not the listed one, open '${SKILL}'`);
  expect(Object.keys(error)).not.toContain('cause');
});

test('callbacks are called once, after the call has returned, and may throw', async () => {
  const { ours } = fetching();
  const uncaught = vi.fn();
  const others = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException');
  process.once('uncaughtException', uncaught);
  const order: string[] = [];
  await new Promise<void>((resolve) => {
    ours.stat(SKILL, () => {
      order.push('called back');
      setImmediate(resolve);
      throw new Error('of the callback');
    });
    order.push('returned');
  });
  for (const listener of others) process.on('uncaughtException', listener);
  expect(order).toEqual(['returned', 'called back']);
  expect(uncaught).toHaveBeenCalledOnce();
});

test('a result is the caller’s own: writing to it changes nothing', async () => {
  const { ours } = fetching();
  (await ours.promises.readFile(SKILL)).fill(0);
  ours.readFileSync(SKILL).fill(0);
  const handle = await ours.promises.open(SKILL);
  (await handle.readFile()).fill(0);
  await handle.close();
  expect(ours.readFileSync(SKILL, 'utf8')).toBe(TEXT);
});
