import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Mount, mount } from '../../src/mount.ts';
import type { CacheOptions, MountOptions } from '../../src/options.ts';
import { type MemoryServer, type MemoryServerOptions, memoryServer } from '../../src/testing/index.ts';
import type { Diagnostic } from '../../src/vfs/diagnostics.ts';
import { rejection } from '../support/mounted.ts';
import { connectScript, notFound, type Script, scriptedSkill } from '../support/scripted-server.ts';
import { blobFiles, flipByte, temporaryDirectory } from './support.ts';

const skillMd = (name: string) => `---\nname: ${name}\ndescription: About ${name}\n---\n`;
const files = {
  'acme/refunds/SKILL.md': skillMd('refunds'),
  'acme/refunds/references/policy.md': 'policy',
  'pdf/SKILL.md': skillMd('pdf'),
};

async function serve(options: MemoryServerOptions = {}, served: Record<string, string> = files): Promise<MemoryServer> {
  const server = await memoryServer(served, options);
  onTestFinished(() => server.close());
  return server;
}

interface Started {
  readonly mount: Mount;
  readonly diagnostics: Diagnostic[];
}

/** A start: what a new process does with the same cache. */
function start(
  client: MountOptions['servers'][string],
  directory: string,
  { options = {}, cache = {} }: { options?: Partial<MountOptions>; cache?: CacheOptions } = {},
): Started {
  const mounted = mount({ servers: { s: client }, cache: { directory, keys: { s: 'test' }, ...cache }, ...options });
  const diagnostics: Diagnostic[] = [];
  mounted.on('diagnostic', (diagnostic) => diagnostics.push(diagnostic));
  onTestFinished(() => mounted.close());
  return { mount: mounted, diagnostics };
}

/** A first start that reads everything, and ends. */
async function warm(client: MountOptions['servers'][string], directory: string): Promise<void> {
  const { mount: first } = start(client, directory);
  await first.preload();
  await first.close();
}

const cacheIn = () => join(temporaryDirectory(), 'cache');
/** What was asked; that somebody listens for changes is no question. */
const methods = ({ requests }: MemoryServer) =>
  requests.map(({ method }) => method).filter((method) => method !== 'subscriptions/listen');
const POLICY = '/mcp/s/acme/refunds/references/policy.md';

describe('a second start of a catalog of 1,000 skills', () => {
  const catalog = Object.fromEntries(
    Array.from({ length: 1000 }, (_, index) => [`acme/skill-${index}/SKILL.md`, skillMd(`skill-${index}`)]),
  );
  const all = Object.keys(catalog);

  test('CACHE-1, CACHE-2, LAZY-2: reads nothing again, works offline, and notices every flipped byte', async () => {
    const server = await serve({}, catalog);
    const directory = cacheIn();
    await warm(server.client, directory);
    expect(methods(server).filter((method) => method === 'resources/read')).toHaveLength(1000);
    expect(blobFiles(directory)).toHaveLength(1000);

    server.requests.length = 0;
    const second = start(server.client, directory);
    for (const path of all) expect(second.mount.fs.readFileSync(`/mcp/s/${path}`, 'utf8')).toBe(catalog[path]);
    await expect.poll(() => second.mount.status()[0]?.stale).toBe(false);
    expect(methods(server)).toEqual(['skills/list']);

    for (const file of blobFiles(directory)) flipByte(file);
    server.requests.length = 0;
    const third = start(server.client, directory);
    await third.mount.preload();
    for (const path of all) expect(third.mount.fs.readFileSync(`/mcp/s/${path}`, 'utf8')).toBe(catalog[path]);
    expect(methods(server).filter((method) => method === 'resources/read')).toHaveLength(1000);
    expect(third.diagnostics.filter(({ code }) => code === 'cache')).toHaveLength(1000);

    await server.faults.crash();
    const offline = start(server.client, directory);
    for (const path of all) expect(await offline.mount.promises.readFile(`/mcp/s/${path}`, 'utf8')).toBe(catalog[path]);
    await expect.poll(() => offline.mount.status()[0]?.lastError).toBeDefined();
    expect(offline.mount.status()[0]).toMatchObject({ state: 'ready', stale: true, skills: 1000 });

    for (const file of blobFiles(directory)) flipByte(file);
    const broken = start(server.client, directory);
    const codes = all.map(async (path) => (await rejection(broken.mount.promises.readFile(`/mcp/s/${path}`))).code);
    expect(new Set(await Promise.all(codes))).toEqual(new Set(['EHOSTUNREACH']));
  }, 120_000);
});

