import { expect, test } from 'vitest';
import { flat } from '../../src/views/flat.ts';
import { rejection } from '../support/mounted.ts';
import { serve, skillMd } from './views.ts';

test('every skill of every server is a directory of its own name, nested ones too', async () => {
  const { mount } = await serve({
    acme: {
      'acme/billing/refunds/SKILL.md': skillMd('refunds'),
      'acme/billing/refunds/scripts/run.py': 'print()',
      'acme/billing/refunds/partial/SKILL.md': skillMd('partial'),
    },
    docs: { 'howto/SKILL.md': skillMd('howto') },
  });
  const view = flat(mount);
  expect(await view.promises.readdir('/skills')).toEqual(['howto', 'partial', 'refunds']);
  expect(await view.promises.readdir('/skills/refunds')).toEqual(['SKILL.md', 'partial', 'scripts']);
  expect(await view.promises.readFile('/skills/refunds/scripts/run.py', 'utf8')).toBe('print()');
  expect(await view.promises.readFile('/skills/partial/SKILL.md', 'utf8')).toBe(skillMd('partial'));
  const stats = await view.promises.lstat('/skills/refunds');
  expect(stats.isDirectory()).toBe(true);
  expect(stats.isSymbolicLink()).toBe(false);
  expect(await view.promises.realpath('/skills/refunds/SKILL.md')).toBe('/skills/refunds/SKILL.md');
  expect(view.skills().map(({ name, path }) => [name, path])).toEqual([
    ['refunds', '/skills/refunds'],
    ['partial', '/skills/partial'],
    ['howto', '/skills/howto'],
  ]);
  expect(view.originOf('/skills/refunds/scripts/run.py')).toMatchObject({
    label: 'acme',
    uri: 'skill://acme/billing/refunds/scripts/run.py',
    skill: 'skill://acme/billing/refunds/SKILL.md',
  });
  expect(view.collisions()).toEqual([]);
});

test('SEC-2: a note in each directory says where its skill is from, if that is asked for', async () => {
  const { mount } = await serve({
    acme: {
      'team/tool/SKILL.md': skillMd('tool'),
      'team/tool/ORIGIN': 'server: trusted',
      'team/tool/sub/ORIGIN': 'own',
    },
  });
  const view = flat(mount, { originNotes: true });
  expect(await view.promises.readdir('/skills/tool')).toEqual(['ORIGIN', 'SKILL.md', 'sub']);
  const note = await view.promises.readFile('/skills/tool/ORIGIN', 'utf8');
  expect(note).toMatch(
    /^server: acme\nuri: skill:\/\/team\/tool\/SKILL\.md\ncontent: verified\ndigest: sha256:[0-9a-f]{64}\n$/,
  );
  const stats = await view.promises.stat('/skills/tool/ORIGIN');
  expect({ file: stats.isFile(), size: stats.size }).toEqual({ file: true, size: note.length });
  expect(stats.ino).not.toBe((await view.promises.stat('/skills/tool')).ino);
  await expect(view.promises.readdir('/skills/tool/ORIGIN')).rejects.toMatchObject({ code: 'ENOTDIR' });
  expect(await view.promises.readFile('/skills/tool/sub/ORIGIN', 'utf8')).toBe('own');
  expect(view.originOf('/skills/tool/ORIGIN')).toEqual(view.originOf('/skills/tool'));
  expect(await flat(mount).promises.readFile('/skills/tool/ORIGIN', 'utf8')).toBe('server: trusted');
});

test('SEC-5, MAP-7: of one name, the first configured server keeps it, and the other is beside it and reported', async () => {
  const { mount } = await serve({
    first: { 'refunds/SKILL.md': skillMd('refunds', 'of the first') },
    second: { 'acme/refunds/SKILL.md': skillMd('refunds', 'of the second') },
  });
  const view = flat(mount);
  const diagnostics: string[] = [];
  view.on('diagnostic', ({ code, message }) => diagnostics.push(`${code}: ${message}`));
  expect(await view.promises.readdir('/skills')).toEqual(['refunds', 'refunds--second--acme']);
  expect(await view.promises.readFile('/skills/refunds/SKILL.md', 'utf8')).toContain('of the first');
  expect(await view.promises.readFile('/skills/refunds--second--acme/SKILL.md', 'utf8')).toContain('of the second');
  expect(view.collisions()).toEqual([
    {
      name: 'refunds',
      kept: {
        origin: { label: 'first', uri: 'skill://refunds/SKILL.md', skill: 'skill://refunds/SKILL.md' },
        path: '/skills/refunds',
      },
      others: [
        {
          origin: { label: 'second', uri: 'skill://acme/refunds/SKILL.md', skill: 'skill://acme/refunds/SKILL.md' },
          path: '/skills/refunds--second--acme',
        },
      ],
    },
  ]);
  expect(diagnostics).toEqual([
    'collision: the name "refunds" belongs to skill://refunds/SKILL.md of server "first"; ' +
      'skill://acme/refunds/SKILL.md of server "second" is in the directory "refunds--second--acme"',
  ]);
});

