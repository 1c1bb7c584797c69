import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { expect, onTestFinished, test } from 'vitest';
import { mount } from '../../src/mount.ts';
import { call } from '../../src/protocol/client.ts';
import { attachDirectory, attachSkill, serveHttp, skillsServer } from '../../src/server/index.ts';
import { digest, skillMd } from '../support/scripted-server.ts';

const fixtures = new URL('../../fixtures/skills', import.meta.url).pathname;

function temporary(files: Record<string, string> = {}): string {
  const directory = mkdtempSync(join(tmpdir(), 'skillfs-serve-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  for (const [path, content] of Object.entries(files)) write(directory, path, content);
  return directory;
}

function write(directory: string, path: string, content: string): void {
  mkdirSync(join(directory, path, '..'), { recursive: true });
  writeFileSync(join(directory, path), content);
}

/** A client of servers that are made as told, in memory. */
async function clientOf(create: () => McpServer): Promise<Client> {
  const [a, b] = InMemoryTransport.createLinkedPair();
  serveStdio(create, { transport: b });
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(a);
  onTestFinished(() => client.close());
  return client;
}

async function serve(directory: string, options: Parameters<typeof skillsServer>[1] = {}) {
  const warnings: string[] = [];
  const onWarning = ({ path, message }: { path: string; message: string }) => warnings.push(`${path}: ${message}`);
  const { directory: opened, create } = await skillsServer(directory, { onWarning, ...options });
  const client = await clientOf(create);
  const ask = (method: string, params: Record<string, unknown> = {}) =>
    call(client, method, params, { signal: AbortSignal.timeout(10_000), timeout: 10_000 }) as Promise<
      Record<string, never>
    >;
  return { client, opened, warnings, ask };
}

interface Entry {
  uri: string;
  resources: { uri: string; digest: string; size: number }[];
}

test('SRV-1: entries are paged, and each page belongs to one listing', async () => {
  const files = Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`s-${i}/SKILL.md`, skillMd(`s-${i}`)]));
  const directory = temporary(files);
  const { ask } = await serve(directory, { pageSize: 10 });
  const first = (await ask('skills/list')) as unknown as { skills: Entry[]; nextCursor: string };
  rmSync(join(directory, 's-1'), { recursive: true });
  await ask('skills/list');
  const second = (await ask('skills/list', { cursor: first.nextCursor })) as unknown as {
    skills: Entry[];
    nextCursor: string;
  };
  const third = (await ask('skills/list', { cursor: second.nextCursor })) as unknown as { skills: Entry[] };
  expect([...first.skills, ...second.skills, ...third.skills].map(({ uri }) => uri)).toHaveLength(25);
  await expect(ask('skills/list', { cursor: 'made.up' })).rejects.toMatchObject({ code: -32602 });
});

test('SRV-1, MAP-8, ENT-4: nested skills are entries of their own, and files of the enclosing one', async () => {
  const { opened } = await serve(fixtures);
  const outer = opened.skills.find(({ uri }) => uri.endsWith('incident-response/SKILL.md'));
  const inner = opened.skills.find(({ uri }) => uri.endsWith('postmortem/SKILL.md'));
  expect(outer?.resources).toEqual(expect.arrayContaining(inner?.resources as Entry['resources']));
});

test('SRV-2: SKILL.md resources carry type, name and description', async () => {
  const { client } = await serve(fixtures);
  const { resources } = await client.listResources();
  expect(resources).toHaveLength(8);
  expect(resources).toContainEqual(
    expect.objectContaining({
      uri: 'skill://release-notes/SKILL.md',
      mimeType: 'text/markdown',
      name: 'release-notes',
      description: expect.stringContaining('release notes'),
    }),
  );
  const read = await client.readResource({ uri: 'skill://release-notes/SKILL.md' });
  expect(read.contents).toMatchObject([{ uri: 'skill://release-notes/SKILL.md', mimeType: 'text/markdown' }]);
});

test('SRV-3: what is not there is -32602', async () => {
  const { ask } = await serve(fixtures);
  await expect(ask('skills/get', { uri: 'skill://none/SKILL.md' })).rejects.toMatchObject({ code: -32602 });
  await expect(ask('resources/read', { uri: 'skill://pdf-forms/none.md' })).rejects.toMatchObject({ code: -32602 });
  await expect(ask('resources/directory/read', { uri: 'skill://pdf-forms/SKILL.md' })).rejects.toMatchObject({
    code: -32602,
  });
});