describe('LST-3: what a start asks', () => {
  test('nothing, while the kept listing is fresh', async () => {
    const server = await serve({ ttlMs: 600_000 });
    const directory = cacheIn();
    await warm(server.client, directory);
    server.requests.length = 0;
    const { mount: second } = start(server.client, directory);
    const [status] = await second.ready();
    expect(status).toMatchObject({ state: 'ready', stale: false, skills: 2, dialect: 'skills' });
    expect(second.fs.readFileSync(POLICY, 'utf8')).toBe('policy');
    expect(await second.promises.readdir('/mcp/s', { recursive: true })).toHaveLength(7);
    expect(methods(server)).toEqual([]);
  });

  test.each<[string, MemoryServerOptions]>([
    ['without a TTL', {}],
    ['of a 2025-era server', { era: 'legacy' }],
  ])('once, in the background, when the kept listing is %s', async (_name, options) => {
    const server = await serve(options);
    const directory = cacheIn();
    await warm(server.client, directory);
    await server.update({ ...files, 'new/SKILL.md': skillMd('new') });
    server.requests.length = 0;
    const { mount: second } = start(server.client, directory);
    expect(second.fs.readdirSync('/mcp/s')).toEqual(['acme', 'pdf']);
    expect(second.status()[0]).toMatchObject({ state: 'ready', stale: true });
    expect(second.fs.readFileSync(POLICY, 'utf8')).toBe('policy');
    await Promise.all(Array.from({ length: 20 }, () => second.promises.readdir('/mcp/s')));
    await expect.poll(() => second.status()[0]?.stale).toBe(false);
    expect(second.fs.readdirSync('/mcp/s')).toEqual(['acme', 'new', 'pdf']);
    expect(methods(server)).toEqual(['skills/list']);
  });

  test('ready() waits for what is no longer fresh', async () => {
    const server = await serve();
    const directory = cacheIn();
    await warm(server.client, directory);
    await server.update({ 'new/SKILL.md': skillMd('new') });
    const { mount: second } = start(server.client, directory);
    expect(await second.ready()).toMatchObject([{ stale: false, skills: 1 }]);
    expect(second.fs.readdirSync('/mcp/s')).toEqual(['new']);
  });

  test('before it shows anything, where the host wants that', async () => {
    const server = await serve();
    const directory = cacheIn();
    await warm(server.client, directory);
    await server.update({ 'new/SKILL.md': skillMd('new') });
    server.requests.length = 0;
    const { mount: second } = start(server.client, directory, { cache: { whenStale: 'wait' } });
    const seen = await Promise.all([second.promises.readdir('/mcp/s'), second.promises.readdir('/mcp/s')]);
    expect(seen).toEqual([['new'], ['new']]);
    expect(methods(server)).toEqual(['skills/list']);
    await server.faults.crash();
    const { mount: offline } = start(server.client, directory, { cache: { whenStale: 'wait' } });
    expect(await offline.promises.readdir('/mcp/s')).toEqual(['new']);
    expect(offline.status()[0]).toMatchObject({ stale: true, lastError: expect.any(Error) });
  });

  test('again by itself, when the server was away', async () => {
    const server = await serve();
    const directory = cacheIn();
    await warm(server.client, directory);
    server.faults.fail('skills/list', -32603);
    const { mount: second } = start(server.client, directory, { options: { retryAfter: 1 } });
    expect(second.fs.readdirSync('/mcp/s')).toEqual(['acme', 'pdf']);
    await expect.poll(() => second.status()[0]?.lastError?.message).toMatch(/skills\/list fails/);
    server.faults.reset();
    await expect
      .poll(async () => {
        await second.promises.readdir('/mcp/s');
        return second.status()[0];
      })
      .toMatchObject({ stale: false });
  });

  test('LST-1: always, when the kept listing was cut', async () => {
    const [a, b] = [scriptedSkill('a'), scriptedSkill('b')];
    const script: Script = {
      skills: [a, b],
      list: (cursor) => {
        if (cursor !== undefined) throw notFound('page');
        return { skills: [a.entry], nextCursor: '2', ttlMs: 600_000 };
      },
    };
    const { client, requests, close } = await connectScript(script);
    onTestFinished(close);
    const directory = cacheIn();
    await warm(client, directory);
    requests.length = 0;
    script.list = () => ({ skills: [a.entry, b.entry] });
    const { mount: second } = start(client, directory);
    expect(second.fs.readdirSync('/mcp/s/a')).toEqual(['SKILL.md']);
    expect(second.status()[0]).toMatchObject({ stale: true, partial: expect.any(String) });
    await expect.poll(() => second.status()[0]?.partial).toBeUndefined();
    expect(requests).toEqual(['skills/list']);
  });
});

