import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mount } from '../../src/mount.ts';
import { mountScript } from '../support/mounted.ts';
import { connectScript, digest, type ScriptedSkill, scriptedSkill, skillMd } from '../support/scripted-server.ts';

/** A skill under a root URI as it is spelled, with files by the URI that the server gives them. */
function spelled(rootUri: string, name: string, files: Record<string, string> = {}): ScriptedSkill {
  const all: Record<string, string> = { [`${rootUri}/SKILL.md`]: skillMd(name), ...files };
  const resources = Object.entries(all).map(([uri, content]) => ({
    uri,
    digest: digest(content),
    size: Buffer.byteLength(content),
  }));
  const entry = { uri: `${rootUri}/SKILL.md`, frontmatter: { name, description: `About ${name}` }, resources };
  return { entry, files: all };
}

const odd = [
  spelled('skill://ckm:design/tokens', 'tokens'),
  spelled('skill://a b/raw-space', 'raw-space', { 'skill://a b/raw-space/x y.md': 'raw' }),
  spelled('skill://acme/escaped', 'escaped', {
    'skill://acme/escaped/x%20y.md': 'escaped',
    'skill://acme/escaped/what%3F%23.md': 'question',
    'skill://acme/escaped/100%25.md': 'percent',
    'skill://acme/escaped/%E6%97%A5%E6%9C%AC.md': 'nihon',
    'skill://acme/escaped/\u043f\u043b\u0430\u043d.md': 'plan',
  }),
  spelled('repo://acme/other-scheme', 'other-scheme'),
  spelled('skill://@repo/acme/escaped-at', 'escaped-at'),
];

test('MAP-1, MAP-3, MAP-4: every URI has its path, and the server is asked with exactly the URI it gave', async () => {
  const { mount, requests } = await mountScript({ skills: odd });
  expect((await mount.ready())[0]?.refused).toEqual([]);
  const paths = {
    '/mcp/s/ckm:design/tokens/SKILL.md': 'skill://ckm:design/tokens/SKILL.md',
    '/mcp/s/a b/raw-space/x y.md': 'skill://a b/raw-space/x y.md',
    '/mcp/s/acme/escaped/x y.md': 'skill://acme/escaped/x%20y.md',
    '/mcp/s/acme/escaped/what?#.md': 'skill://acme/escaped/what%3F%23.md',
    '/mcp/s/acme/escaped/100%.md': 'skill://acme/escaped/100%25.md',
    '/mcp/s/acme/escaped/\u65e5\u672c.md': 'skill://acme/escaped/%E6%97%A5%E6%9C%AC.md',
    '/mcp/s/acme/escaped/\u043f\u043b\u0430\u043d.md': 'skill://acme/escaped/\u043f\u043b\u0430\u043d.md',
    '/mcp/s/@repo/acme/other-scheme/SKILL.md': 'repo://acme/other-scheme/SKILL.md',
    '/mcp/s/%40repo/acme/escaped-at/SKILL.md': 'skill://@repo/acme/escaped-at/SKILL.md',
  };
  for (const [path, uri] of Object.entries(paths)) {
    expect((await mount.promises.readFile(path)).length).toBeGreaterThan(0);
    expect(requests.at(-1)).toBe(`resources/read ${uri}`);
    expect(mount.originOf(path)).toMatchObject({ label: 's', uri });
    expect(mount.pathOf('s', uri)).toBe(path);
  }
});

