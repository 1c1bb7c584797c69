import { expect, test } from 'vitest';
import { rejection } from '../support/mounted.ts';
import { replay, transcript } from '../support/transcript-server.ts';

const ROOT = '/mcp/s/@resources';
const on = { resources: true } as const;

test('resources that are no skills are mounted only on request', async () => {
  const { mount, requests } = await replay(transcript('other-resources'));
  expect(await mount.promises.readdir('/mcp/s')).toEqual(['one']);
  expect(await rejection(mount.promises.readdir(ROOT))).toMatchObject({ code: 'ENOENT' });
  expect(requests).not.toContain('resources/list');
});

test('VER-5: on request they are mounted by scheme and path, unverified, skills left out', async () => {
  const { mount, requests, diagnostics } = await replay(transcript('other-resources'), on);
  expect(await mount.promises.readdir('/mcp/s')).toEqual(['@resources', 'one']);
  expect(requests).toEqual(['skills/list']);
  expect((await mount.promises.readdir(ROOT, { recursive: true })).sort()).toEqual([
    'db',
    'db/tables',
    'db/tables/users',
    'file',
    'file/etc',
    'file/etc/motd',
    'notes',
    'notes/2026',
    'notes/2026/a b?rev=1',
    'notes/2026/a%2Fb',
    'repo',
    'repo/src',
    'repo/src/lib',
    'repo/src/lib/a.ts',
    'repo/src/main.ts',
    'urn',
    'urn/isbn:123',
  ]);
  expect(requests.filter((request) => request === 'resources/list')).toHaveLength(1);
  expect(diagnostics.map(({ code, uri }) => `${code} ${uri}`)).toEqual([
    'refused file://etc/motd',
    'refused notes://../up',
    'refused db://tables',
  ]);
  expect(mount.skills().map(({ name }) => name)).toEqual(['one']);
});

test.each([
  ['file/etc/motd', 'file:///etc/motd', 'Welcome\n'],
  ['notes/2026/a b?rev=1', 'notes://2026/a%20b?rev=1', 'A note\n'],
  ['notes/2026/a%2Fb', 'notes://2026/a%2Fb', 'Slash\n'],
  ['urn/isbn:123', 'urn:isbn:123', 'A book\n'],
  ['repo/src/lib/a.ts', 'repo://src/lib/a.ts', 'a\n'],
])('RD-1: %s is read by %s, as the server spells it', async (path, uri, text) => {
  const { mount, requests } = await replay(transcript('other-resources'), on);
  expect(await mount.promises.readFile(`${ROOT}/${path}`, 'utf8')).toBe(text);
  expect(requests.at(-1)).toBe(`resources/read ${uri}`);
  expect(mount.originOf(`${ROOT}/${path}`)).toMatchObject({ label: 's', uri, verified: false });
  expect((await mount.promises.stat(`${ROOT}/${path}`)).size).toBe(text.length);
});

test('DRAFT-3: a path that matches a template of any resource is read directly', async () => {
  const { mount } = await replay(transcript('other-resources'), on);
  expect(await mount.promises.readFile(`${ROOT}/weather/Kyiv/now`, 'utf8')).toBe('Sunny\n');
  expect(await mount.promises.readdir(`${ROOT}/weather/Kyiv`)).toEqual(['now']);
  expect(await rejection(mount.promises.readFile(`${ROOT}/weather/Lviv/now`))).toMatchObject({ code: 'ENOENT' });
  expect(await rejection(mount.promises.readFile(`${ROOT}/weather/Kyiv/now/then`))).toMatchObject({ code: 'ENOTDIR' });
});

test('LIM-1: a resource over the limit is refused, and a failure is no absence', async () => {
  const exchanges = transcript('other-resources').filter(({ params }) => params?.['uri'] !== 'urn:isbn:123');
  const broken = {
    method: 'resources/read',
    params: { uri: 'urn:isbn:123' },
    error: { code: -32603, message: 'torn' },
  };
  const { mount } = await replay([...exchanges, broken], { ...on, limits: { bytes: 50, over: 'refuse' } });
  expect(await mount.promises.readFile(`${ROOT}/db/tables/users`, 'utf8')).toBe('id,name\n');
  expect(await rejection(mount.promises.readFile(`${ROOT}/urn/isbn:123`))).toMatchObject({ code: 'EIO' });
  const small = await replay(transcript('other-resources'), { ...on, limits: { bytes: 5 } });
  expect(await rejection(small.mount.promises.readFile(`${ROOT}/file/etc/motd`))).toMatchObject({ code: 'EFBIG' });
});

test('a skill that would lie where resources are mounted is refused by name', async () => {
  const text = JSON.stringify(transcript('other-resources')).replaceAll('skill://one/', 'resources://one/');
  const { mount } = await replay(JSON.parse(text), on);
  expect((await mount.ready())[0]?.refused).toMatchObject([{ uri: 'resources://one/SKILL.md', reason: 'uri' }]);
});

test('synchronous calls and a refresh work as for skills', async () => {
  const exchanges = transcript('other-resources');
  const { mount } = await replay(exchanges, on);
  await mount.preload(`${ROOT}/file`);
  expect(mount.fs.readFileSync(`${ROOT}/file/etc/motd`, 'utf8')).toBe('Welcome\n');
  const at = exchanges.findIndex(({ params }) => params?.['uri'] === 'file:///etc/motd');
  const text = JSON.stringify(exchanges[at]).replace('Welcome', 'Goodbye');
  exchanges[at] = JSON.parse(text);
  await mount.refresh('s');
  expect(await mount.promises.readFile(`${ROOT}/file/etc/motd`, 'utf8')).toBe('Goodbye\n');
});
