import { renameSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, onTestFinished, test } from 'vitest';
import { mount } from '../../src/mount.ts';
import { serveHttp } from '../../src/server/index.ts';
import { digest, skillMd } from '../support/scripted-server.ts';
import { clientOf, serve, temporary, write } from './served.ts';

/** Changes a file in one step. */
function replace(directory: string, path: string, content: string): void {
  write(directory, 'next.tmp', content);
  renameSync(join(directory, 'next.tmp'), join(directory, path));
}

/** Changes a file again and again, in turn by replacing it and by writing into it, until the test is done. */
function keepWriting(directory: string, path: string, version: (n: number) => string, replaceOnly = false) {
  let running = true;
  const writing = (async () => {
    for (let n = 1; running; n++) {
      if (replaceOnly || n % 2 === 0) replace(directory, path, version(n));
      else write(directory, path, version(n));
      await sleep(n % 3);
    }
  })();
  return async () => {
    running = false;
    await writing;
  };
}

test('SRV-3: what is not there is -32602', async () => {
  const directory = temporary({ 'a/SKILL.md': skillMd('a'), 'a/x.md': 'x', 'loose.md': 'in no skill' });
  const { ask } = await serve(directory);
  for (const [method, uri] of [
    ['skills/get', 'skill://none/SKILL.md'],
    ['skills/get', 'skill://a/x.md'],
    ['resources/read', 'skill://a/none.md'],
    ['resources/read', 'skill://a'],
    ['resources/read', 'skill://loose.md'],
    ['resources/directory/read', 'skill://a/SKILL.md'],
    ['resources/directory/read', 'skill://none'],
  ] as const) {
    await expect(ask(method, { uri }), `${method} ${uri}`).rejects.toMatchObject({ code: -32602 });
  }
});

test('SRV-3, ERR-1: a directory that went away is -32603, and serves again when it is back', async () => {
  const directory = temporary({ 'a/SKILL.md': skillMd('a') });
  const { list, get } = await serve(directory);
  renameSync(directory, `${directory}-away`);
  const error = { code: -32603, message: expect.stringContaining('cannot be read: ENOENT') };
  await expect(list()).rejects.toMatchObject(error);
  await expect(get('skill://a/SKILL.md')).rejects.toMatchObject(error);
  renameSync(`${directory}-away`, directory);
  expect(await list()).toMatchObject([{ uri: 'skill://a/SKILL.md' }]);
});

test('SRV-3: a change shows in the next listing, the next entry and the next read', async () => {
  const directory = temporary({ 'a/SKILL.md': skillMd('a'), 'a/x.md': 'one' });
  const { list, get, read } = await serve(directory);
  write(directory, 'a/x.md', 'two');
  expect((await get('skill://a/SKILL.md')).resources).toContainEqual({
    uri: 'skill://a/x.md',
    digest: digest('two'),
    size: 3,
  });
  write(directory, 'a/x.md', 'six');
  expect(await read('skill://a/x.md')).toMatchObject({ text: 'six' });
  write(directory, 'b/SKILL.md', skillMd('b'));
  write(directory, 'a/y.md', 'new');
  expect(await read('skill://a/y.md')).toMatchObject({ text: 'new' });
  const listed = await list();
  expect(listed.map(({ uri }) => uri)).toEqual(['skill://a/SKILL.md', 'skill://b/SKILL.md']);
  expect(listed[0]?.resources).toHaveLength(3);
  unlinkSync(join(directory, 'b/SKILL.md'));
  await expect(get('skill://b/SKILL.md')).rejects.toMatchObject({ code: -32602 });
});

test('SRV-3: while files change, bytes are those of the entry held, or the entry has changed', async () => {
  const version = (n: number) => `version ${String(n).padStart(9, '0')}`;
  const directory = temporary({ 'a/SKILL.md': skillMd('a'), 'a/x.md': version(0) });
  const { directory: served, list, get, read } = await serve(directory);
  const held = async (n: number) => {
    const skill = n % 2 === 0 ? await get('skill://a/SKILL.md') : (await list())[0];
    return skill?.resources.find(({ uri }) => uri === 'skill://a/x.md')?.digest;
  };
  const stop = keepWriting(directory, 'a/x.md', version);
  const seen = new Set<string>();
  for (let round = 0; round < 100; round++) {
    const before = await held(round);
    const content = await read('skill://a/x.md').catch((error: { code?: number }) => {
      expect(error.code).toBe(-32603);
      return undefined;
    });
    if (content === undefined) continue;
    seen.add(content.text);
    expect(served.skills[0]?.resources).toContainEqual(expect.objectContaining({ digest: digest(content.text) }));
    if (digest(content.text) !== before) expect(await held(round)).not.toBe(before);
  }
  await stop();
  expect(seen.size).toBeGreaterThan(1);
  const now = await held(0);
  expect(digest((await read('skill://a/x.md')).text)).toBe(now);
});

