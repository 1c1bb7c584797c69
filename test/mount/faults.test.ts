import { describe, expect, test } from 'vitest';
import { VerificationError } from '../../src/content/verify.ts';
import { mountScript, rejection } from '../support/mounted.ts';
import { contents, digest, fileOf, notFound, type Script, scriptedSkill, skillMd } from '../support/scripted-server.ts';

const good = scriptedSkill('good', { 'x.md': 'good x' });
const bad = scriptedSkill('bad', { 'x.md': 'bad x' });
const skills = [good, bad];

/** Answers for `skill://bad/…` as told, for the other skill as it should. */
function badRead(answer: (uri: string) => unknown): Script {
  return { skills, read: (uri) => (uri.startsWith('skill://bad/') ? answer(uri) : fileOf(skills, uri)) };
}

/** Lists the other skill as it is, and this one as told; `skills/get` says the same. */
function entryOf(resources: unknown, frontmatter: unknown = bad.entry.frontmatter): Script {
  return { skills: [good, { ...bad, entry: { ...bad.entry, resources, frontmatter } as never }] };
}

interface Case {
  readonly name: string;
  readonly script: Script;
  readonly path?: string;
  readonly code: string;
  readonly message: RegExp;
  readonly reason?: VerificationError['reason'];
}

const listed = bad.entry.resources as { uri: string; digest: string; size: number }[];
const [skillMdFile, xFile] = listed as [(typeof listed)[0], (typeof listed)[0]];

const onRead: Case[] = [
  {
    name: 'VER-1: a wrong digest',
    script: badRead((uri) => contents(uri, 'bad y')),
    code: 'EIO',
    message: /skill:\/\/bad\/x\.md has digest sha256:\w+, its entry says sha256:/,
    reason: 'digest',
  },
  {
    name: 'VER-1: a wrong size',
    script: badRead((uri) => contents(uri, 'bad x and more')),
    code: 'EIO',
    message: /has 14 bytes, its entry says 5/,
    reason: 'size',
  },
  {
    name: 'VER-4: a frontmatter field',
    script: entryOf(bad.entry.resources, { name: 'bad', description: 'Something else' }),
    path: '/mcp/s/bad/SKILL.md',
    code: 'EIO',
    message: /frontmatter field description is "About bad" in the file and "Something else" in the entry/,
    reason: 'frontmatter',
  },
  {
    name: 'RD-1: an extra content item',
    script: badRead((uri) => ({
      contents: [
        { uri, text: 'bad x' },
        { uri: `${uri}2`, text: 'more' },
      ],
    })),
    code: 'EIO',
    message: /2 content items came instead of one/,
    reason: 'contents',
  },
  {
    name: 'RD-1: another URI',
    script: badRead(() => contents('skill://good/x.md', 'bad x')),
    code: 'EIO',
    message: /the content item is for "skill:\/\/good\/x\.md"/,
    reason: 'contents',
  },
  {
    name: 'a listed file the server does not have',
    script: badRead(() => undefined),
    code: 'EIO',
    message: /is listed, but the server does not have it/,
    reason: 'gone',
  },
  {
    name: 'ERR-1: a failure is not absence',
    script: badRead(() => {
      throw new Error('database is down');
    }),
    code: 'EIO',
    message: /database is down/,
  },
  {
    name: 'a server that hangs',
    script: badRead(() => new Promise(() => {})),
    code: 'ETIMEDOUT',
    message: /resources\/read skill:\/\/bad\/x\.md took longer than 200 ms/,
  },
  {
    name: 'ENT-3: an upper-case digest',
    script: entryOf([skillMdFile, { ...xFile, digest: xFile.digest.replace(/\w+$/, (hex) => hex.toUpperCase()) }]),
    code: 'EIO',
    message: /was refused \(digest\).*skill:\/\/bad\/x\.md/,
  },
  {
    name: 'ENT-3: no SKILL.md in the manifest',
    script: entryOf([xFile]),
    code: 'EIO',
    message: /was refused \(missing-skill-md\)/,
  },
  {
    name: 'ENT-3: one file twice',
    script: entryOf([skillMdFile, xFile, xFile]),
    code: 'EIO',
    message: /was refused \(duplicate-file\).*skill:\/\/bad\/x\.md/,
  },
  {
    name: 'ENT-3: a file outside the root',
    script: entryOf([skillMdFile, xFile, { ...xFile, uri: 'skill://good/x.md' }]),
    code: 'EIO',
    message: /was refused \(outside-root\).*skill:\/\/good\/x\.md/,
  },
  {
    name: 'ENT-7: a path that is a file and a directory',
    script: entryOf([skillMdFile, xFile, { ...xFile, uri: 'skill://bad/x.md/y' }]),
    code: 'EIO',
    message: /was refused \(file-and-directory\).*x\.md/,
  },
  {
    name: 'ENT-7: two URIs for one path',
    script: entryOf([skillMdFile, xFile, { ...xFile, uri: 'skill://bad/%78.md' }]),
    code: 'EIO',
    message: /was refused \(same-path\)/,
  },
  {
    name: 'ENT-2: resources that are neither an array nor dynamic',
    script: entryOf('everything'),
    code: 'EIO',
    message: /was refused \(resources\)/,
  },
  {
    name: 'MAP-2: a name that is not the last segment',
    script: entryOf(listed, { name: 'other', description: 'Other' }),
    code: 'EIO',
    message: /was refused \(name\)/,
  },
];
describe('ENT-5, VER-2: a fault is named, and everything else stays readable', () => {
  test.each(onRead)('$name', async ({ script, path = '/mcp/s/bad/x.md', code, message, reason }) => {
    const { mount, diagnostics } = await mountScript(script, { deadlines: { request: 200 } });
    const error = await rejection(mount.promises.readFile(path));
    expect(error).toMatchObject({ code, syscall: expect.any(String), path });
    expect(error.message).toMatch(message);
    expect(error.message).toContain('server "s"');
    expect(error.message).toContain(`'${path}'`);
    if (reason !== undefined) {
      expect(error.cause).toBeInstanceOf(VerificationError);
      expect(error.cause).toMatchObject({ reason });
      expect(diagnostics.map(({ code }) => code)).toContain('verification');
    }
    expect(await mount.promises.readFile('/mcp/s/good/x.md', 'utf8')).toBe('good x');
    expect(await mount.promises.readdir('/mcp/s')).toContain('good');
  });
});

