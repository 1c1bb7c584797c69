import { describe, expect, onTestFinished, test } from 'vitest';
import { mount } from '../../src/mount.ts';
import { rejection } from '../support/mounted.ts';
import { mountRaw, RawError, type RawServer } from '../support/raw-server.ts';
import { connectScript, contents, fileOf, scriptedSkill } from '../support/scripted-server.ts';

// Servers that say what no server should. Whatever it is costs what it is about, and nothing else.

const good = scriptedSkill('good', { 'x.md': 'x' });
const bad = scriptedSkill('bad', { 'x.md': 'x' });
const [skillMdFile] = bad.entry.resources as [{ uri: string; digest: string; size: number }];

/** A value that nests deeper than the stack of whoever writes it as JSON goes. */
const deep: unknown = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000));
const long = 'x'.repeat(10_000_000);

function listing(entry: unknown): RawServer {
  return {
    answer(method, { uri }) {
      if (method === 'skills/list') return { skills: [entry, good.entry] };
      return method === 'resources/read' ? fileOf([good], uri as string) : undefined;
    },
  };
}

const entries: [name: string, entry: unknown, reason: string][] = [
  ['null', null, 'not-an-object'],
  ['an array', [[]], 'not-an-object'],
  ['a number', 5, 'not-an-object'],
  ['no uri', {}, 'uri'],
  ['a uri that is a list', { ...bad.entry, uri: ['skill://bad/SKILL.md'] }, 'uri'],
  ['frontmatter that nests without end', { ...bad.entry, frontmatter: { ...bad.entry.frontmatter, deep } }, 'too-deep'],
  ['a field that nests without end', { ...bad.entry, deep }, 'too-deep'],
  ['a digest that nests without end', { ...bad.entry, resources: [{ ...skillMdFile, digest: deep }] }, 'too-deep'],
  ['a size that nests without end', { ...bad.entry, resources: [{ ...skillMdFile, size: deep }] }, 'too-deep'],
  ['a name of megabytes', { ...bad.entry, frontmatter: { name: long, description: 'x' } }, 'name'],
  ['a URI of megabytes', { ...bad.entry, uri: `skill://${long}/SKILL.md` }, 'uri'],
  ['a URI of a million segments', { ...bad.entry, uri: `skill://${'x/'.repeat(1_000_000)}SKILL.md` }, 'uri'],
  ['a digest of megabytes', { ...bad.entry, resources: [{ ...skillMdFile, digest: long }] }, 'digest'],
  ['a name that is __proto__', { ...bad.entry, frontmatter: JSON.parse('{"__proto__": {"name": "bad"}}') }, 'name'],
];

describe('ENT-5: an entry of any kind costs itself only, and is told of in few words', () => {
  test.each(entries)('%s', async (_name, entry, reason) => {
    const { mount, diagnostics } = await mountRaw(listing(entry));
    const [status] = await mount.ready();
    expect(status).toMatchObject({ state: 'ready', skills: 1, refused: [{ reason }] });
    expect(status?.refused[0]?.message.length).toBeLessThan(1_100);
    expect(diagnostics.map(({ code }) => code)).toEqual(['refused']);
    expect(await mount.promises.readFile('/mcp/s/good/x.md', 'utf8')).toBe('x');
  });
});

test('ENT-5: an entry that nests without end, twice, costs itself only', async () => {
  const { mount } = await mountRaw({
    answer: () => ({ skills: [{ ...bad.entry, deep }, { ...bad.entry, deep }, good.entry] }),
  });
  expect((await mount.ready())[0]).toMatchObject({
    skills: 1,
    refused: [{ reason: 'too-deep' }, { reason: 'too-deep' }],
  });
});

test('GET-2: nor does one that skills/get gives', async () => {
  const { mount } = await mountRaw({
    answer: (method) => (method === 'skills/list' ? { skills: [] } : { skill: { ...bad.entry, deep } }),
  });
  const error = await rejection(mount.promises.readFile('/mcp/s/bad/SKILL.md'));
  expect(error).toMatchObject({ code: 'EIO', message: expect.stringContaining('was refused (too-deep)') });
});

test('ENT-1: an entry with fields of any name is loaded, and changes nobody’s prototype', async () => {
  const entry = JSON.parse(JSON.stringify(bad.entry).replace('{', '{"__proto__":{"polluted":1},"constructor":1,'));
  const { mount } = await mountRaw(listing(entry));
  expect((await mount.ready())[0]).toMatchObject({ skills: 2, refused: [] });
  expect('polluted' in {}).toBe(false);
});

test.each([
  ['null', null],
  ['a list', []],
  ['a list of lists', [[[]]]],
  ['an item without text', [{ uri: 'skill://good/x.md' }]],
  ['an item with both', [{ uri: 'skill://good/x.md', text: 'x', blob: 'eA==' }]],
  ['text that is a number', [{ uri: 'skill://good/x.md', text: 5 }]],
  ['a URI that nests without end', [{ uri: deep, text: 'x' }]],
  ['a URI of megabytes', [{ uri: long, text: 'x' }]],
  ['a blob that is none', [{ uri: 'skill://good/x.md', blob: '§' }]],
])('RD-1: contents that are %s are EIO, in few words', async (_name, given) => {
  const { mount } = await mountRaw({
    answer: (method) => (method === 'skills/list' ? { skills: [good.entry] } : { contents: given }),
  });
  const error = await rejection(mount.promises.readFile('/mcp/s/good/x.md'));
  expect(error).toMatchObject({ code: 'EIO', cause: { reason: 'contents' } });
  expect(error.message.length).toBeLessThan(1_500);
});

