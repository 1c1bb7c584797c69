import { lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readFrontmatter } from '../../src/catalog/frontmatter.ts';
import { mount as mountServers } from '../../src/mount.ts';
import { maskSkill } from '../../src/policy/mask.ts';
import { flat } from '../../src/views/flat.ts';
import { union } from '../../src/views/union.ts';
import { blobFiles } from '../content/support.ts';
import { mountScript, rejection } from '../support/mounted.ts';
import { connectScript, contents, scriptedSkill } from '../support/scripted-server.ts';
import { directory, serve, skillMd } from '../views/views.ts';

const md = (lines: string) => Buffer.from(`---\nname: x\ndescription: d\n${lines}\n---\nbody\n`);

describe('between verification and use', () => {
  test('VER-1: nobody changes what others read: not by their buffer, nor by the server, nor in an open file', async () => {
    const skill = scriptedSkill('tool', { 'a.md': 'good' });
    let text = 'good';
    const { mount } = await mountScript({ skills: [skill], read: (uri) => contents(uri, text) });
    const path = '/mcp/s/tool/a.md';
    const first = await mount.promises.readFile(path);
    first.fill('x');
    mount.fs.readFileSync(path).fill('y');
    const handle = await mount.promises.open(path);
    const buffer = Buffer.alloc(4);
    await handle.read(buffer, 0, 4, 0);
    buffer.fill('z');
    text = 'evil';
    expect(await mount.promises.readFile(path, 'utf8')).toBe('good');
    expect(await handle.readFile('utf8')).toBe('good');
    await handle.close();
  });

  test('SEC-3: the same of what was masked', async () => {
    const { mount } = await serve({ s: { 'x/SKILL.md': md('allowed-tools: Bash').toString() } });
    const read = await mount.promises.readFile('/mcp/s/x/SKILL.md');
    const before = read.toString();
    read.write('allowed-tools', read.indexOf('#'));
    expect(await mount.promises.readFile('/mcp/s/x/SKILL.md', 'utf8')).toBe(before);
  });

  test('CACHE-1: a file of the cache that another one took the place of is not used', async () => {
    const skill = scriptedSkill('tool', { 'a.md': 'good' });
    const { client, requests, close } = await connectScript({ skills: [skill] });
    const cache = { directory: `${directory({})}/cache`, keys: { s: 'me' } };
    const read = async () => {
      const mounted = mountServers({ servers: { s: client }, cache });
      const text = await mounted.promises.readFile('/mcp/s/tool/a.md', 'utf8');
      await mounted.close();
      return text;
    };
    await read();
    const outside = join(directory({ 'a.md': 'evil' }), 'a.md');
    for (const file of blobFiles(cache.directory)) {
      const { chmodSync, rmSync } = await import('node:fs');
      rmSync(file);
      symlinkSync(outside, file);
      expect(await read()).toBe('good');
      expect(lstatSync(file).isSymbolicLink(), basename(file)).toBe(false);
      chmodSync(file, 0o600);
      writeFileSync(file, 'evil');
      expect(await read()).toBe('good');
    }
    expect(requests.filter((one) => one.startsWith('resources/read'))).toHaveLength(3);
    expect(readFileSync(outside, 'utf8')).toBe('evil');
    await close();
  });
});

describe('links', () => {
  test('SEC-5: of local skills lead out of their skill for nobody', async () => {
    const outside = directory({ 'secret.txt': 'secret' });
    const local = directory({ 'own/SKILL.md': skillMd('own'), 'own/a.md': 'a' });
    symlinkSync(join(outside, 'secret.txt'), join(local, 'own/secret.txt'));
    symlinkSync(outside, join(local, 'own/out'));
    const { mount } = await serve({ s: { 'tool/SKILL.md': skillMd('tool') } });
    const view = union([{ path: local }, flat(mount)]);
    for (const path of ['secret.txt', 'out/secret.txt']) {
      expect(await rejection(view.promises.readFile(`/skills/own/${path}`))).toMatchObject({ code: 'EACCES' });
    }
    expect(await view.promises.readFile('/skills/own/a.md', 'utf8')).toBe('a');
  });

  test('CACHE-1: in the place of the cache directory are refused', () => {
    const own = directory({});
    mkdirSync(join(own, 'real'));
    symlinkSync(join(own, 'real'), join(own, 'cache'));
    expect(() => mountServers({ servers: {}, cache: { directory: join(own, 'cache') } })).toThrow(/symbolic link/);
  });
});