test('VER-1: a tampered file is never returned, in no form of reading', async () => {
  const { mount } = await mountScript(badRead((uri) => contents(uri, 'bad y')));
  const path = '/mcp/s/bad/x.md';
  await expect(mount.promises.open(path)).rejects.toMatchObject({ code: 'EIO', syscall: 'open' });
  await expect(
    new Promise((resolve, reject) => mount.fs.createReadStream(path).on('error', reject).on('data', resolve)),
  ).rejects.toMatchObject({ code: 'EIO' });
  await expect(
    new Promise((resolve, reject) => mount.fs.readFile(path, (error, data) => (error ? reject(error) : resolve(data)))),
  ).rejects.toMatchObject({ code: 'EIO' });
});

test('VER-1: bytes that are in memory for another entry are checked against the size of this one', async () => {
  const lying = scriptedSkill('lying', { 'x.md': 'good x' });
  const files = lying.entry.resources as { uri: string; size: number }[];
  (files[1] as { size: number }).size = 3;
  const { mount } = await mountScript({ skills: [good, lying] });
  expect(await mount.promises.readFile('/mcp/s/good/x.md', 'utf8')).toBe('good x');
  expect(await rejection(mount.promises.readFile('/mcp/s/lying/x.md'))).toMatchObject({
    code: 'EIO',
    cause: { reason: 'size' },
  });
});

test('VER-2: a mismatch refreshes the entry once, and the new entry is used', async () => {
  const next = scriptedSkill('bad', { 'x.md': 'bad x, second edition' });
  const { mount, requests, diagnostics } = await mountScript({
    skills,
    get: () => next.entry,
    read: (uri) => fileOf([good, next], uri),
  });
  expect(await mount.promises.readFile('/mcp/s/bad/x.md', 'utf8')).toBe('bad x, second edition');
  expect((await mount.promises.stat('/mcp/s/bad/x.md')).size).toBe(21);
  expect(requests.filter((request) => request.startsWith('skills/get'))).toEqual(['skills/get skill://bad/SKILL.md']);
  expect(diagnostics.map(({ code }) => code)).toEqual(['changed']);
});

test('VER-2: an entry that stays the same is asked for once per failing read', async () => {
  const { mount, requests } = await mountScript(badRead((uri) => contents(uri, 'bad y')));
  await rejection(mount.promises.readFile('/mcp/s/bad/x.md'));
  expect(requests).toEqual(['skills/list', 'resources/read skill://bad/x.md', 'skills/get skill://bad/SKILL.md']);
});

test('VER-3: a file the manifest does not list is not asked for, and says so in its cause', async () => {
  const { mount, requests } = await mountScript({ skills, read: (uri) => contents(uri, 'more') });
  const error = await rejection(mount.promises.readFile('/mcp/s/bad/more.md'));
  expect(error).toMatchObject({ code: 'ENOENT', cause: { reason: 'unlisted' } });
  expect(requests).toEqual(['skills/list']);
});