test('ERR-1: an error of megabytes is told in few words', async () => {
  const { mount, diagnostics } = await mountRaw({
    answer: (method) => {
      if (method === 'skills/list') return { skills: [good.entry] };
      throw new RawError({ code: -32603, message: long });
    },
  });
  const error = await rejection(mount.promises.readFile('/mcp/s/good/x.md'));
  expect(error).toMatchObject({ code: 'EIO' });
  expect(error.message.length).toBeLessThan(1_500);
  expect(Math.max(0, ...diagnostics.map(({ message }) => message.length))).toBeLessThan(2_100);
});

test.each([
  ['type', { type: deep, url: 'skill://bad/SKILL.md' }, 'skipped'],
  ['description', { type: 'skill-md', name: 'bad', description: deep, url: 'skill://bad/SKILL.md' }, 'too-deep'],
  ['url', { type: 'skill-md', name: 'bad', description: 'x', url: deep }, 'uri'],
])('DRAFT-1: a %s of the index that nests without end costs itself only', async (_field, entry, told) => {
  const index = { skills: [entry, { type: 'skill-md', name: 'good', description: 'x', url: 'skill://good/SKILL.md' }] };
  // As text: no writer of JSON goes so deep.
  const nested = '['.repeat(100_000) + ']'.repeat(100_000);
  const text = JSON.stringify(index, (_key, value) => (value === deep ? '@deep' : value)).replace('"@deep"', nested);
  const { mount, diagnostics } = await mountRaw({
    capabilities: { resources: {} },
    answer: (method, { uri }) => (method === 'resources/read' ? contents(uri as string, text) : undefined),
  });
  expect((await mount.ready())[0]).toMatchObject({ state: 'ready', dialect: 'index-json', skills: 1 });
  expect(diagnostics).toMatchObject([{ message: expect.stringContaining(told) }]);
});

test('LST-1: a few short paths do not make directories without end', async () => {
  const roots = Array.from({ length: 1_000 }, (_, i) => `s${i}/${'a/'.repeat(1_000)}x`);
  const deepSkills = roots.map((root) => ({
    uri: `skill://${root}/SKILL.md`,
    frontmatter: { name: 'x', description: 'x' },
    resources: 'dynamic',
  }));
  const { mount } = await mountRaw({ answer: () => ({ skills: [good.entry, ...deepSkills] }) });
  const [status] = await mount.ready();
  expect(status?.skills).toBeLessThan(501);
  expect(status?.refused.at(-1)).toMatchObject({ reason: 'over-limit', uri: deepSkills.at(-1)?.uri });
  expect(await mount.promises.readdir('/mcp/s/good')).toContain('SKILL.md');
});

test.each([
  ['far too long', Array.from({ length: 20 }, (_, i) => `file://r${i}/${'a/'.repeat(100_000)}x`), /longer than 4096/],
  [
    'too many and too deep',
    Array.from({ length: 300 }, (_, i) => `file://r${i}/${'a/'.repeat(1_000)}x`),
    /is beyond the 200000/,
  ],
  ['without sense', ['', 'x', '://', 'file://../x', 'file:///..', 'file://a\\b', 'file://\0'], /has no place/],
])('resources whose URIs are %s are told of, and the others are there', async (_what, uris, message) => {
  const resources = ['file://good/x.md', ...uris].map((uri) => ({ uri, name: 'x' }));
  const { mount, diagnostics } = await mountRaw(
    { answer: (method) => (method === 'skills/list' ? { skills: [] } : { resources }) },
    { resources: true },
  );
  expect(await mount.promises.readdir('/mcp/s/@resources/file/good')).toEqual(['x.md']);
  expect(diagnostics.map((one) => one.message).filter((text) => message.test(text)).length).toBeGreaterThan(0);
});

test('a server that is another one after it was connected to again is taken for what it is then', async () => {
  const first = await connectScript({ skills: [good], capability: { directoryRead: true } }, 'v2-modern');
  const second = await connectScript({ skills: [bad], capability: null }, 'v1');
  onTestFinished(second.close);
  let current = first.client;
  const client = {
    request: (...args: never[]) => (current.request as (...args: never[]) => Promise<unknown>)(...args),
    getServerCapabilities: () => current.getServerCapabilities(),
    getNegotiatedProtocolVersion: () => current.getNegotiatedProtocolVersion?.(),
    get transport() {
      return current.transport;
    },
  };
  const held = mount({ servers: { s: client } });
  onTestFinished(() => held.close());
  expect((await held.ready())[0]).toMatchObject({ dialect: 'skills', directoryRead: true, skills: 1 });
  await first.close();
  current = second.client;
  await held.refresh();
  expect(held.status()[0]).toMatchObject({ directoryRead: false, skills: 0 });
  expect(held.status()[0]?.dialect).toBeUndefined();
  expect(await rejection(held.promises.stat('/mcp/s/good'))).toMatchObject({ code: 'ENOENT' });
});

test('DRAFT-1: an index of fifty megabytes is read, and bounded', async () => {
  const skill = { type: 'skill-md', description: 'x'.repeat(300), url: '' };
  const skills = Array.from({ length: 120_000 }, (_, i) => ({
    ...skill,
    name: `s${i}`,
    url: `skill://s${i}/SKILL.md`,
  }));
  const { mount } = await mountRaw({
    capabilities: { resources: {} },
    answer: (method, { uri }) =>
      method === 'resources/read' ? contents(uri as string, JSON.stringify({ skills })) : undefined,
  });
  expect((await mount.ready())[0]).toMatchObject({
    skills: 100_000,
    partial: expect.stringContaining('cut at 100000'),
  });
}, 120_000);