test('LAZY-2: what changed on the server is read anew, what stayed is not', async () => {
  const server = await serve();
  const directory = cacheIn();
  await warm(server.client, directory);
  await server.update({ ...files, 'acme/refunds/references/policy.md': 'changed' });
  server.requests.length = 0;
  const { mount: second } = start(server.client, directory);
  await second.ready();
  await second.preload();
  expect(second.fs.readFileSync(POLICY, 'utf8')).toBe('changed');
  expect(server.requests.filter(({ method }) => method === 'resources/read')).toHaveLength(1);
});

test('CACHE-2, SEC-4: another server that lists the same digest is asked itself', async () => {
  const [ours, theirs] = [await serve(), await serve()];
  theirs.faults.tamper('acme/refunds/references/policy.md', () => 'theirs');
  const directory = cacheIn();
  await warm(ours.client, directory);
  for (const [label, key] of [
    ['t', 'test'],
    ['s', 'other credentials'],
  ] as const) {
    const { mount: second } = start(theirs.client, directory, {
      options: { servers: { [label]: theirs.client } },
      cache: { keys: { [label]: key } },
    });
    expect((await rejection(second.promises.readFile(`/mcp/${label}/acme/refunds/references/policy.md`))).code).toBe(
      'EIO',
    );
    expect(await second.promises.readFile(`/mcp/${label}/pdf/SKILL.md`, 'utf8')).toBe(skillMd('pdf'));
  }
  expect(theirs.requests.filter(({ method }) => method === 'resources/read').length).toBeGreaterThanOrEqual(4);
});

test('CACHE-1, VER-1, VER-4: what fails a check is not kept', async () => {
  const server = await serve();
  server.faults.tamper('acme/refunds/references/policy.md', () => 'tampered');
  const directory = cacheIn();
  const { mount: first } = start(server.client, directory);
  await rejection(first.promises.readFile(POLICY));
  expect(blobFiles(directory)).toEqual([]);

  const skill = scriptedSkill('lie');
  const entry = { ...skill.entry, frontmatter: { name: 'lie', description: 'Something else' } };
  const liar = await connectScript({ skills: [{ ...skill, entry }] });
  onTestFinished(liar.close);
  const { mount: second } = start(liar.client, directory);
  expect(await rejection(second.promises.readFile('/mcp/s/lie/SKILL.md'))).toMatchObject({ code: 'EIO' });
  expect(blobFiles(directory)).toEqual([]);

  const honest = await connectScript({ skills: [skill] });
  onTestFinished(honest.close);
  await warm(honest.client, directory);
  expect(blobFiles(directory)).toHaveLength(1);
  const { mount: third } = start(liar.client, directory, { cache: { whenStale: 'wait' } });
  expect(await rejection(third.promises.readFile('/mcp/s/lie/SKILL.md'))).toMatchObject({ code: 'EIO' });
  expect(blobFiles(directory)).toEqual([]);
});

