import { memfs } from 'memfs';
import { afterEach, expect, test, vi } from 'vitest';
import { bytesOf, digestOf, verifyBytes } from '../../src/content/verify.ts';
import { skillsDialect } from '../../src/protocol/dialects/skills.ts';
import { type MemoryServer, type MemoryServerOptions, memoryServer } from '../../src/testing/index.ts';
import type { MemoryFiles } from '../../src/testing/memory-files.ts';

const skillMd = (name: string) => `---\nname: ${name}\ndescription: About ${name}\n---\n\n# ${name}\n`;
const png = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0xff, 0);
const files = {
  'acme/billing/refunds/SKILL.md': skillMd('refunds'),
  'acme/billing/refunds/references/a b.md': 'Rückzahlung',
  'acme/billing/refunds/logo.png': png,
  'acme/billing/refunds/partial/SKILL.md': skillMd('partial'),
  'notes/SKILL.md': skillMd('notes'),
};
const REFUNDS = 'skill://acme/billing/refunds';

type ListedFile = { readonly uri: string; readonly digest: string; readonly size: number };

const open: MemoryServer[] = [];

async function started(served: MemoryFiles = files, options: MemoryServerOptions = {}): Promise<MemoryServer> {
  const server = await memoryServer(served, options);
  open.push(server);
  return server;
}

afterEach(async () => {
  vi.useRealTimers();
  for (const server of open.splice(0)) await server.close();
});

/** Asks as a mount does. */
function ask({ client }: MemoryServer) {
  const dialect = skillsDialect(client);
  if (dialect === undefined) throw new Error('the server does not declare the extension');
  const options = { signal: new AbortController().signal, timeout: 5_000 };
  return {
    list: async () => (await dialect.list(options)).entries as { uri: string; resources: unknown }[],
    get: (uri: string) => dialect.get(uri, options),
    readDirectory: async (uri: string) => dialect.readDirectory?.(uri, options),
    read: async (uri: string) => {
      const result = await dialect.read(uri, options);
      return result === undefined ? undefined : bytesOf(result, uri);
    },
  };
}

/** Whether a request has been answered once the server has answered another one that was sent after it. */
async function isAnswered(request: Promise<unknown>, later: () => Promise<unknown>): Promise<boolean> {
  let answered = false;
  const note = () => {
    answered = true;
  };
  request.then(note, note);
  await later();
  return answered;
}

test.each(['modern', 'legacy'] as const)(
  'NEG-4 ENT-3 ENT-4 MAP-8: serves nested skills over the %s era, with complete manifests',
  async (era) => {
    const server = await started(files, { era });
    expect(server.client.getNegotiatedProtocolVersion()).toBe(era === 'modern' ? '2026-07-28' : '2025-11-25');
    const skills = await ask(server).list();
    const uris = (entries: unknown) => (entries as { uri: string }[]).map(({ uri }) => uri);
    expect(skills.map(({ uri, resources }) => [uri, uris(resources)])).toEqual([
      [
        `${REFUNDS}/SKILL.md`,
        [`${REFUNDS}/SKILL.md`, `${REFUNDS}/logo.png`, `${REFUNDS}/partial/SKILL.md`, `${REFUNDS}/references/a%20b.md`],
      ],
      [`${REFUNDS}/partial/SKILL.md`, [`${REFUNDS}/partial/SKILL.md`]],
      ['skill://notes/SKILL.md', ['skill://notes/SKILL.md']],
    ]);
    for (const { uri, digest, size } of skills.flatMap(({ resources }) => resources as ListedFile[])) {
      verifyBytes((await ask(server).read(uri)) ?? new Uint8Array(), { digest, size }, uri);
    }
  },
);

test('a memfs volume is served from the directory given, with its binary contents', async () => {
  const { vol } = memfs({
    '/skills/acme/logo.png': Buffer.from(png),
    '/skills/acme/SKILL.md': skillMd('acme'),
    '/other/a': '',
  });
  const server = await started(vol, { root: '/skills' });
  const [entry] = await ask(server).list();
  expect(entry?.resources).toContainEqual({ uri: 'skill://acme/logo.png', digest: digestOf(png), size: png.length });
  expect(await ask(server).read('skill://acme/logo.png')).toEqual(Buffer.from(png));
  expect(await ask(server).read('skill://other/a')).toBeUndefined();
});

test('ENT-2 DIR-1: a skill may publish no manifest, and directories can be read', async () => {
  const server = await started(files, { dynamic: ['notes'] });
  expect((await ask(server).list()).at(-1)?.resources).toBe('dynamic');
  expect(await ask(server).readDirectory(REFUNDS)).toEqual([
    { uri: `${REFUNDS}/SKILL.md`, kind: 'file' },
    { uri: `${REFUNDS}/logo.png`, kind: 'file' },
    { uri: `${REFUNDS}/partial`, kind: 'directory' },
    { uri: `${REFUNDS}/references`, kind: 'directory' },
  ]);
  expect(await ask(server).readDirectory(`${REFUNDS}/SKILL.md`)).toBeUndefined();
});

