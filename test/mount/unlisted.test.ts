import { expect, test } from 'vitest';
import { mountScript, rejection } from '../support/mounted.ts';
import { contents, fileOf, scriptedSkill } from '../support/scripted-server.ts';

const listed = scriptedSkill('listed', { 'docs/x.md': 'x' });
const hidden = scriptedSkill('acme/hidden', { 'references/more.md': 'more' });

function server() {
  return {
    skills: [listed, hidden],
    list: () => ({ skills: [listed.entry] }),
  };
}

test('GET-1, GET-2: an unlisted skill is found by its SKILL.md, asked for once, and then is there as any other', async () => {
  const { mount, requests } = await mountScript(server());
  expect(await mount.promises.readFile('/mcp/s/acme/hidden/SKILL.md', 'utf8')).toContain('name: hidden');
  expect(await mount.promises.readdir('/mcp/s/acme')).toEqual(['hidden']);
  expect(await mount.promises.readFile('/mcp/s/acme/hidden/references/more.md', 'utf8')).toBe('more');
  expect(requests.filter((request) => request.startsWith('skills/get'))).toEqual([
    'skills/get skill://acme/hidden/SKILL.md',
  ]);
  expect(mount.skills().map(({ name, listed }) => [name, listed])).toEqual([
    ['listed', true],
    ['hidden', false],
  ]);
});

test('GET-2: an unlisted skill is found by its directory, and outlives a refresh', async () => {
  const { mount } = await mountScript(server());
  expect((await mount.promises.stat('/mcp/s/acme/hidden')).isDirectory()).toBe(true);
  await mount.refresh();
  expect(mount.fs.readdirSync('/mcp/s/acme/hidden')).toEqual(['SKILL.md', 'references']);
});

test('GET-2: many who look for an unlisted skill at once cause one request, and find one skill', async () => {
  const { mount, requests, diagnostics } = await mountScript(server());
  const stats = await Promise.all(Array.from({ length: 20 }, () => mount.promises.stat('/mcp/s/acme/hidden/SKILL.md')));
  expect(new Set(stats.map(({ ino }) => ino)).size).toBe(1);
  expect(requests).toEqual(['skills/list', 'skills/get skill://acme/hidden/SKILL.md']);
  expect(diagnostics).toHaveLength(1);
});

test('GET-2: a graft clears the misses above it', async () => {
  const { mount } = await mountScript(server());
  expect(await rejection(mount.promises.readdir('/mcp/s/acme'))).toMatchObject({ code: 'ENOENT' });
  await mount.promises.stat('/mcp/s/acme/hidden');
  expect(await mount.promises.readdir('/mcp/s/acme')).toEqual(['hidden']);
});

test('GET-2: a graft leaves everything else as it was: times, inodes, what is open, and other misses', async () => {
  const { mount, requests } = await mountScript(server());
  await mount.ready();
  await rejection(mount.promises.stat('/mcp/s/nothing'));
  const before = mount.fs.statSync('/mcp/s/listed/docs/x.md');
  const open = await mount.promises.opendir('/mcp/s');
  await mount.promises.stat('/mcp/s/acme/hidden');
  const after = mount.fs.statSync('/mcp/s/listed/docs/x.md');
  expect([after.ino, after.mtimeMs]).toEqual([before.ino, before.mtimeMs]);
  expect((await open.read())?.name).toBe('listed');
  expect(await open.read()).toBeNull();
  expect(mount.fs.readdirSync('/mcp/s', { recursive: true })).toEqual(
    expect.arrayContaining(['acme/hidden/references/more.md', 'listed/docs/x.md']),
  );
  await rejection(mount.promises.stat('/mcp/s/nothing'));
  expect(requests.filter((request) => request.includes('nothing'))).toHaveLength(1);
});

test('GET-1: a miss is remembered for a while', async () => {
  const { mount, requests } = await mountScript(server(), { missTtl: 60_000 });
  for (let round = 0; round < 3; round++) {
    expect(await rejection(mount.promises.stat('/mcp/s/nothing'))).toMatchObject({ code: 'ENOENT' });
    expect(await rejection(mount.promises.readFile('/mcp/s/nothing/SKILL.md'))).toMatchObject({ code: 'ENOENT' });
  }
  expect(requests).toEqual(['skills/list', 'skills/get skill://nothing/SKILL.md']);
});