test('collisions: "hide" leaves the others out, and reports them all the same', async () => {
  const { mount } = await serve({
    first: { 'refunds/SKILL.md': skillMd('refunds') },
    second: { 'refunds/SKILL.md': skillMd('refunds') },
  });
  const view = flat(mount, { collisions: 'hide', mountPoint: '/flat' });
  expect(await view.promises.readdir('/flat')).toEqual(['refunds']);
  expect(view.collisions()[0]?.others).toEqual([{ origin: expect.objectContaining({ label: 'second' }) }]);
});

test('two skills of one server with one name: the first by path keeps it', async () => {
  const { mount } = await serve({
    s: {
      'b/refunds/SKILL.md': skillMd('refunds', 'of b'),
      'a/refunds/SKILL.md': skillMd('refunds', 'of a'),
      'a/refunds/refunds/SKILL.md': skillMd('refunds', 'nested'),
    },
  });
  const view = flat(mount);
  expect(await view.promises.readdir('/skills')).toEqual(['refunds', 'refunds--s--a--refunds', 'refunds--s--b']);
  expect(await view.promises.readFile('/skills/refunds/SKILL.md', 'utf8')).toContain('of a');
  expect(await view.promises.readFile('/skills/refunds--s--a--refunds/SKILL.md', 'utf8')).toContain('nested');
});

test('a name never depends on which server answered first', async () => {
  const { mount, servers } = await serve({
    slow: { 'refunds/SKILL.md': skillMd('refunds', 'of the slow one') },
    fast: { 'refunds/SKILL.md': skillMd('refunds', 'of the fast one') },
  });
  servers['slow']?.faults.delay(150);
  const view = flat(mount);
  // The fast server's listing is here long before.
  expect(await view.promises.readFile('/skills/refunds/SKILL.md', 'utf8')).toContain('of the slow one');
});

test('a plain name never passes to another origin while mounted', async () => {
  const { mount, servers } = await serve({
    first: { 'refunds/SKILL.md': skillMd('refunds', 'of the first'), 'stays/SKILL.md': skillMd('stays') },
    second: { 'refunds/SKILL.md': skillMd('refunds', 'of the second') },
  });
  const view = flat(mount);
  expect(await view.promises.readdir('/skills')).toEqual(['refunds', 'refunds--second', 'stays']);
  await servers['first']?.update({ 'stays/SKILL.md': skillMd('stays') });
  await mount.refresh();
  expect(await view.promises.readdir('/skills')).toEqual(['refunds--second', 'stays']);
  expect((await rejection(view.promises.readFile('/skills/refunds/SKILL.md'))).code).toBe('ENOENT');
  await servers['first']?.update({
    'stays/SKILL.md': skillMd('stays'),
    'refunds/SKILL.md': skillMd('refunds', 'again'),
  });
  await mount.refresh();
  expect(await view.promises.readFile('/skills/refunds/SKILL.md', 'utf8')).toContain('again');
});

test('looking around in a flat view costs no request, and a file is fetched once (LAZY-1)', async () => {
  const { mount, servers } = await serve({ s: { 'a/b/SKILL.md': skillMd('b'), 'a/b/x/y.md': 'y' } });
  const view = flat(mount);
  await mount.ready();
  const { requests } = servers['s'] as { requests: unknown[] };
  requests.length = 0;
  expect(view.fs.readdirSync('/skills', { recursive: true })).toEqual(['b', 'b/SKILL.md', 'b/x', 'b/x/y.md']);
  expect(view.fs.statSync('/skills/b/x/y.md').size).toBe(1);
  expect(view.fs.existsSync('/skills/b/none.md')).toBe(false);
  expect(view.fs.existsSync('/skills/none')).toBe(false);
  expect(requests).toEqual([]);
  await view.promises.readFile('/skills/b/x/y.md');
  await view.promises.readFile('/skills/b/x/y.md');
  expect(requests).toHaveLength(1);
});

test('watch tells of what a refresh changed, by the paths of the view', async () => {
  const { mount, servers } = await serve({ s: { 'a/b/SKILL.md': skillMd('b') } });
  const view = flat(mount);
  await mount.ready();
  const seen: string[] = [];
  const watcher = view.fs.watch('/skills', { recursive: true }, (_, name) => seen.push(String(name)));
  await servers['s']?.update({ 'a/b/SKILL.md': skillMd('b', 'Other') });
  await mount.refresh();
  await expect.poll(() => seen).toContain('b/SKILL.md');
  watcher.close();
});

test('options that cannot be used are named', async () => {
  const { mount } = await serve({ s: {} });
  expect(() => flat(mount, { mountPoint: 'skills' })).toThrow('mountPoint: expected an absolute');
  expect(() => flat(mount, { collisions: 'drop' as 'hide' })).toThrow('collisions: expected');
  expect(() => flat({} as never)).toThrow('expected what mount() returned');
});

test('SEC-5: names that are reserved for skills elsewhere are no server’s, and that is reported', async () => {
  const { mount } = await serve({ acme: { 'a/refunds/SKILL.md': skillMd('refunds'), 'b/SKILL.md': skillMd('b') } });
  const view = flat(mount, { reserved: ['Refunds', 'x'], collisions: 'hide' });
  expect(await view.promises.readdir('/skills')).toEqual(['b']);
  expect(view.collisions()).toMatchObject([{ name: 'Refunds', others: [{ origin: { label: 'acme' } }] }]);
  expect(await flat(mount, { reserved: ['refunds'] }).promises.readdir('/skills')).toEqual(['b', 'refunds--acme--a']);
});