test('SRV-3: a directory that went away is -32603, and serves again when it is back', async () => {
  const directory = temporary({ 'a/SKILL.md': skillMd('a') });
  const { ask } = await serve(directory);
  renameSync(directory, `${directory}-away`);
  await expect(ask('skills/list')).rejects.toMatchObject({ code: -32603 });
  renameSync(`${directory}-away`, directory);
  expect(await ask('skills/list')).toMatchObject({ skills: [{ uri: 'skill://a/SKILL.md' }] });
});

test('SRV-3: a change shows in the next listing and the next entry', async () => {
  const directory = temporary({ 'a/SKILL.md': skillMd('a'), 'a/x.md': 'one' });
  const { ask } = await serve(directory);
  write(directory, 'a/x.md', 'two');
  write(directory, 'b/SKILL.md', skillMd('b'));
  const { skills } = (await ask('skills/list')) as unknown as { skills: Entry[] };
  expect(skills.map(({ uri }) => uri)).toEqual(['skill://a/SKILL.md', 'skill://b/SKILL.md']);
  expect(skills[0]?.resources).toContainEqual({ uri: 'skill://a/x.md', digest: digest('two'), size: 3 });
  unlinkSync(join(directory, 'b/SKILL.md'));
  await expect(ask('skills/get', { uri: 'skill://b/SKILL.md' })).rejects.toMatchObject({ code: -32602 });
});

test('SRV-3: while files change, bytes are always those of the entry published when they were read', async () => {
  const directory = temporary({ 'a/SKILL.md': skillMd('a'), 'a/x.md': 'version 0' });
  const { ask } = await serve(directory);
  const published = new Set<string>();
  let writes = 0;
  let done = false;
  const writer = (async () => {
    while (!done) {
      // Half of the changes replace the file, half write into it; sizes stay the same.
      const text = `version ${++writes % 10}`;
      if (writes % 2 === 0) write(directory, 'a/x.md', text);
      else {
        write(directory, 'a.tmp', text);
        renameSync(join(directory, 'a.tmp'), join(directory, 'a/x.md'));
      }
      await new Promise((resolve) => setTimeout(resolve, writes % 3));
    }
  })();
  let reads = 0;
  for (let round = 0; round < 150; round++) {
    const answer = (await ask('resources/read', { uri: 'skill://a/x.md' }).catch((error: { code?: number }) => {
      expect(error.code).toBe(-32603);
      return undefined;
    })) as unknown as { contents: { text: string }[] } | undefined;
    if (answer === undefined) continue;
    reads++;
    published.add(digest(answer.contents[0]?.text ?? ''));
  }
  done = true;
  await writer;
  expect(reads).toBeGreaterThan(0);
  const versions = new Set(Array.from({ length: 10 }, (_, i) => digest(`version ${i}`)));
  expect([...published].filter((one) => !versions.has(one))).toEqual([]);
  const { skill } = (await ask('skills/get', { uri: 'skill://a/SKILL.md' })) as unknown as { skill: Entry };
  const { contents } = (await ask('resources/read', { uri: 'skill://a/x.md' })) as unknown as {
    contents: { text: string }[];
  };
  expect(skill.resources).toContainEqual({ uri: 'skill://a/x.md', digest: digest(contents[0]?.text ?? ''), size: 9 });
});