test('NEG-2: a server that cannot read directories does not declare it', async () => {
  const { client } = await started(files, { directoryRead: false });
  expect(client.getServerCapabilities()?.extensions).toEqual({ 'io.modelcontextprotocol/skills': {} });
});

test('a SKILL.md that makes no valid entry is refused by name, at the start and at an update', async () => {
  await expect(memoryServer({ 'a/SKILL.md': '# no frontmatter' })).rejects.toThrow(
    /^a\/SKILL\.md makes no skill entry: /,
  );
  const server = await started();
  await expect(server.update({ 'a/SKILL.md': skillMd('b') })).rejects.toThrow(/^a\/SKILL\.md makes no skill entry: /);
  expect(await ask(server).list()).toHaveLength(3);
  await expect(memoryServer({ '../a/SKILL.md': skillMd('a') })).rejects.toThrow(TypeError);
});

test('requests are written down', async () => {
  const server = await started();
  server.requests.length = 0;
  await ask(server).list();
  await ask(server).get('skill://notes/SKILL.md');
  await ask(server).read('skill://notes/missing.md');
  expect(server.requests).toEqual([
    { method: 'skills/list' },
    { method: 'skills/get', uri: 'skill://notes/SKILL.md' },
    { method: 'resources/read', uri: 'skill://notes/missing.md' },
  ]);
});

test('update serves other files, and tells clients of the legacy era so', async () => {
  const server = await started(files, { era: 'legacy' });
  const told = new Promise<void>((resolve) => {
    server.client.setNotificationHandler('notifications/resources/list_changed', () => resolve());
  });
  await server.update({ 'notes/SKILL.md': skillMd('notes') });
  await told;
  expect(await ask(server).list()).toHaveLength(1);
  expect(await ask(server).get(`${REFUNDS}/SKILL.md`)).toBeUndefined();
});

test('VER-1: tampered bytes do not match the entry, whichever way the file is named', async () => {
  const server = await started();
  server.faults.tamper('skill://notes/SKILL.md', (bytes) => bytes.slice(1));
  server.faults.tamper('acme/billing/refunds/logo.png', () => 'no picture');
  expect(await ask(server).read('skill://notes/SKILL.md')).toEqual(Buffer.from(skillMd('notes').slice(1)));
  expect(await ask(server).read(`${REFUNDS}/logo.png`)).toEqual(Buffer.from('no picture'));
  server.faults.reset();
  expect(await ask(server).read(`${REFUNDS}/logo.png`)).toEqual(Buffer.from(png));
});

test('LST-2: a partial listing leaves skills out that can still be got', async () => {
  const server = await started();
  server.faults.partialList(1);
  expect(await ask(server).list()).toHaveLength(1);
  expect(await ask(server).get('skill://notes/SKILL.md')).toMatchObject({ uri: 'skill://notes/SKILL.md' });
});

test('ERR-1: a method or a file can fail with any code', async () => {
  const server = await started();
  server.faults.fail('skills/list', -32603, 'out of order');
  server.faults.fail('notes/SKILL.md', -32602);
  await expect(ask(server).list()).rejects.toMatchObject({
    code: -32603,
    message: expect.stringContaining('out of order'),
  });
  expect(await ask(server).read('skill://notes/SKILL.md')).toBeUndefined();
  expect(await ask(server).read(`${REFUNDS}/SKILL.md`)).toBeDefined();
});

test('dropped requests are never answered, others are; a server that hangs answers none', async () => {
  const server = await started();
  const { list, read } = ask(server);
  const other = () => read(`${REFUNDS}/SKILL.md`);
  server.faults.drop('skills/list');
  server.faults.drop('skill://notes/SKILL.md');
  expect(await isAnswered(list(), other)).toBe(false);
  expect(await isAnswered(read('skill://notes/SKILL.md'), other)).toBe(false);
  server.faults.hang();
  const hanging = other();
  server.faults.reset();
  expect(await isAnswered(hanging, other)).toBe(false);
});

test('delayed requests reach the server after the delay, and later ones without', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const server = await started();
  const { read } = ask(server);
  server.faults.delay(10_000);
  const delayed = read('skill://notes/SKILL.md');
  server.faults.delay(0);
  expect(await isAnswered(delayed, () => read(`${REFUNDS}/SKILL.md`))).toBe(false);
  vi.advanceTimersByTime(10_000);
  expect(await delayed).toBeDefined();
});

test('a crash ends the connection', async () => {
  const server = await started();
  const ended = new Promise<void>((resolve) => {
    server.client.onclose = resolve;
  });
  server.faults.drop('skills/list');
  const waiting = ask(server).list();
  waiting.catch(() => undefined);
  await server.faults.crash();
  await ended;
  await expect(waiting).rejects.toThrow();
  await expect(ask(server).list()).rejects.toThrow();
});
