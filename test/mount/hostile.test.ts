import { describe, expect, test } from 'vitest';
import { rejection } from '../support/mounted.ts';
import { mountRaw, RawError, type RawServer } from '../support/raw-server.ts';
import { contents, fileOf, scriptedSkill } from '../support/scripted-server.ts';

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