test('VER-4: a SKILL.md that cannot be read as one is refused with its own reason', async () => {
  const text = '---\nname: bad\nname: bad\ndescription: About bad\n---\n';
  const entry = { ...bad.entry, resources: [{ ...skillMdFile, digest: digest(text), size: text.length }] };
  const { mount } = await mountScript({ skills: [{ entry, files: { [entry.uri]: text } }] });
  const error = await rejection(mount.promises.readFile('/mcp/s/bad/SKILL.md'));
  expect(error).toMatchObject({ code: 'EIO', cause: { reason: 'frontmatter' } });
});

test('VER-4: a date that JSON renders in another way is no difference', async () => {
  const text = '---\nname: bad\ndescription: About bad\nreviewed: 2026-03-05\n---\n';
  const entry = {
    uri: 'skill://bad/SKILL.md',
    frontmatter: { name: 'bad', description: 'About bad', reviewed: '2026-03-05T00:00:00.000Z' },
    resources: [{ uri: 'skill://bad/SKILL.md', digest: digest(text), size: text.length }],
  };
  const { mount } = await mountScript({ skills: [{ entry, files: { [entry.uri]: text } }] });
  expect(await mount.promises.readFile('/mcp/s/bad/SKILL.md', 'utf8')).toBe(text);
});

test('ENT-7: overlapping entries with different digests are both refused by name', async () => {
  const inner = scriptedSkill('outer/inner', { 'x.md': 'x' });
  const outer = scriptedSkill('outer', { 'inner/SKILL.md': skillMd('inner'), 'inner/x.md': 'other x' });
  const { mount } = await mountScript({ skills: [good, inner, outer] });
  await mount.ready();
  const [status] = mount.status();
  expect(status?.refused.map(({ uri, reason }) => [uri, reason]).sort()).toEqual([
    ['skill://outer/SKILL.md', 'conflicting-digest'],
    ['skill://outer/inner/SKILL.md', 'conflicting-digest'],
  ]);
  expect(mount.skills().map(({ name }) => name)).toEqual(['good']);
});

test('LIM-1: a skill over the limits is refused before any read, or loaded when allowed; both are told', async () => {
  const big = scriptedSkill('big', Object.fromEntries(Array.from({ length: 600 }, (_, i) => [`f${i}.md`, `${i}`])));
  const refused = await mountScript({ skills: [good, big] });
  expect(await rejection(refused.mount.promises.readFile('/mcp/s/big/SKILL.md'))).toMatchObject({
    code: 'EFBIG',
    message: expect.stringMatching(/601.*512/),
  });
  expect(refused.requests).toEqual(['skills/list']);
  const allowed = await mountScript({ skills: [good, big] }, { limits: { over: 'allow' } });
  expect(await allowed.mount.promises.readFile('/mcp/s/big/f599.md', 'utf8')).toBe('599');
  expect(allowed.diagnostics.map(({ message }) => message).join()).toMatch(/601/);
});

test('LIM-1: exactly 512 files and 16 MiB work', async () => {
  const files = Object.fromEntries(Array.from({ length: 510 }, (_, i) => [`f${i}.md`, `${i}`]));
  const used = Object.values(scriptedSkill('full', files).files).reduce((sum, file) => sum + file.length, 0);
  const full = scriptedSkill('full', { ...files, 'rest.bin': new Uint8Array(16 * 1024 * 1024 - used) });
  const { mount } = await mountScript({ skills: [full] });
  expect((await mount.ready())[0]).toMatchObject({ refused: [], files: 512, bytes: 16 * 1024 * 1024 });
  expect((await mount.promises.readFile('/mcp/s/full/rest.bin')).length).toBe(16 * 1024 * 1024 - used);
});

test('ERR-1, LST-2: a failed listing proves nothing: what is not known is not absent, and a skill is found by its path', async () => {
  const { mount } = await mountScript({
    skills,
    list: () => {
      throw new Error('catalog is being rebuilt');
    },
    get: (uri) => (uri === good.entry.uri ? good.entry : undefined),
  });
  expect(await mount.promises.readFile('/mcp/s/good/SKILL.md', 'utf8')).toContain('name: good');
  expect(await rejection(mount.promises.readdir('/mcp/s'))).toMatchObject({
    code: 'EIO',
    message: expect.stringMatching(/server "s".*catalog is being rebuilt/),
  });
  expect(await rejection(mount.promises.stat('/mcp/s/unknown'))).toMatchObject({ code: 'EIO' });
  expect(mount.status()[0]).toMatchObject({
    state: 'failed',
    lastError: { message: expect.stringContaining('rebuilt') },
  });
});