describe('text that is made to hurt whoever reads it', () => {
  test('ENT-1: names of prototypes are names, in frontmatter and in JSON', async () => {
    const lines = 'constructor: {prototype: {polluted: 1}}\ntoString: 1\nmetadata: {__proto__: {polluted: 2}}';
    const parsed = readFrontmatter(md(lines)).frontmatter;
    expect(Object.keys(parsed)).toEqual(['name', 'description', 'constructor', 'toString', 'metadata']);
    const entry = JSON.parse(
      `{"uri": "skill://x/SKILL.md", "frontmatter": {"name": "x", "description": "d", "__proto__": {"polluted": 3}},
        "resources": "dynamic", "__proto__": {"polluted": 4}, "constructor": {"prototype": {"polluted": 5}}}`,
    );
    const { mount } = await mountScript({ skills: [{ entry, files: {} }] });
    await mount.ready();
    expect(mount.skills()[0]?.frontmatter).not.toHaveProperty('polluted');
    await mount.promises.readFile('/mcp/s/x/SKILL.md').catch(() => {});
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    expect(() => maskSkill(md('__proto__: {allowed-tools: Bash}'))).toThrow(/cannot be masked/);
  });

  test('bombs of aliases and depth are refused', () => {
    const bomb = Array.from(
      { length: 20 },
      (_, n) => `a${n}: &a${n} [${n === 0 ? '1' : `*a${n - 1}, *a${n - 1}`}]`,
    ).join('\n');
    expect(() => readFrontmatter(md(bomb))).toThrow(/alias|nodes|values/i);
    expect(() => readFrontmatter(md(`a: ${'['.repeat(10_000)}${']'.repeat(10_000)}`))).toThrow();
    expect(() => maskSkill(md(bomb))).toThrow(/cannot be masked/);
  });

  // The bound is the test's own deadline: what is quadratic in these sizes does not end in it.
  test.each([
    ['blanks before a colon', `${' '.repeat(60_000)}:`],
    ['one long key', `${'k'.repeat(60_000)}: 1`],
    ['quotes', `a: "${'\\"'.repeat(30_000)}"`],
    ['flow braces', `a: ${'{a: '.repeat(30)}${'}'.repeat(30)}`],
    ['dashes', `a: ${'- '.repeat(20_000)}`],
    ['comments', '# x\n'.repeat(15_000)],
    ['anchors', Array.from({ length: 3_000 }, (_, n) => `k${n}: &a${n} 1`).join('\n')],
    ['questions', '? a\n'.repeat(15_000)],
  ])('frontmatter of %s is read or refused', (_, lines) => {
    for (const read of [() => readFrontmatter(md(lines)), () => maskSkill(md(lines))]) {
      try {
        read();
      } catch (error) {
        expect((error as Error).message).toMatch(/SKILL\.md/);
      }
    }
    expect(lines.length).toBeGreaterThan(0);
  });

  test.each(['`', '~', '!', '!`', '```!', '> ', '\n```', ' ', '\r', '<!--'])('a body of many %j is masked', (piece) => {
    const body = Buffer.from(`---\nname: x\ndescription: d\n---\n${piece.repeat(4_000_000 / piece.length)}`);
    let masked: Uint8Array;
    try {
      masked = maskSkill(body).bytes;
    } catch (error) {
      expect((error as Error).message).toContain('directives');
      return;
    }
    expect(masked).toHaveLength(body.length);
  });
});
