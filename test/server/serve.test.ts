import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { McpServer } from '@modelcontextprotocol/server';
import { expect, onTestFinished, test } from 'vitest';
import { mount } from '../../src/mount.ts';
import { attachDirectory, attachSkill, serveHttp } from '../../src/server/index.ts';
import { skillMd } from '../support/scripted-server.ts';
import { clientOf, type Entry, fixtures, serve, temporary, write } from './served.ts';

test('SRV-1, LST-1: entries are paged, and a change between two pages loses and repeats none of the others', async () => {
  const names = Array.from({ length: 25 }, (_, i) => `s-${i}`);
  const directory = temporary(Object.fromEntries(names.map((name) => [`${name}/SKILL.md`, skillMd(name)])));
  const { ask } = await serve(directory, { pageSize: 10 });
  interface Page {
    readonly skills: Entry[];
    readonly nextCursor?: string;
  }
  const first = await ask<Page>('skills/list');
  const removed = first.skills.at(-1)?.uri ?? '';
  rmSync(join(directory, removed.slice('skill://'.length), '..'), { recursive: true });
  await ask('skills/list');
  const second = await ask<Page>('skills/list', { cursor: first.nextCursor });
  const third = await ask<Page>('skills/list', { cursor: second.nextCursor });
  expect([first, second, third].flatMap(({ skills }) => skills.map(({ uri }) => uri)).sort()).toEqual(
    names.map((name) => `skill://${name}/SKILL.md`).sort(),
  );
  expect(third.nextCursor).toBeUndefined();
  await expect(ask('skills/list', { cursor: 'made up' })).rejects.toMatchObject({ code: -32602 });
});

test('SRV-1, MAP-8, ENT-4: nested skills are entries of their own, and files of the enclosing one', async () => {
  const { directory } = await serve(fixtures);
  const outer = directory.skills.find(({ uri }) => uri.endsWith('incident-response/SKILL.md'));
  const inner = directory.skills.find(({ uri }) => uri.endsWith('postmortem/SKILL.md'));
  expect(inner?.resources).toHaveLength(2);
  expect(outer?.resources).toEqual(expect.arrayContaining(inner?.resources as never));
});

test('SRV-1, ENT-1: frontmatter is served as it is written, unknown fields included', async () => {
  const directory = temporary({
    'a/SKILL.md':
      '---\nname: a\ndescription: About a\nlicense: MIT\nreviewed: 2026-03-05\nrank: 012\nx: {deep: [1, null]}\n---\n',
  });
  const { list } = await serve(directory);
  expect(await list()).toMatchObject([
    {
      frontmatter: {
        name: 'a',
        description: 'About a',
        license: 'MIT',
        reviewed: '2026-03-05',
        rank: 12,
        x: { deep: [1, null] },
      },
    },
  ]);
});

test('SRV-1, DIR-1: directories list their direct children, above skills and inside them', async () => {
  const { ask } = await serve(fixtures);
  const children = async (uri: string) =>
    (await ask<{ resources: object[] }>('resources/directory/read', { uri })).resources;
  expect(await children('skill://acme')).toEqual([
    { uri: 'skill://acme/billing', name: 'billing', mimeType: 'inode/directory' },
    { uri: 'skill://acme/security', name: 'security', mimeType: 'inode/directory' },
  ]);
  expect(await children('skill://pdf-forms/assets')).toEqual([
    {
      uri: 'skill://pdf-forms/assets/filled%20example.png',
      name: 'filled example.png',
      mimeType: 'image/png',
      size: 173,
    },
  ]);
});

test('SRV-2: SKILL.md resources carry type, name and description', async () => {
  const { client } = await serve(fixtures);
  const { resources } = await client.listResources();
  expect(resources).toHaveLength(8);
  expect(resources).toContainEqual({
    uri: 'skill://release-notes/SKILL.md',
    mimeType: 'text/markdown',
    name: 'release-notes',
    description: expect.stringContaining('release notes'),
  });
  const read = await client.readResource({ uri: 'skill://release-notes/SKILL.md' });
  expect(read.contents).toMatchObject([{ uri: 'skill://release-notes/SKILL.md', mimeType: 'text/markdown' }]);
});