test('SRV-3, VER-2: a mounted reader of changing files gets a version as published, or an error, never a mixture', async () => {
  const directory = temporary({ 'a/SKILL.md': skillMd('a'), 'a/x.md': 'v0'.repeat(5000) });
  const { client } = await serve(directory);
  const mounted = mount({ servers: { s: client }, memoryBytes: 0 });
  let done = false;
  const writer = (async () => {
    for (let n = 0; !done; n++) {
      write(directory, 'a/x.md', `v${n % 10}`.repeat(5000));
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  })();
  for (let round = 0; round < 60; round++) {
    const text = await mounted.promises.readFile('/mcp/s/a/x.md', 'utf8').catch((error: NodeJS.ErrnoException) => {
      expect(error.code).toBe('EIO');
      return undefined;
    });
    if (text !== undefined) expect(new Set(text.match(/v\d/g)).size).toBe(1);
  }
  done = true;
  await writer;
  await mounted.refresh();
  expect(await mounted.promises.readFile('/mcp/s/a/x.md', 'utf8')).toHaveLength(10_000);
  await mounted.close();
});

test('a skill that is not valid is left out with a warning that names it, and the others are served', async () => {
  const outside = temporary({ 'secret.md': 'secret' });
  const directory = temporary({
    'good/SKILL.md': skillMd('good'),
    'wrong-name/SKILL.md': skillMd('other'),
    'no-frontmatter/SKILL.md': '# nothing\n',
    'bad-yaml/SKILL.md': '---\nname: bad-yaml\ndescription: a: b\n---\n',
    'linked/SKILL.md': skillMd('linked'),
    'big/SKILL.md': skillMd('big'),
    'good/node_modules/x/index.js': 'ignored',
    'not-a-skill/readme.md': 'ignored',
  });
  symlinkSync(join(outside, 'secret.md'), join(directory, 'linked/secret.md'));
  for (let i = 0; i < 20; i++) write(directory, `big/f${i}.md`, 'x');
  const { opened, warnings } = await serve(directory, { limits: { files: 10 } });
  expect(opened.skills.map(({ uri }) => uri)).toEqual(['skill://good/SKILL.md']);
  expect(opened.skills[0]?.resources).toHaveLength(1);
  for (const name of ['wrong-name', 'no-frontmatter', 'bad-yaml', 'linked', 'big']) {
    expect(
      warnings.filter((warning) => warning.startsWith(`${name}/SKILL.md: `)),
      name,
    ).toHaveLength(1);
  }
});

test('symbolic links inside the directory are followed, and circles end', async () => {
  const directory = temporary({ 'a/SKILL.md': skillMd('a'), 'shared/terms.md': 'terms' });
  symlinkSync('../shared/terms.md', join(directory, 'a/terms.md'));
  const { ask } = await serve(directory);
  expect(await ask('resources/read', { uri: 'skill://a/terms.md' })).toMatchObject({ contents: [{ text: 'terms' }] });
  symlinkSync('..', join(directory, 'a/loop'));
  const { skills } = (await ask('skills/list')) as unknown as { skills: Entry[] };
  expect(skills).toEqual([]);
});

test('SRV-1: a directory, or one skill at a path, attaches to a server of one’s own', async () => {
  const whole = new McpServer({ name: 'own', version: '1' });
  await attachDirectory(whole, fixtures, { prefix: 'team/x' });
  const one = new McpServer({ name: 'own', version: '1' });
  await attachSkill(one, join(fixtures, 'release-notes'), { skillPath: 'acme/docs/release-notes' });
  const clients = { whole: await clientOf(() => whole), one: await clientOf(() => one) };
  const mounted = mount({ servers: clients });
  await mounted.ready();
  expect(mounted.skills().filter(({ label }) => label === 'whole')).toHaveLength(8);
  expect(await mounted.promises.readFile('/mcp/whole/team/x/pdf-forms/SKILL.md', 'utf8')).toContain('pdf-forms');
  expect(
    mounted
      .skills()
      .filter(({ label }) => label === 'one')
      .map(({ path }) => path),
  ).toEqual(['/mcp/one/acme/docs/release-notes']);
  expect(await mounted.promises.readFile('/mcp/one/acme/docs/release-notes/examples/rewrites.md', 'utf8')).toContain(
    '# Rewrites',
  );
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
  const server = await serveHttp(fixtures);
  onTestFinished(() => server.close());
  const status = (path: string, headers: Record<string, string>) =>
    new Promise<number | undefined>((resolve, reject) => {
      const url = new URL(path, server.url);
      request(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on('error', reject)
        .end('{}');
    });
  expect(await status('/mcp', { host: 'evil.example' })).toBe(403);
  expect(await status('/mcp', { origin: 'https://evil.example' })).toBe(403);
  expect(await status('/other', {})).toBe(404);
});

test('1,000 skills of 8 files are served and mounted without a refusal', async () => {
  const directory = temporary();
  for (let skill = 0; skill < 1000; skill++) {
    const name = `skill-${skill}`;
    mkdirSync(join(directory, `group-${skill % 10}`, name, 'references'), { recursive: true });
    write(directory, `group-${skill % 10}/${name}/SKILL.md`, skillMd(name));
    for (let file = 0; file < 7; file++)
      write(directory, `group-${skill % 10}/${name}/references/f${file}.md`, `${skill} ${file}`);
  }
  const cli = new URL('../../dist/cli.js', import.meta.url).pathname;
  const mounted = mount({
    servers: { s: { command: process.execPath, args: [cli, 'serve', directory], stderr: 'ignore' } },
  });
  onTestFinished(() => mounted.close());
  expect(await mounted.ready()).toMatchObject([{ state: 'ready', skills: 1000, files: 8000, refused: [] }]);
  expect(mounted.fs.readdirSync('/mcp/s', { recursive: true })).toHaveLength(10 + 1000 * 2 + 8000);
}, 60_000);