test('SRV-3, VER-2: a mounted reader of changing files gets one version or an error, never a mixture', async () => {
  const version = (n: number) => `v${n % 10}`.repeat(5000);
  const directory = temporary({ 'a/SKILL.md': skillMd('a'), 'a/x.md': version(0) });
  const { client } = await serve(directory);
  const mounted = mount({ servers: { s: client }, memoryBytes: 0 });
  const stop = keepWriting(directory, 'a/x.md', version, true);
  for (let round = 0; round < 60; round++) {
    const text = await mounted.promises.readFile('/mcp/s/a/x.md', 'utf8').catch((error: NodeJS.ErrnoException) => {
      expect(error.code).toBe('EIO');
      return undefined;
    });
    if (text !== undefined) expect(new Set(text.match(/v\d/g)).size).toBe(1);
  }
  await stop();
  await mounted.refresh();
  expect(await mounted.promises.readFile('/mcp/s/a/x.md', 'utf8')).toHaveLength(10_000);
  await mounted.close();
});

test('SRV-3: one look at the disk serves all who ask at the same time, each seeing what was written before it asked', async () => {
  const directory = temporary({ 'a/SKILL.md': skillMd('a'), 'a/x.md': '0' });
  const { list } = await serve(directory);
  const asked: ReturnType<typeof list>[] = [];
  for (let n = 0; n < 50; n++) {
    replace(directory, 'a/x.md', 'x'.repeat(n + 2));
    asked.push(list());
    // Some answers are under way when the next change is made.
    await new Promise(setImmediate);
  }
  for (const [n, skills] of (await Promise.all(asked)).entries()) {
    expect(skills[0]?.resources[1]?.size).toBeGreaterThanOrEqual(n + 2);
  }
});

test.each(['legacy', 'modern'] as const)('SRV-3: other clients hear of a change (%s)', async (era) => {
  const directory = temporary({ 'a/SKILL.md': skillMd('a') });
  const { create, list } = await serve(directory);
  const other = await clientOf(create, era);
  const heard = new Promise((resolve) => other.setNotificationHandler('notifications/resources/list_changed', resolve));
  if (era === 'modern') await other.listen({ resourcesListChanged: true });
  write(directory, 'b/SKILL.md', skillMd('b'));
  expect(await list()).toHaveLength(2);
  expect(await heard).toMatchObject({ method: 'notifications/resources/list_changed' });
});

test('SRV-3: over HTTP, a client that listens hears of a change before anybody asks', async () => {
  const directory = temporary({ 'a/SKILL.md': skillMd('a') });
  const server = await serveHttp(directory);
  onTestFinished(() => server.close());
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url)));
  onTestFinished(() => client.close());
  const heard = new Promise((resolve) =>
    client.setNotificationHandler('notifications/resources/list_changed', resolve),
  );
  await client.listen({ resourcesListChanged: true });
  write(directory, 'b/SKILL.md', skillMd('b'));
  await heard;
  expect((await client.listResources()).resources).toHaveLength(2);
});

test('SRV-3: a file that is touched and stays the same is no change', async () => {
  const directory = temporary({ 'a/SKILL.md': skillMd('a'), 'a/x.md': 'x' });
  const { directory: served, list } = await serve(directory);
  let changes = 0;
  const off = served.onChange(() => changes++);
  write(directory, 'a/x.md', 'x');
  await list();
  expect(changes).toBe(0);
  write(directory, 'a/x.md', 'y');
  await list();
  expect(changes).toBe(1);
  off();
  write(directory, 'a/x.md', 'z');
  await list();
  expect(changes).toBe(1);
});