test('MAP-3, RD-1: names that URIs cannot hold as they are come back byte for byte', async () => {
  const skills = [
    '@acme/pay',
    'a:b@c/ports',
    'with space/spaced',
    '%40x/percent',
    '%2e/dots',
    'Ünï/accents',
    'x?y#z/marks',
  ];
  const files = ['a b.md', '100%.md', '%20.md', 'q?a#b.md', "it's;=+$&,@:!*().md", '日本語.md', '[x]^{y}|`.md', '..md'];
  const directory = temporary();
  for (const path of skills) {
    write(directory, `${path}/SKILL.md`, skillMd(path.split('/').at(-1) ?? ''));
    for (const file of files) write(directory, `${path}/${file}`, `${path} ${file}`);
  }
  const { client, list, warnings } = await serve(directory);
  expect(warnings).toEqual([]);
  expect(await list()).toHaveLength(skills.length);
  const mounted = mount({ servers: { s: client } });
  await mounted.ready();
  expect(mounted.status()).toMatchObject([{ refused: [], skills: skills.length }]);
  for (const { path } of mounted.skills()) {
    const skill = skills.find((one) => one.split('/').at(-1) === path.split('/').at(-1));
    expect((await mounted.promises.readdir(path)).sort()).toEqual(['SKILL.md', ...files].sort());
    for (const file of files) {
      expect(await mounted.promises.readFile(`${path}/${file}`, 'utf8')).toBe(`${skill} ${file}`);
    }
  }
  await mounted.close();
});

test('ENT-5, LIM-1: a skill that is not valid is left out with a warning that names it, and the others are served', async () => {
  const outside = temporary({ 'secret.md': 'secret' });
  const frontmatter = (name: string, rest: string) => `---\nname: ${name}\n${rest}\n---\n`;
  const directory = temporary({
    'good/SKILL.md': skillMd('good'),
    'wrong-name/SKILL.md': skillMd('other'),
    'no-frontmatter/SKILL.md': '# nothing\n',
    'bad-yaml/SKILL.md': frontmatter('bad-yaml', 'description: a: b'),
    'long/SKILL.md': frontmatter('long', `description: ${'x'.repeat(1025)}`),
    'metadata/SKILL.md': frontmatter('metadata', 'description: d\nmetadata: {version: 1}'),
    'backslash/SKILL.md': skillMd('backslash'),
    'backslash/a\\b.md': 'no URI has this',
    'linked/SKILL.md': skillMd('linked'),
    'dangling/SKILL.md': skillMd('dangling'),
    'many/SKILL.md': skillMd('many'),
    'big/SKILL.md': skillMd('big'),
    'big/x.bin': 'x'.repeat(2000),
    'good/node_modules/x/index.js': 'ignored',
    'good/.git/HEAD': 'ignored',
    'good/.DS_Store': 'ignored',
    'not-a-skill/readme.md': 'ignored',
  });
  symlinkSync(join(outside, 'secret.md'), join(directory, 'linked/secret.md'));
  symlinkSync('nowhere.md', join(directory, 'dangling/x.md'));
  for (let i = 0; i < 20; i++) write(directory, `many/f${i}.md`, 'x');
  const { client, list, warnings } = await serve(directory, { limits: { files: 10, bytes: 1900 } });
  const served = await list();
  expect(served.map(({ uri }) => uri)).toEqual(['skill://good/SKILL.md']);
  expect(served[0]?.resources).toHaveLength(1);
  expect((await client.listResources()).resources).toHaveLength(1);
  await expect(client.readResource({ uri: 'skill://linked/secret.md' })).rejects.toMatchObject({ code: -32602 });
  const reasons = Object.fromEntries(warnings.map((warning) => warning.split(/\/SKILL\.md: /, 2)));
  expect(reasons).toEqual({
    'wrong-name': expect.stringContaining('"other" in a directory "wrong-name"'),
    'no-frontmatter': expect.stringContaining('the first line is not "---"'),
    'bad-yaml': expect.stringContaining('line 3'),
    long: expect.stringContaining('1024 characters'),
    metadata: expect.stringContaining('metadata'),
    backslash: expect.stringContaining('a\\b.md'),
    linked: expect.stringContaining('linked/secret.md: the symbolic link leads out of the served directory'),
    dangling: expect.stringContaining('dangling/x.md: the symbolic link cannot be followed'),
    many: expect.stringContaining('21 files'),
    big: expect.stringContaining('big/x.bin: it has more than 1900 bytes'),
  });
});

