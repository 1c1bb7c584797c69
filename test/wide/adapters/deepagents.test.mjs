import assert from 'node:assert/strict';
import test from 'node:test';
import { CompositeBackend, createSkillsMiddleware, FilesystemBackend } from 'deepagents';
import { deepagentsBackend } from '../../../dist/adapters.js';
import { files, onDisk, served, skill } from './served.mjs';

/** The view at its own place, as an agent would have it, and the same files on the disk at that place. */
async function backends(t) {
  const { server, view } = await served(t);
  const composite = (routes) =>
    new CompositeBackend(new FilesystemBackend({ rootDir: onDisk(t), virtualMode: true }), routes);
  const disk = new FilesystemBackend({ rootDir: onDisk(t), virtualMode: true });
  return {
    server,
    view,
    backend: composite({ '/mcp/': deepagentsBackend(view) }),
    disk: composite({ '/mcp/s/': disk }),
  };
}

const without = (infos, ...keys) =>
  infos
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
    .map((info) => Object.fromEntries(Object.entries(info).filter(([key]) => !keys.includes(key))));

test("the skills middleware finds the skills, for the agent's prompt too", async (t) => {
  const { backend } = await backends(t);
  const middleware = createSkillsMiddleware({ backend, sources: ['/mcp/s/', '/mcp/gone/', '/mcp/s/refunds/'] });
  const { skillsMetadata } = await middleware.beforeModel({});
  assert.deepEqual(
    skillsMetadata
      .map(({ name, description, path }) => ({ name, description, path }))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
    [
      { name: 'notes', description: 'About notes', path: '/mcp/s/notes/SKILL.md' },
      { name: 'refunds', description: 'About refunds', path: '/mcp/s/refunds/SKILL.md' },
    ],
  );
});

test('ls, read, readRaw, glob, grep and downloads answer as for the disk', async (t) => {
  const { backend, disk } = await backends(t);
  const both = async (ask) => [await ask(backend), await ask(disk)];
  for (const path of ['/mcp/s/', '/mcp/s/refunds', '/mcp/s/refunds/assets/']) {
    const [own, theirs] = await both((one) => one.ls(path));
    assert.deepEqual(without(own.files, 'modified_at'), without(theirs.files, 'modified_at'), path);
  }
  for (const page of [[], [0, 10], [10, 10], [35, 10], [39, 1], [0, 0], [100, 5]]) {
    const [own, theirs] = await both((one) => one.read('/mcp/s/refunds/references/long.txt', ...page));
    assert.equal(own.content, theirs.content, page.join());
    assert.equal(own.nextOffset, theirs.nextOffset, page.join());
    assert.deepEqual([own.startLine, own.endLine], [theirs.startLine, theirs.endLine], page.join());
    assert.equal(own.error === undefined, theirs.error === undefined, page.join());
  }
  for (const path of Object.keys(files)) {
    const [own, theirs] = await both((one) => one.read(`/mcp/s/${path}`));
    assert.deepEqual(
      { nextOffset: undefined, ...own, content: bytes(own.content) },
      { nextOffset: undefined, ...theirs, content: bytes(theirs.content) },
      path,
    );
    const [raw, theirRaw] = await both((one) => one.readRaw(`/mcp/s/${path}`));
    assert.deepEqual(bytes(raw.data.content), bytes(theirRaw.data.content));
    assert.equal(raw.data.mimeType, theirRaw.data.mimeType);
  }
  for (const pattern of ['**/*', '**/*.md', '*/SKILL.md', '/refunds/**', '**/{logo,table}.*', 'none']) {
    const [own, theirs] = await both((one) => one.glob(pattern, '/mcp/s/'));
    assert.deepEqual(own.files.map(({ path }) => path).sort(), theirs.files.map(({ path }) => path).sort(), pattern);
  }
  for (const [text, path, glob] of [
    ['days', '/mcp/s/'],
    ['About', '/mcp/s/', '*.md'],
    ['line 1', '/mcp/s/refunds', '**/*.txt'],
    ['line', '/mcp/s/refunds/references/long.txt'],
    ['t.*n', '/mcp/s/'],
    ['PNG', '/mcp/s/'],
  ]) {
    const [own, theirs] = await both((one) => one.grep(text, path, glob));
    const sorted = ({ matches }) => matches.map(({ path, line, text }) => `${path}:${line}:${text}`).sort();
    assert.deepEqual(sorted(own), sorted(theirs), text);
  }
  const [own, theirs] = await both((one) =>
    one.downloadFiles(['/mcp/s/refunds/assets/logo.png', '/mcp/s/none', '/mcp/s/refunds', '/mcp/s/notes/SKILL.md/x']),
  );
  assert.deepEqual(
    own.map(({ content, ...rest }) => [rest, bytes(content)]),
    theirs.map(({ content, ...rest }) => [rest, bytes(content)]),
  );
});

const bytes = (content) => (content === null || content === undefined ? content : Buffer.from(content));

test('searches can be bounded, and say when they are not complete', async (t) => {
  const { backend, view } = await backends(t);
  assert.deepEqual(await backend.grep('line', '/mcp/s/', null, 3), {
    matches: [1, 2, 3].map((line) => ({ path: '/mcp/s/refunds/references/long.txt', line, text: `line ${line}` })),
    truncated: true,
  });
  assert.equal((await backend.grep('line', '/mcp/s/', null, 40)).truncated, false);
  const everywhere = await deepagentsBackend(view).grep('About notes', '/');
  assert.deepEqual([everywhere.matches.length, everywhere.truncated], [1, true]);
  const found = await deepagentsBackend(view).glob('**/SKILL.md');
  assert.deepEqual(
    [found.files.map(({ path }) => path), found.truncated],
    [['/s/notes/SKILL.md', '/s/refunds/SKILL.md'], true],
  );
  assert.deepEqual(
    (await deepagentsBackend(view).ls('/')).files.map(({ path }) => path),
    ['/gone/', '/s/'],
  );
});

test('failures are told from absence', async (t) => {
  const { server, view } = await backends(t);
  const backend = deepagentsBackend(view);
  server.faults.tamper('notes/SKILL.md', () => skill('notes', 'Tampered!!!'));
  assert.match((await backend.grep('Tampered', '/s')).error, /^EIO: /);
  assert.match((await backend.read('/s/notes/SKILL.md')).error, /^EIO: .*\/mcp\/s\/notes\/SKILL\.md/);
  assert.match((await backend.readRaw('/s/none')).error, /^ENOENT: /);
  assert.match((await backend.ls('/s/notes/SKILL.md')).error, /not a directory/);
  assert.match((await backend.ls('/gone')).error, /^EHOSTUNREACH: /);
  assert.match((await backend.glob('**', '/gone')).error, /^EHOSTUNREACH: /);
  const codes = (await backend.downloadFiles(['/s/notes/SKILL.md', '/gone/other', '/s/none'])).map(
    ({ error }) => error,
  );
  assert.deepEqual(codes, ['permission_denied', 'permission_denied', 'file_not_found']);
});

test('writes are refused, through the composite too', async (t) => {
  const { backend } = await backends(t);
  for (const refused of [
    await backend.write('/mcp/s/x', 'x'),
    await backend.edit('/mcp/s/notes/SKILL.md', 'a', 'b'),
    await backend.delete('/mcp/s/notes'),
  ]) {
    assert.match(refused.error, /^EROFS: .*'\/mcp\/s\/.*read-only/);
  }
  const [upload] = await backend.uploadFiles([['/mcp/s/x', new Uint8Array()]]);
  assert.equal(upload.error, 'permission_denied');
});