test('NEG-1, ERR-1: a capability whose methods are missing is reported as a failure', async () => {
  const { mount } = await mountScript({
    skills,
    list: () => {
      throw Object.assign(new Error('Method not found'), { code: -32601 });
    },
    get: () => {
      throw notFound('x');
    },
  });
  const [status] = await mount.ready();
  expect(status).toMatchObject({ state: 'failed', lastError: { message: expect.stringMatching(/skills\/list/) } });
});

test('VER-1: a digest of other line ends is told, and nothing is changed to make it fit; binary files pass', async () => {
  const text = 'one\ntwo\n';
  const made = 'one\r\ntwo\r\n';
  const png = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0xff, 0xfe]);
  const skill = scriptedSkill('bad', { 'x.md': made, 'logo.png': png });
  const served = (uri: string) => (uri.endsWith('x.md') ? contents(uri, text) : fileOf([skill], uri));
  const { mount } = await mountScript({ skills: [skill], read: served });
  const error = await rejection(mount.promises.readFile('/mcp/s/bad/x.md'));
  expect(error).toMatchObject({ code: 'EIO', cause: { reason: 'size' } });
  expect(error.message).toContain('the digest is of the same text with CRLF line ends');
  expect(new Uint8Array(await mount.promises.readFile('/mcp/s/bad/logo.png'))).toEqual(png);
});

test('VER-1: after a failure that passes, content is checked as it was before', async () => {
  let asked = 0;
  const { mount } = await mountScript(
    badRead((uri) => {
      asked++;
      if (asked === 1) throw new Error('try again');
      return contents(uri, asked === 2 ? 'bad y' : 'bad x');
    }),
  );
  expect(await rejection(mount.promises.readFile('/mcp/s/bad/x.md'))).toMatchObject({ code: 'EIO' });
  expect(await rejection(mount.promises.readFile('/mcp/s/bad/x.md'))).toMatchObject({ cause: { reason: 'digest' } });
  expect(await mount.promises.readFile('/mcp/s/bad/x.md', 'utf8')).toBe('bad x');
});

const fields = 'name: bad\ndescription: About bad\n';
test.each([
  ['an unquoted colon', `---\n${fields}more: use this: when\n---\n`, 'yaml', /line 4.*has to be quoted/],
  ['no fence', `# Bad\n${fields}`, 'missing-fence', /the first line is not "---" but "# Bad"/],
  ['a fence that is not closed', `---\n${fields}`, 'unclosed-fence', /no line "---" ends/],
  ['a key twice', `---\n${fields}name: bad\n---\n`, 'duplicate-key', /"name" is set twice/],
  ['an alias bomb', `---\n${fields}a: &a [x, x]\n${bomb()}---\n`, 'too-many-aliases', /aliases/],
])('VER-4: a SKILL.md with %s is never silently gone: it is told by name', async (_what, text, problem, message) => {
  const entry = { ...bad.entry, resources: [{ ...skillMdFile, digest: digest(text), size: text.length }] };
  const { mount, diagnostics } = await mountScript({ skills: [good, { entry, files: { [entry.uri]: text } }] });
  const error = await rejection(mount.promises.readFile('/mcp/s/bad/SKILL.md'));
  expect(error).toMatchObject({ code: 'EIO', cause: { reason: 'frontmatter', cause: { problem } } });
  expect(error.message).toMatch(message);
  expect(diagnostics).toMatchObject([
    { code: 'verification', uri: 'skill://bad/SKILL.md', message: expect.stringMatching(message) },
  ]);
  expect(await mount.promises.readFile('/mcp/s/good/SKILL.md', 'utf8')).toContain('name: good');
});

function bomb(): string {
  return Array.from(
    { length: 20 },
    (_, i) => `${'a'.repeat(i + 2)}: &${'a'.repeat(i + 2)} [*${'a'.repeat(i + 1)}, *${'a'.repeat(i + 1)}]\n`,
  ).join('');
}

test.each([
  ['a byte order mark', `\uFEFF---\n${fields}---\n`],
  ['blanks after the fences', `--- \t\n${fields}---  \n`],
])('VER-4: a SKILL.md with %s is read as it is', async (_what, text) => {
  const file = { ...skillMdFile, digest: digest(text), size: Buffer.byteLength(text) };
  const entry = { ...bad.entry, resources: [file] };
  const { mount } = await mountScript({ skills: [{ entry, files: { [entry.uri]: text } }] });
  expect(await mount.promises.readFile('/mcp/s/bad/SKILL.md', 'utf8')).toBe(text);
});