test.each([
  ['skill://bad/..%2Fup.md', 'an escaped slash'],
  ['skill://bad/%2e%2e/up.md', 'escaped dots'],
  ['skill://bad/../up.md', 'dots'],
  ['skill://bad/a%5Cb.md', 'an escaped backslash'],
  ['skill://bad/a\\b.md', 'a backslash'],
  ['skill://bad/%00.md', 'NUL'],
  ['skill://bad/%zz.md', 'a malformed escape'],
  ['skill://bad/%ff.md', 'an escape that is no UTF-8'],
  ['skill://bad/x.md?raw', 'a query'],
  ['skill://bad/x.md#part', 'a fragment'],
  ['skill://bad//x.md', 'an empty segment'],
])('MAP-1, ENT-5: %s (%s) is refused, and the server stays', async (uri) => {
  const bad = spelled('skill://bad', 'bad', { [uri]: 'x' });
  const { mount } = await mountScript({ skills: [bad, scriptedSkill('good')] });
  const [status] = await mount.ready();
  expect(status?.refused).toMatchObject([{ uri: 'skill://bad/SKILL.md' }]);
  expect(status?.refused[0]?.message).toContain(JSON.stringify(uri).slice(1, -1).slice(0, 12));
  expect(mount.skills().map(({ name }) => name)).toEqual(['good']);
});

test('MAP-5, SEC-2, SEC-4, SEC-5: the same URI on two servers is two skills, each read from its own server', async () => {
  const one = await connectScript({ skills: [scriptedSkill('acme/tool', { 'x.md': 'one' })] });
  const two = await connectScript({ skills: [scriptedSkill('acme/tool', { 'x.md': 'two' })] });
  const mounted = mount({ servers: { one: one.client, two: two.client } });
  expect(await mounted.promises.readFile('/mcp/one/acme/tool/x.md', 'utf8')).toBe('one');
  expect(two.requests).toEqual([]);
  expect(await mounted.promises.readFile('/mcp/two/acme/tool/x.md', 'utf8')).toBe('two');
  expect(one.requests).toEqual(['skills/list', 'resources/read skill://acme/tool/x.md']);
  expect(mounted.skills().map(({ label, path }) => [label, path])).toEqual([
    ['one', '/mcp/one/acme/tool'],
    ['two', '/mcp/two/acme/tool'],
  ]);
  expect(mounted.originOf('/mcp/two/acme/tool/x.md')).toMatchObject({
    label: 'two',
    uri: 'skill://acme/tool/x.md',
    skill: 'skill://acme/tool/SKILL.md',
  });
  await mounted.close();
  await Promise.all([one.close(), two.close()]);
});

test('SEC-4, VER-6: a server that lists the digest of another one gets nothing of it', async () => {
  const secret = scriptedSkill('secret', { 'x.md': 'secret' });
  const one = await connectScript({ skills: [secret] });
  const two = await connectScript({ skills: [secret], read: () => undefined });
  const mounted = mount({ servers: { one: one.client, two: two.client } });
  expect(await mounted.promises.readFile('/mcp/one/secret/x.md', 'utf8')).toBe('secret');
  await expect(mounted.promises.readFile('/mcp/two/secret/x.md')).rejects.toMatchObject({ code: 'EIO' });
  await mounted.close();
  await Promise.all([one.close(), two.close()]);
});

test('MAP-7: two skills of one server may share a name', async () => {
  const { mount } = await mountScript({ skills: [scriptedSkill('a/tool'), scriptedSkill('b/tool')] });
  await mount.ready();
  expect(mount.skills().map(({ path }) => path)).toEqual(['/mcp/s/a/tool', '/mcp/s/b/tool']);
});

test('MAP-6, MAP-8, ENT-4: relative references resolve as in a file system, a nested skill against its own directory', async () => {
  const nested = scriptedSkill('outer/nested', { 'guide.md': 'nested guide' });
  const outer = scriptedSkill('outer', {
    'guide.md': 'outer guide',
    'nested/SKILL.md': skillMd('nested'),
    'nested/guide.md': 'nested guide',
  });
  const { mount } = await mountScript({ skills: [outer, nested] });
  await mount.ready();
  expect(mount.skills().map(({ path }) => path)).toEqual(['/mcp/s/outer', '/mcp/s/outer/nested']);
  const read = (directory: string, reference: string) => mount.promises.readFile(`${directory}/${reference}`, 'utf8');
  expect(await read('/mcp/s/outer', './guide.md')).toBe('outer guide');
  expect(await read('/mcp/s/outer/nested', 'guide.md')).toBe('nested guide');
  expect(await read('/mcp/s/outer/nested', '../guide.md')).toBe('outer guide');
  expect(await read('/mcp/s/outer', 'nested/../guide.md')).toBe('outer guide');
  expect(await mount.promises.readdir('/mcp/s/outer/nested')).toEqual(['SKILL.md', 'guide.md']);
  expect(mount.originOf('/mcp/s/outer/nested/guide.md')?.skill).toBe('skill://outer/nested/SKILL.md');
});