test('GET-1: a miss is asked for again when its time is over', async () => {
  const { mount, requests } = await mountScript(server(), { missTtl: 0 });
  await rejection(mount.promises.stat('/mcp/s/nothing'));
  await rejection(mount.promises.stat('/mcp/s/nothing'));
  expect(requests.filter((request) => request.startsWith('skills/get'))).toHaveLength(2);
});

test('MAP-2, DIR-2: names that cannot be a skill, and paths inside an array skill, cost no request', async () => {
  const { mount, requests } = await mountScript(server());
  const probes = [
    '.git',
    'README.md',
    'Upper',
    'two--hyphens',
    '-lead',
    'a_b',
    '@repo',
    'x'.repeat(65),
    'listed/inner',
  ];
  for (const probe of [...probes, 'listed/inner/SKILL.md', 'listed/docs/deeper']) {
    expect(await rejection(mount.promises.stat(`/mcp/s/${probe}`)), probe).toMatchObject({ code: 'ENOENT' });
  }
  expect(requests).toEqual(['skills/list']);
});

test('ERR-1: a fault while asking for an unlisted skill is no absence, and is not remembered as one', async () => {
  let down = true;
  const { mount } = await mountScript({
    ...server(),
    get: (uri) => {
      if (down) throw new Error('backend is down');
      return uri === hidden.entry.uri ? hidden.entry : undefined;
    },
  });
  expect(await rejection(mount.promises.stat('/mcp/s/acme/hidden'))).toMatchObject({
    code: 'EIO',
    message: expect.stringMatching(/server "s".*backend is down/),
  });
  down = false;
  expect((await mount.promises.stat('/mcp/s/acme/hidden')).isDirectory()).toBe(true);
});

test('GET-2: an answer for another URI is refused', async () => {
  const { mount } = await mountScript({ ...server(), get: () => listed.entry });
  expect(await rejection(mount.promises.stat('/mcp/s/other'))).toMatchObject({
    code: 'EIO',
    message: expect.stringContaining('skill://listed/SKILL.md'),
  });
});

test('GET-3: URIs that the instructions name are confirmed with the server', async () => {
  const { mount, requests } = await mountScript({
    ...server(),
    instructions: 'Start with skill://acme/hidden/SKILL.md (not with `skill://made/up/SKILL.md`).',
  });
  await mount.ready();
  expect(mount.skills().map(({ name }) => name)).toEqual(['listed', 'hidden']);
  expect(requests).toEqual([
    'skills/list',
    'skills/get skill://acme/hidden/SKILL.md',
    'skills/get skill://made/up/SKILL.md',
  ]);
});

test('GET-3: a server that answers none of what its instructions name is waited for once', async () => {
  const instructions = Array.from({ length: 10_000 }, (_, index) => `skill://s${index}/SKILL.md`).join(' ');
  const { mount, requests, diagnostics } = await mountScript(
    { instructions, skills: [scriptedSkill('listed')], get: () => new Promise(() => {}) },
    { deadlines: { request: 200 } },
  );
  expect((await mount.ready())[0]).toMatchObject({ state: 'ready', skills: 1 });
  expect(requests).toEqual(['skills/list', 'skills/get skill://s0/SKILL.md']);
  expect(diagnostics).toMatchObject([{ code: 'warning', uri: 'skill://s0/SKILL.md' }]);
});

test('GET-3: the instructions are left alone where the option says so', async () => {
  const script = { ...server(), instructions: 'Start with skill://acme/hidden/SKILL.md.' };
  const { mount, requests } = await mountScript(script, { instructions: false });
  await mount.ready();
  expect(requests).toEqual(['skills/list']);
});

test('NEG-1: a server that does not declare the extension is never asked for skills', async () => {
  const { mount, requests, diagnostics } = await mountScript({ ...server(), capability: null });
  const [status] = await mount.ready();
  expect(status).toMatchObject({ state: 'ready', skills: 0 });
  expect(status?.dialect).toBeUndefined();
  expect(await rejection(mount.promises.readFile('/mcp/s/acme/hidden/SKILL.md'))).toMatchObject({ code: 'ENOENT' });
  expect(requests.filter((request) => request.startsWith('skills/'))).toEqual([]);
  expect(diagnostics.map(({ code }) => code)).toEqual(['no-skills']);
});