test('symbolic links inside the directory are followed, and circles end', async () => {
  const directory = temporary({ 'a/SKILL.md': skillMd('a'), 'shared/terms/x.md': 'terms' });
  symlinkSync('../shared/terms', join(directory, 'a/terms'));
  const { list, read, warnings } = await serve(directory);
  expect(await read('skill://a/terms/x.md')).toMatchObject({ text: 'terms' });
  symlinkSync('..', join(directory, 'a/loop'));
  expect(await list()).toEqual([]);
  expect(warnings).toEqual([expect.stringMatching(/^a\/SKILL\.md: .*a\/loop: the symbolic link leads back/)]);
});

test('SRV-1: a directory, or one skill at a path, attaches to a server of one’s own', async () => {
  const whole = new McpServer({ name: 'own', version: '1' });
  await attachDirectory(whole, fixtures, { prefix: 'team/x' });
  const one = new McpServer({ name: 'own', version: '1' });
  await attachSkill(one, join(fixtures, 'release-notes'), { skillPath: 'acme/docs/release-notes' });
  const mounted = mount({ servers: { whole: await clientOf(() => whole), one: await clientOf(() => one) } });
  await mounted.ready();
  const paths = (label: string) => mounted.skills().flatMap((skill) => (skill.label === label ? [skill.path] : []));
  expect(paths('whole')).toHaveLength(8);
  expect(await mounted.promises.readFile('/mcp/whole/team/x/pdf-forms/SKILL.md', 'utf8')).toContain('pdf-forms');
  expect(paths('one')).toEqual(['/mcp/one/acme/docs/release-notes']);
  expect(await mounted.promises.readFile('/mcp/one/acme/docs/release-notes/examples/rewrites.md', 'utf8')).toContain(
    '# Rewrites',
  );
  await mounted.close();
});

test('MAP-2: a skill cannot be attached under another name, and says why', async () => {
  const server = new McpServer({ name: 'own', version: '1' });
  await expect(attachSkill(server, join(fixtures, 'release-notes'), { skillPath: 'acme/notes' })).rejects.toThrow(
    /cannot be served at acme\/notes.*release-notes/,
  );
  await expect(attachSkill(server, join(fixtures, 'acme'), { skillPath: 'acme' })).rejects.toThrow(/no SKILL\.md/);
  await expect(attachDirectory(server, join(fixtures, 'none'))).rejects.toMatchObject({ code: 'ENOENT' });
});

test('over HTTP, only requests addressed to this machine by its own names are answered', async () => {
  await expect(serveHttp(fixtures, { host: '0.0.0.0' })).rejects.toThrow(/loopback/);
  const server = await serveHttp(fixtures, { host: '127.0.0.2' });
  onTestFinished(() => server.close());
  const { port } = new URL(server.url);
  const status = (path: string, headers: Record<string, string>) =>
    new Promise<number | undefined>((resolve, reject) => {
      const options = { host: '127.0.0.2', port, path, method: 'POST' };
      request({ ...options, headers: { 'content-type': 'application/json', ...headers } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on('error', reject)
        .end('{}');
    });
  expect(await status('/mcp', { host: 'evil.example' })).toBe(403);
  expect(await status('/mcp', { origin: 'https://evil.example' })).toBe(403);
  for (const path of ['/other', '//', '/mcp/', '/%zz']) expect(await status(path, {})).toBe(404);
  expect(await status('/mcp?x', {})).toBe(400);
});

test('SRV-1, LST-1: 1,000 skills of 8 files are served and mounted without a refusal', async () => {
  const directory = temporary();
  for (let skill = 0; skill < 1000; skill++) {
    const name = `skill-${skill}`;
    mkdirSync(join(directory, `group-${skill % 10}`, name, 'references'), { recursive: true });
    write(directory, `group-${skill % 10}/${name}/SKILL.md`, skillMd(name));
    for (let file = 0; file < 7; file++) {
      write(directory, `group-${skill % 10}/${name}/references/f${file}.md`, `${skill} ${file}`);
    }
  }
  const cli = new URL('../../dist/cli.js', import.meta.url).pathname;
  const mounted = mount({
    servers: { s: { command: process.execPath, args: [cli, 'serve', directory], stderr: 'ignore' } },
  });
  onTestFinished(() => mounted.close());
  expect(await mounted.ready()).toMatchObject([{ state: 'ready', skills: 1000, files: 8000, refused: [] }]);
  expect(mounted.fs.readdirSync('/mcp/s', { recursive: true })).toHaveLength(10 + 1000 * 2 + 8000);
}, 60_000);