test('ENT-1, ENT-6: unknown fields and unknown reserved metadata pass', async () => {
  const [skill] = [scriptedSkill('extra')];
  const text = '---\nname: extra\ndescription: About extra\nx-team: {a: [1, 2]}\n---\n';
  const uri = skill.entry.uri;
  const entry = {
    ...skill.entry,
    frontmatter: { name: 'extra', description: 'About extra', 'x-team': { a: [1, 2] } },
    resources: [{ uri, digest: digest(text), size: text.length, mimeType: 'text/markdown' }],
    _meta: { 'io.modelcontextprotocol/later': { anything: true } },
    later: true,
  };
  const { mount } = await mountScript({ skills: [{ entry, files: { [uri]: text } }] });
  expect(await mount.promises.readFile('/mcp/s/extra/SKILL.md', 'utf8')).toBe(text);
  expect(mount.skills()[0]?.frontmatter).toEqual(entry.frontmatter);
});

test('MAP-5: originOf and pathOf are inverses', async () => {
  const { mount } = await mountScript({ skills: odd });
  await mount.ready();
  const segment = fc
    .string({ minLength: 1, maxLength: 12, unit: 'grapheme' })
    .filter((text) => text !== '.' && text !== '..' && !/[/\\\0]/.test(text) && !/\p{Surrogate}/u.test(text));
  fc.assert(
    fc.property(fc.array(segment, { minLength: 1, maxLength: 5 }), (segments) => {
      const path = `/mcp/s/${segments.join('/')}`;
      const origin = mount.originOf(path);
      if (origin?.uri === undefined) return /^@/.test(segments[0] ?? '');
      return mount.pathOf('s', origin.uri) === path;
    }),
  );
});

test('MAP-5: what has no path says so', async () => {
  const { mount } = await mountScript({ skills: odd });
  expect(() => mount.pathOf('other', 'skill://a/SKILL.md')).toThrow(/no server "other"/);
  expect(() => mount.pathOf('s', 'skill://a/%2e%2e/SKILL.md')).toThrow(/has no path/);
  expect(mount.originOf('/elsewhere')).toBeUndefined();
  expect(mount.originOf('/mcp/other/x')).toBeUndefined();
});

test('MAP-5: names that only look the same are different files, and an error tells the one that is there', async () => {
  const [composed, decomposed] = ['caf\u00e9.md', 'cafe\u0301.md'];
  const skill = (files: Record<string, string>) => ({ skills: [spelled('skill://menu', 'menu', files)] });
  const both = await mountScript(skill({ [`skill://menu/${composed}`]: 'one', [`skill://menu/${decomposed}`]: 'two' }));
  expect(await both.mount.promises.readFile(`/mcp/s/menu/${composed}`, 'utf8')).toBe('one');
  expect(await both.mount.promises.readFile(`/mcp/s/menu/${decomposed}`, 'utf8')).toBe('two');
  const { mount } = await mountScript(skill({ [`skill://menu/a/${composed}`]: 'one' }));
  await expect(mount.promises.readFile(`/mcp/s/menu/a/${decomposed}`)).rejects.toMatchObject({
    code: 'ENOENT',
    cause: { reason: 'unlisted', message: expect.stringContaining(`but skill://menu/a/${composed}, which only looks`) },
  });
  await expect(mount.promises.readFile('/mcp/s/menu/a/other.md')).rejects.toMatchObject({
    cause: { message: expect.not.stringContaining('looks') },
  });
});
