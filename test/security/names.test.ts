import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LISTING_LIMITS } from '../../src/base/limits.ts';
import { flat } from '../../src/views/flat.ts';
import { mountScript, rejection } from '../support/mounted.ts';
import { contents, digest, scriptedSkill } from '../support/scripted-server.ts';

/** How many hostile names are made: 20,000, or as many as SKILLFS_HOSTILE_NAMES says. */
const NAMES = Number(process.env['SKILLFS_HOSTILE_NAMES'] ?? 20_000);

const PIECES = [
  ...[
    '..',
    '.',
    '',
    '/',
    '\\',
    '%2e%2e',
    '%2E.',
    '%2f',
    '%5c',
    '%00',
    '\0',
    '%',
    '%zz',
    '%ff',
    '%c0%ae',
    '//',
    '?',
    '#',
    ':',
  ],
  ...[
    'C:',
    'CON',
    'nul',
    'COM1.md',
    'aux.txt',
    'a:b',
    'SKILL.md::$DATA',
    '~',
    '~root',
    '-rf',
    '$HOME',
    '`id`',
    '|',
    '*',
    '<',
    '>',
  ],
  ...[
    '__proto__',
    'constructor',
    'prototype',
    'hasOwnProperty',
    'toString',
    'SKILL.md',
    'skill.md',
    'node_modules',
    '.git',
  ],
  ...[
    '\u202e',
    '\u200b',
    '\ufeff',
    '\u2024\u2024',
    '\uff0e\uff0e',
    '\uff0f',
    '\u2215',
    '\ud800',
    'e\u0301',
    '\u00e9',
    '\u{e0041}',
  ],
  ...[
    '\n',
    '\r',
    '\t',
    '\u001b[31m',
    ' ',
    'a'.repeat(255),
    'b'.repeat(256),
    'x',
    'y',
    'tool',
    '@repo',
    '%40',
    '@',
    '@resources',
  ],
];

function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