test('VER-5: dynamic content is never kept, and offline not there', async () => {
  const server = await serve({ dynamic: ['pdf'] });
  const directory = cacheIn();
  const { mount: first } = start(server.client, directory);
  expect(await first.promises.readFile('/mcp/s/pdf/SKILL.md', 'utf8')).toBe(skillMd('pdf'));
  expect(blobFiles(directory)).toEqual([]);
  await server.faults.crash();
  const { mount: offline } = start(server.client, directory);
  expect((await rejection(offline.promises.readFile('/mcp/s/pdf/SKILL.md'))).code).toBe('EHOSTUNREACH');
});

test('GET-3: skills that were confirmed although no listing names them are there at the next start', async () => {
  const [listed, named] = [scriptedSkill('listed'), scriptedSkill('named')];
  const { client, requests, close } = await connectScript({
    skills: [listed, named],
    instructions: 'See skill://named/SKILL.md first.',
    list: () => ({ skills: [listed.entry], ttlMs: 600_000 }),
  });
  onTestFinished(close);
  const directory = cacheIn();
  await warm(client, directory);
  requests.length = 0;
  const { mount: second } = start(client, directory);
  expect(second.fs.readdirSync('/mcp/s')).toEqual(['listed', 'named']);
  expect(second.fs.readFileSync('/mcp/s/named/SKILL.md', 'utf8')).toContain('name: named');
  expect(second.skills().map(({ name, listed: is }) => [name, is])).toEqual([
    ['listed', true],
    ['named', false],
  ]);
  expect(requests).toEqual([]);
});

test('a client without a key is not kept, nor anything without the option', async () => {
  const server = await serve();
  const directory = cacheIn();
  const { mount: keyless } = start(server.client, directory, { cache: { keys: {} } });
  await keyless.preload();
  expect(() => blobFiles(directory)).toThrow(/ENOENT/);
});

test('CACHE-1: a cache that is not private is refused at once, by name', () => {
  const directory = join(temporaryDirectory(), '.claude/skills');
  const refused = () => mount({ servers: {}, cache: { directory } });
  expect(refused).toThrow(/^cache: the cache directory .* is not used: agents look for skills/);
  expect(refused).toThrow(expect.objectContaining({ code: 'ERR_SKILLFS_OPTIONS' }));
  expect(() => mount({ servers: {}, cache: { maxBytes: 0 } })).toThrow(/^cache\.maxBytes: /);
  expect(() => mount({ servers: {}, cache: 'yes' as never })).toThrow(/^cache: /);
});

test('a cache that cannot be written fails no read, and is told once', async () => {
  const server = await serve();
  const directory = cacheIn();
  const { mount: first, diagnostics } = start(server.client, directory);
  writeFileSync(directory, 'in the way');
  await first.preload();
  expect(first.fs.readFileSync(POLICY, 'utf8')).toBe('policy');
  expect(diagnostics).toMatchObject([{ label: 's', severity: 'warning', code: 'cache' }]);
});

test('LAZY-2: a synchronous reader of a stdio server starts without it', () => {
  const log = join(temporaryDirectory(), 'requests');
  writeFileSync(log, '');
  const file = new URL('../support/stdio-server.mjs', import.meta.url).pathname;
  const config = { command: process.execPath, args: [file, JSON.stringify({ pidFile: log })] };
  const directory = cacheIn();
  const first = start(config, directory).mount;
  expect(first.fs.readFileSync('/mcp/s/faulty/y.md', 'utf8')).toBe('y');
  expect(readFileSync(log, 'utf8')).not.toBe('');
  writeFileSync(log, '');
  const second = start(config, directory).mount;
  expect(second.fs.readFileSync('/mcp/s/faulty/y.md', 'utf8')).toBe('y');
  expect(readFileSync(log, 'utf8')).toBe('');
});