const dynamic = {
  entry: {
    uri: 'skill://live/SKILL.md',
    frontmatter: { name: 'live', description: 'About live' },
    resources: 'dynamic' as const,
  },
  files: scriptedSkill('live', { 'data/now.json': '{}' }).files,
};

test('ENT-2, VER-5: a dynamic skill is read without manifest, marked as such, and its SKILL.md still has to match', async () => {
  const { mount } = await mountScript({ skills: [dynamic] });
  await mount.ready();
  expect(mount.skills()).toMatchObject([{ name: 'live', content: 'dynamic' }]);
  expect(mount.skills()[0]).not.toHaveProperty('files');
  expect(await mount.promises.readFile('/mcp/s/live/data/now.json', 'utf8')).toBe('{}');
  expect(await mount.promises.readdir('/mcp/s/live')).toEqual(['SKILL.md', 'data']);
  expect(await mount.promises.readFile('/mcp/s/live/SKILL.md', 'utf8')).toContain('name: live');
  expect((await mount.promises.stat('/mcp/s/live/SKILL.md')).size).toBe(dynamic.files[dynamic.entry.uri]?.length);
  expect(await rejection(mount.promises.readFile('/mcp/s/live/none'))).toMatchObject({ code: 'ENOENT' });
});

test('VER-4: the SKILL.md of a dynamic skill that says something else is refused', async () => {
  const entry = { ...dynamic.entry, frontmatter: { name: 'live', description: 'Harmless' } };
  const { mount } = await mountScript({ skills: [{ ...dynamic, entry }] });
  expect(await rejection(mount.promises.readFile('/mcp/s/live/SKILL.md'))).toMatchObject({
    code: 'EIO',
    cause: { reason: 'frontmatter' },
  });
});

test('ERR-1: a file of a dynamic skill that was there and is gone is absent, and a refused one is asked for again', async () => {
  let gone = false;
  let wrong = true;
  const { mount } = await mountScript(
    {
      skills: [dynamic],
      read: (uri) => {
        if (uri.endsWith('/SKILL.md') && wrong) return contents(uri, '---\nname: live\ndescription: Other\n---\n');
        return gone ? undefined : fileOf([dynamic], uri);
      },
    },
    { memoryBytes: 1 },
  );
  expect(await mount.promises.readFile('/mcp/s/live/data/now.json', 'utf8')).toBe('{}');
  gone = true;
  expect(await rejection(mount.promises.readFile('/mcp/s/live/data/now.json'))).toMatchObject({ code: 'ENOENT' });
  gone = false;
  expect(await rejection(mount.promises.readFile('/mcp/s/live/SKILL.md'))).toMatchObject({ code: 'EIO' });
  wrong = false;
  expect(await mount.promises.readFile('/mcp/s/live/SKILL.md', 'utf8')).toContain('About live');
});

test('VER-5: dynamic skills can be denied', async () => {
  const { mount } = await mountScript({ skills: [dynamic, listed] }, { dynamic: 'deny' });
  const [status] = await mount.ready();
  expect(status?.refused).toMatchObject([{ uri: dynamic.entry.uri, reason: 'dynamic-denied' }]);
  expect(await mount.promises.readdir('/mcp/s')).toEqual(['listed']);
});

test('LIM-1: the bytes of a dynamic skill count as they are fetched', async () => {
  const { mount } = await mountScript(
    { skills: [dynamic], read: (uri) => fileOf([dynamic], uri) ?? contents(uri, 'x'.repeat(600)) },
    { limits: { bytes: 1000 } },
  );
  expect(await mount.promises.readFile('/mcp/s/live/a', 'utf8')).toHaveLength(600);
  expect(await rejection(mount.promises.readFile('/mcp/s/live/b'))).toMatchObject({ code: 'EFBIG' });
});