describe('hostile names', () => {
  test(`SEC-4, ENT-5: of ${NAMES}, none escapes, none hangs, and none is dropped silently`, async () => {
    const seed = Number(process.env['SKILLFS_SEED'] ?? Math.floor(Math.random() * 1e9));
    process.stdout.write(`SKILLFS_SEED=${seed}\n`);
    const random = generator(seed);
    const pick = () => PIECES[Math.floor(random() * PIECES.length)] as string;
    const name = () => Array.from({ length: 1 + Math.floor(random() * 3) }, pick).join('');
    const segments = () => Array.from({ length: 1 + Math.floor(random() * 3) }, name).join(random() < 0.9 ? '/' : '');
    for (let left = NAMES; left > 0; left -= LISTING_LIMITS.entries) {
      const count = Math.min(left, LISTING_LIMITS.entries);
      const entries = Array.from({ length: count }, (_, number) => {
        const uri = `${random() < 0.9 ? 'skill' : pick()}://${segments()}/n${number}/SKILL.md`;
        const base = uri.slice(0, -'SKILL.md'.length);
        const files = [uri, base + segments()].map((file) => ({ uri: file, size: 1, digest: digest(file) }));
        return { uri, frontmatter: { name: `n${number}`, description: 'd' }, resources: files };
      });
      const page = 5_000;
      const { mount } = await mountScript({
        list: (cursor = '0') => {
          const next = Number(cursor) + page;
          return {
            skills: entries.slice(Number(cursor), next),
            ...(next < entries.length && { nextCursor: String(next) }),
          };
        },
      });
      const [status] = await mount.ready();
      const known = mount.skills();
      const refused = status?.refused ?? [];
      expect(status).not.toHaveProperty('partial');
      expect(known.length + refused.length).toBe(count);
      expect(refused.every(({ reason, message }) => reason.length > 0 && message.length > 0)).toBe(true);
      const told = new Set([...known.map(({ uri }) => uri), ...refused.map(({ uri }) => uri)]);
      for (const { uri } of entries) if (!told.has(uri)) expect.fail(`${JSON.stringify(uri)} was dropped`);
      expect(known.length).toBeGreaterThan(count / 100);

      const seen = new Set<string>();
      for (const skill of known) {
        for (const segment of skill.path.split('/').slice(1)) {
          if (/^\.{0,2}$|[\\\0]/.test(segment) || Buffer.byteLength(segment) > 255)
            expect.fail(JSON.stringify(skill.path));
        }
        if (!skill.path.startsWith('/mcp/s/') || seen.has(skill.path)) expect.fail(JSON.stringify(skill.path));
        seen.add(skill.path);
        if (mount.pathOf('s', skill.uri) !== `${skill.path}/SKILL.md`) expect.fail(JSON.stringify(skill.uri));
      }
      const view = flat(mount);
      const names = await view.promises.readdir('/skills');
      expect(names).toHaveLength(known.length);
      expect(names.filter((one) => /^\.{0,2}$|[/\\\0]/.test(one))).toEqual([]);
      expect(Object.prototype).not.toHaveProperty('n0');
    }
  }, 600_000);

  test('SEC-4: a path that is looked up leads to no other server, and out of no mount', async () => {
    const inner = scriptedSkill('tool', { 'a.md': 'inside' });
    const { mount, requests } = await mountScript({ skills: [inner] });
    await mount.ready();
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 6 }), async (pieces) => {
        const path = `/mcp/s/tool/${pieces.join('/')}`;
        const content = await mount.promises.readFile(path, 'utf8').catch((error) => error as NodeJS.ErrnoException);
        if (typeof content === 'string') expect(['inside', inner.files['skill://tool/SKILL.md']]).toContain(content);
        else expect(['ENOENT', 'EISDIR', 'ENOTDIR', 'ENAMETOOLONG', 'ERR_INVALID_ARG_VALUE']).toContain(content.code);
      }),
      { numRuns: 500 },
    );
    expect(requests.filter((request) => /\.\.|%2e|\/\//i.test(request.slice(request.indexOf('://') + 3)))).toEqual([]);
    expect(mount.fs.existsSync('/mcp/s/../../etc/passwd')).toBe(false);
    expect((await rejection(mount.promises.readFile('/etc/passwd'))).code).toBe('ENOENT');
  });

  test('device-like and absolute names are names like others, and stay in their skill', async () => {
    const names = ['CON', 'nul.md', 'COM1', 'C:', 'a:b', '-rf', '$HOME', '~', '.git', '__proto__', 'constructor'];
    const skill = scriptedSkill('odd', Object.fromEntries(names.map((one) => [encodeURIComponent(one), one])));
    const { mount } = await mountScript({ skills: [skill] });
    expect(await mount.promises.readdir('/mcp/s/odd')).toEqual([...names, 'SKILL.md'].sort());
    for (const one of names) expect(await mount.promises.readFile(`/mcp/s/odd/${one}`, 'utf8')).toBe(one);
  });
});

test('VER-1: whatever a server answers, only what its entry lists is given', async () => {
  const skill = scriptedSkill('tool', { 'a.md': 'a' });
  let answer: unknown;
  const { mount } = await mountScript({ skills: [skill], read: () => answer });
  const uri = 'skill://tool/a.md';
  for (const given of [
    contents('skill://tool/../a.md', 'a'),
    contents('file:///etc/passwd', 'a'),
    contents(uri, 'b'),
    { contents: [] },
    {
      contents: [
        { uri, text: 'a' },
        { uri, text: 'a' },
      ],
    },
    { contents: [{ uri, text: 'a', blob: 'YQ==' }] },
    { contents: [JSON.parse(`{"__proto__": {"text": "a"}, "uri": "${uri}"}`)] },
  ]) {
    answer = given;
    expect(await rejection(mount.promises.readFile('/mcp/s/tool/a.md')), JSON.stringify(given)).toMatchObject({
      code: 'EIO',
    });
  }
  answer = contents(uri, 'a');
  expect(await mount.promises.readFile('/mcp/s/tool/a.md', 'utf8')).toBe('a');
});