test('DIR-1, DIR-3, NEG-2: the directories of a dynamic skill are read where the server declares it, page by page', async () => {
  const readDirectory = (uri: string, cursor: string | undefined) => {
    if (uri === 'skill://live' && cursor === undefined) {
      return { resources: [{ uri: 'skill://live/SKILL.md', name: 'SKILL.md' }], nextCursor: 'more' };
    }
    if (uri === 'skill://live') {
      return { resources: [{ uri: 'skill://live/data', name: 'data', mimeType: 'inode/directory' }] };
    }
    if (uri === 'skill://live/data') return { resources: [{ uri: 'skill://live/data/now.json', name: 'now.json' }] };
    return undefined;
  };
  const declared = await mountScript({ skills: [dynamic], capability: { directoryRead: true }, readDirectory });
  expect(await declared.mount.promises.readdir('/mcp/s/live', { recursive: true })).toEqual([
    'SKILL.md',
    'data',
    'data/now.json',
  ]);
  expect(await rejection(declared.mount.promises.stat('/mcp/s/live/data/none'))).toMatchObject({ code: 'ENOENT' });
  expect(declared.requests.filter((request) => request.startsWith('resources/read'))).toEqual([]);
  const silent = await mountScript({ skills: [dynamic], readDirectory });
  expect(await silent.mount.promises.readdir('/mcp/s/live')).toEqual(['SKILL.md']);
  expect(silent.requests.join()).not.toContain('directory');
});

test('DIR-2: what only the server shows of an array skill is neither listed nor readable', async () => {
  const { mount, requests } = await mountScript({
    skills: [listed],
    capability: { directoryRead: true },
    readDirectory: () => ({ resources: [{ uri: 'skill://listed/extra.md', name: 'extra.md' }] }),
    read: (uri) => contents(uri, 'extra'),
  });
  expect(await mount.promises.readdir('/mcp/s/listed')).toEqual(['SKILL.md', 'docs']);
  expect(await rejection(mount.promises.readFile('/mcp/s/listed/extra.md'))).toMatchObject({ code: 'ENOENT' });
  expect(requests).toEqual(['skills/list']);
});

test('GET-1: a server that cannot be asked for one skill has those that it lists, and others are not there', async () => {
  const { mount, diagnostics } = await mountScript({
    skills: [listed],
    get: () => {
      throw Object.assign(new Error('Method not found'), { code: -32601 });
    },
  });
  expect(await mount.promises.readFile('/mcp/s/listed/docs/x.md', 'utf8')).toBe('x');
  expect(await rejection(mount.promises.stat('/mcp/s/other'))).toMatchObject({ code: 'ENOENT' });
  expect(diagnostics).toEqual([]);
});

test('VER-5: what is denied is denied alike, however it is looked at', async () => {
  const dynamic = { ...listed, entry: { ...listed.entry, resources: 'dynamic' as const } };
  const { mount, requests } = await mountScript({ skills: [dynamic] }, { dynamic: 'deny' });
  const { promises } = mount;
  for (const path of ['/mcp/s/listed', '/mcp/s/listed/SKILL.md', '/mcp/s/listed/docs/x.md']) {
    for (const look of [
      (at: string) => promises.stat(at),
      (at: string) => promises.readFile(at),
      (at: string) => promises.access(at),
    ]) {
      expect(await rejection(look(path))).toMatchObject({ code: 'EACCES' });
    }
    expect(await rejection(promises.readdir(path))).toMatchObject({ code: 'EACCES' });
  }
  expect(await promises.readdir('/mcp/s')).toEqual([]);
  expect(requests).toEqual(['skills/list']);
});

test('DIR-1: a directory without end is cut', async () => {
  const dynamic = { ...listed, entry: { ...listed.entry, resources: 'dynamic' as const } };
  let page = 0;
  const { mount, requests } = await mountScript({
    capability: { directoryRead: true },
    skills: [dynamic],
    readDirectory: (uri) => ({
      resources: [{ uri: `${uri}/f${page++}.md`, mimeType: 'text/plain' }],
      nextCursor: `${page}`,
    }),
  });
  expect((await mount.promises.readdir('/mcp/s/listed')).length).toBeGreaterThan(100);
  expect(requests.length).toBeLessThan(250);
});
