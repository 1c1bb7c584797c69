import fs, { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { createFsFromVolume, Volume } from 'memfs';
import { expect, test } from 'vitest';
import { assertFs } from '../../src/testing/index.ts';
import { flat } from '../../src/views/flat.ts';
import { union } from '../../src/views/union.ts';
import { rejection } from '../support/mounted.ts';
import { directory, serve, skillMd } from './views.ts';

const volume = (files: Record<string, string>) => createFsFromVolume(Volume.fromJSON(files)) as unknown as typeof fs;

test('local skills and those of servers are side by side, each with its origin', async () => {
  const local = directory({ 'greet/SKILL.md': skillMd('greet'), 'greet/a.md': 'a' });
  const memory = volume({ '/m/notes/SKILL.md': skillMd('notes') });
  const { mount } = await serve({ acme: { 'acme/refunds/SKILL.md': skillMd('refunds') } });
  const view = union([{ path: local }, { path: '/m', fs: memory }, flat(mount)]);
  expect(await view.promises.readdir('/skills')).toEqual(['greet', 'notes', 'refunds']);
  for (const name of ['greet', 'notes', 'refunds']) {
    expect(await view.promises.readFile(`/skills/${name}/SKILL.md`, 'utf8')).toBe(skillMd(name));
    expect(view.fs.readFileSync(`/skills/${name}/SKILL.md`, 'utf8')).toBe(skillMd(name));
  }
  expect(view.originOf('/skills/greet/a.md')).toEqual({ local: join(local, 'greet/a.md') });
  expect(view.originOf('/skills/notes')).toEqual({ local: '/m/notes' });
  expect(view.originOf('/skills/refunds/SKILL.md')).toMatchObject({ label: 'acme' });
  expect(view.originOf('/skills/none')).toBeUndefined();
  expect(view.skills().map(({ name, path, label }) => [name, path, label])).toEqual([
    ['greet', '/skills/greet', undefined],
    ['notes', '/skills/notes', undefined],
    ['refunds', '/skills/refunds', 'acme'],
  ]);
});

test('a union of a directory, a memfs volume and three servers behaves as a file system', async () => {
  const local = directory({ 'greet/SKILL.md': skillMd('greet'), 'acme/own/SKILL.md': skillMd('own'), 'x.md': 'x' });
  const memory = volume({ '/m/acme/mem/SKILL.md': skillMd('mem'), '/m/acme/mem/deep/er/f.bin': '\u0000\u0001' });
  const { mount } = await serve({
    a: { 'acme/billing/refunds/SKILL.md': skillMd('refunds'), 'acme/billing/refunds/s/run.py': 'print()' },
    b: { 'acme/billing/invoices/SKILL.md': skillMd('invoices') },
    c: { 'refunds/SKILL.md': skillMd('refunds', 'other') },
  });
  for (const servers of [flat(mount), mount]) {
    const view = union([{ path: local, writable: false }, { path: '/m', fs: memory, writable: false }, servers], {
      mountPoint: '/u',
    });
    await mount.preload();
    await assertFs(view.fs, '/u', {
      expected: {
        'greet/SKILL.md': skillMd('greet'),
        'acme/own/SKILL.md': skillMd('own'),
        'acme/mem/SKILL.md': skillMd('mem'),
      },
    });
  }
});

test('directories merge, but one with a SKILL.md is opaque and belongs to the uppermost layer that has one', async () => {
  const upper = volume({ '/l/acme/SKILL.md': skillMd('acme'), '/l/both/one.md': '1', '/l/half/notes.md': 'mine' });
  const lower = volume({ '/l/acme/extra.md': 'never mixed in', '/l/both/two.md': '2' });
  const { mount } = await serve({
    acme: { 'x/SKILL.md': skillMd('x') },
    half: { 'half/SKILL.md': skillMd('half'), 'half/more.md': 'more' },
  });
  const view = union([{ path: '/l', fs: upper }, { path: '/l', fs: lower }, mount]);
  const messages: string[] = [];
  view.on('diagnostic', ({ message }) => messages.push(message));
  expect(await view.promises.readdir('/skills/both')).toEqual(['one.md', 'two.md']);
  expect(await view.promises.readdir('/skills/acme')).toEqual(['SKILL.md']);
  expect((await rejection(view.promises.stat('/skills/acme/extra.md'))).code).toBe('ENOENT');
  expect((await rejection(view.promises.stat('/skills/acme/x/SKILL.md'))).code).toBe('ENOENT');
  // "half" is a server's label; the directory of that name is only a directory, so that both are shown in it.
  expect(await view.promises.readdir('/skills/half')).toEqual(['half', 'notes.md']);
  expect(view.collisions()).toEqual([
    {
      name: '/skills/acme',
      kept: { origin: { local: '/l/acme' }, path: '/skills/acme' },
      others: [{ origin: { local: '/l/acme' } }, { origin: expect.objectContaining({ label: 'acme' }) }],
    },
  ]);
  expect(messages).toEqual([
    expect.stringContaining('/skills/acme is local (/l/acme); hidden there: local (/l/acme), of server "acme"'),
  ]);
});

test('SEC-5: a local skill keeps its name, whatever its case, and the server’s one is beside it', async () => {
  const local = directory({ 'refunds/SKILL.md': skillMd('refunds', 'mine'), 'Invoices/SKILL.md': skillMd('Invoices') });
  const { mount } = await serve({
    acme: { 'refunds/SKILL.md': skillMd('refunds', 'theirs'), 'a/invoices/SKILL.md': skillMd('invoices') },
  });
  const names = ['Invoices', 'invoices--acme--a', 'refunds', 'refunds--acme'];
  for (const first of ['list', 'look', 'look aside'] as const) {
    const view = union([{ path: local }, flat(mount)]);
    if (first === 'look') expect((await rejection(view.promises.stat('/skills/invoices'))).code).toBe('ENOENT');
    if (first === 'look aside') {
      expect(await view.promises.readFile('/skills/refunds--acme/SKILL.md', 'utf8')).toContain('theirs');
    }
    expect(await view.promises.readdir('/skills')).toEqual(names);
    expect(await view.promises.readFile('/skills/refunds/SKILL.md', 'utf8')).toContain('mine');
    expect(await view.promises.readFile('/skills/refunds--acme/SKILL.md', 'utf8')).toContain('theirs');
    expect(view.collisions().map(({ name, kept }) => [name, kept?.origin])).toEqual([
      ['Invoices', { local: join(local, 'Invoices') }],
      ['refunds', { local: join(local, 'refunds') }],
    ]);
  }
});

test('a local skill that comes later takes its name back, and keeps it', async () => {
  const local = directory({});
  const { mount } = await serve({ acme: { 'refunds/SKILL.md': skillMd('refunds', 'theirs') } });
  const view = union([{ path: local }, flat(mount)]);
  expect(await view.promises.readFile('/skills/refunds/SKILL.md', 'utf8')).toContain('theirs');
  mkdirSync(join(local, 'refunds'));
  writeFileSync(join(local, 'refunds/SKILL.md'), skillMd('refunds', 'mine'));
  expect(await view.promises.readFile('/skills/refunds/SKILL.md', 'utf8')).toContain('mine');
  expect(await view.promises.readdir('/skills')).toEqual(['refunds', 'refunds--acme']);
});

test.each(['', 'acme/'])(
  'what unionfs gets wrong: an error above never lets a file from below be served (%s)',
  async (way) => {
    const files = { [`${way}refunds/SKILL.md`]: skillMd('refunds', 'upper') };
    const upper = await serve({ s: files });
    const lower = await serve({ s: { [`${way}refunds/SKILL.md`]: skillMd('refunds', 'lower') } });
    await upper.mount.ready();
    upper.servers['s']?.faults.tamper(`skill://${way}refunds/SKILL.md`, () => 'tampered');
    const path = `/skills/s/${way}refunds/SKILL.md`;
    const strict = union([upper.mount, lower.mount], { onServerError: 'throw' });
    expect((await rejection(strict.promises.readFile(path))).code).toBe('EIO');
    const view = union([upper.mount, lower.mount]);
    const error = await rejection(view.promises.readFile(path, 'utf8'));
    expect(error.code).toBe('ENOENT');
    expect(error.cause).toMatchObject({ code: 'EIO' });
    // Nor when it is known to be bad.
    expect((await rejection(view.promises.readFile(path, 'utf8'))).code).toBe('ENOENT');
    expect(view.fs.existsSync(path)).toBe(false);
  },
);

test('what unionfs gets wrong: codes, recursive listings, throwIfNoEntry, streams, opendir, unlink', async () => {
  const local = directory({ 'a/SKILL.md': skillMd('a'), 'f.md': 'file' });
  const { mount } = await serve({
    s: Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`n${n}/SKILL.md`, skillMd(`n${n}`)])),
  });
  const view = union([{ path: local }, flat(mount)]);
  await mount.preload();
  const { fs } = view;
  expect(() => fs.readdirSync('/skills/f.md')).toThrow(expect.objectContaining({ code: 'ENOTDIR' }));
  expect(() => fs.readFileSync('/skills/n1')).toThrow(expect.objectContaining({ code: 'EISDIR' }));
  expect(() => fs.statSync('/skills/f.md/x')).toThrow(expect.objectContaining({ code: 'ENOTDIR' }));
  expect(() => fs.readlinkSync('/skills/n1')).toThrow(expect.objectContaining({ code: 'EINVAL' }));
  const found = fs.readdirSync('/skills', { recursive: true, withFileTypes: true });
  expect(found.filter(({ name }) => name === 'SKILL.md')).toHaveLength(41);
  expect(fs.statSync('/skills/n7', { throwIfNoEntry: false })?.isDirectory()).toBe(true);
  expect(fs.statSync('/skills/none', { throwIfNoEntry: false })).toBeUndefined();
  expect(await text(fs.createReadStream('/skills/n7/SKILL.md', { start: 4, end: 11, encoding: 'utf8' }))).toBe(
    'name: n7',
  );
  const dir = await view.promises.opendir('/skills');
  const names: string[] = [];
  for await (const entry of dir) names.push(entry.name);
  expect(names).toHaveLength(42);
  expect((await rejection(view.promises.unlink('/skills/n7/SKILL.md'))).code).toBe('EROFS');
  expect(fs.readFileSync('/skills/n7/SKILL.md', 'utf8')).toBe(skillMd('n7'));
});

test('what is written goes to the local layer; what servers publish stays as it is', async () => {
  const local = join(directory({}), 'not/yet/there');
  const { mount } = await serve({ acme: { 'refunds/SKILL.md': skillMd('refunds'), 'refunds/s/run.py': 'print()' } });
  const view = union([{ path: local }, flat(mount)]);
  const { promises } = view;
  expect(existsSync(local)).toBe(false);
  await promises.mkdir('/skills/own');
  await promises.writeFile('/skills/own/SKILL.md', skillMd('own'));
  view.fs.appendFileSync('/skills/own/SKILL.md', 'more');
  expect(readFileSync(join(local, 'own/SKILL.md'), 'utf8')).toBe(`${skillMd('own')}more`);
  expect(await promises.readFile('/skills/own/SKILL.md', 'utf8')).toBe(`${skillMd('own')}more`);
  expect(await promises.readdir('/skills')).toEqual(['own', 'refunds']);
  expect(await promises.mkdir('/skills/deep/er', { recursive: true })).toBe('/skills/deep');
  await promises.rename('/skills/own/SKILL.md', '/skills/deep/SKILL.md');
  const handle = await promises.open('/skills/deep/new.md', 'w');
  await handle.writeFile('by handle');
  await handle.close();
  await promises.cp('/skills/refunds', '/skills/deep/copy', { recursive: true });
  expect(readFileSync(join(local, 'deep/copy/s/run.py'), 'utf8')).toBe('print()');
  expect(await promises.mkdtemp('/skills/deep/tmp-')).toMatch(/^\/skills\/deep\/tmp-.{6}$/);
  await promises.rm('/skills/own', { recursive: true });
  expect(fs.readdirSync(local)).toEqual(['deep']);
  const attempts = {
    write: () => promises.writeFile('/skills/refunds/SKILL.md', 'x'),
    add: () => promises.writeFile('/skills/refunds/new.md', 'x'),
    below: () => promises.mkdir('/skills/refunds/s/deep', { recursive: true }),
    remove: () => promises.rm('/skills/refunds', { recursive: true }),
    open: () => promises.open('/skills/refunds/SKILL.md', 'r+'),
    'move away': () => promises.rename('/skills/refunds/SKILL.md', '/skills/deep/x.md'),
    'move over': () => promises.rename('/skills/deep/new.md', '/skills/refunds/SKILL.md'),
  };
  for (const [what, attempt] of Object.entries(attempts)) {
    expect([what, (await rejection(attempt() as Promise<unknown>)).code]).toEqual([what, 'EROFS']);
  }
  expect(() => view.fs.writeFileSync('/skills/refunds/new.md', 'x')).toThrow(
    expect.objectContaining({ code: 'EROFS' }),
  );
  const missing = await rejection(promises.writeFile('/skills/none/x.md', 'x'));
  expect(missing).toMatchObject({ code: 'ENOENT', path: '/skills/none/x.md', syscall: 'open' });
  await expect(promises.access('/skills/deep', fs.constants.W_OK)).resolves.toBeUndefined();
  expect((await rejection(promises.access('/skills/refunds', fs.constants.W_OK))).code).toBe('EROFS');
});

test('a layer that is not writable is never written, and a lower one only where the directory is its own', async () => {
  const [first, second] = [volume({ '/l/a/x.md': 'x' }), volume({ '/l/b/y.md': 'y' })];
  const view = union([
    { path: '/l', fs: first, writable: false },
    { path: '/l', fs: second },
  ]);
  await view.promises.writeFile('/skills/b/new.md', 'new');
  expect(second.readFileSync('/l/b/new.md', 'utf8')).toBe('new');
  expect((await rejection(view.promises.writeFile('/skills/a/x.md', 'changed'))).code).toBe('EROFS');
  expect(first.readFileSync('/l/a/x.md', 'utf8')).toBe('x');
  expect(() => view.fs.openSync('/skills/b/y.md', 'w')).toThrow('only functions that take a path can change it');
});

test('symbolic links of local layers are followed, contained, and never lead round in circles', async () => {
  const elsewhere = directory({ 'installed/SKILL.md': skillMd('installed'), 'secret.txt': 'secret' });
  const local = directory({ 'own/SKILL.md': skillMd('own'), 'own/a/b.md': 'b', 'shared/s.md': 's' });
  symlinkSync(join(elsewhere, 'installed'), join(local, 'installed'));
  symlinkSync(join(elsewhere, 'secret.txt'), join(local, 'own/leak.txt'));
  symlinkSync('..', join(local, 'own/a/up'));
  symlinkSync('loop', join(local, 'own/loop'));
  symlinkSync('nowhere', join(local, 'own/dangling'));
  symlinkSync('a', join(local, 'own/alias'));
  symlinkSync('../shared', join(local, 'own/shared'));
  const view = union([{ path: local }]);
  const { promises } = view;
  expect(await promises.readFile('/skills/installed/SKILL.md', 'utf8')).toBe(skillMd('installed'));
  expect((await promises.lstat('/skills/installed')).isDirectory()).toBe(true);
  expect(await promises.readdir('/skills/own')).toEqual(['SKILL.md', 'a', 'alias', 'shared']);
  expect(await promises.readdir('/skills', { recursive: true })).toHaveLength(12);
  expect(await promises.readFile('/skills/own/alias/b.md', 'utf8')).toBe('b');
  expect((await rejection(promises.readFile('/skills/own/leak.txt'))).code).toBe('EACCES');
  expect((await rejection(promises.readdir('/skills/own/a/up'))).code).toBe('ELOOP');
  expect((await rejection(promises.stat('/skills/own/loop'))).code).toBe('ELOOP');
  expect((await rejection(promises.stat('/skills/own/dangling'))).code).toBe('ENOENT');
});

test('another spelling of SKILL.md is taken locally, with a warning; the exact one comes first', async () => {
  const local = directory({ 'a/skill.md': skillMd('a'), 'b/SKILL.md': skillMd('b'), 'b/skill.md': 'other' });
  const view = union([{ path: local }]);
  const messages: string[] = [];
  view.on('diagnostic', ({ message }) => messages.push(message));
  expect(await view.promises.readFile('/skills/a/SKILL.md', 'utf8')).toBe(skillMd('a'));
  expect(await view.promises.readdir('/skills/a')).toEqual(['SKILL.md']);
  expect(await view.promises.readFile('/skills/b/SKILL.md', 'utf8')).toBe(skillMd('b'));
  expect(await view.promises.readdir('/skills/b')).toEqual(['SKILL.md', 'skill.md']);
  expect(messages).toEqual([
    `${join(local, 'a/skill.md')} is used as SKILL.md; other loaders may not find it under this name`,
  ]);
});

test('stats of local files are the disk’s, with inodes of the union’s own', async () => {
  const local = directory({ 'a/run.sh': '#!/bin/sh\n' });
  fs.chmodSync(join(local, 'a/run.sh'), 0o750);
  const view = union([{ path: local }]);
  const [own, disk] = [view.fs.statSync('/skills/a/run.sh'), fs.statSync(join(local, 'a/run.sh'))];
  expect([own.mode, own.uid, own.gid, own.mtimeMs, own.ctimeMs, own.size]).toEqual([
    disk.mode,
    disk.uid,
    disk.gid,
    disk.mtimeMs,
    disk.ctimeMs,
    disk.size,
  ]);
  expect(view.fs.statSync('/skills/a/run.sh', { bigint: true }).mtimeNs / 1000n).toBe(
    fs.statSync(join(local, 'a/run.sh'), { bigint: true }).mtimeNs / 1000n,
  );
  expect(view.fs.statSync('/skills/a/run.sh').ino).toBe(own.ino);
});

test('layers that cannot be used are named', async () => {
  const { mount } = await serve({ s: {} });
  expect(() => union([])).toThrow('a union needs at least one');
  expect(() => union([mount, { path: '/x' }])).toThrow('local skills win, so put it before them');
  expect(() => union([{} as never])).toThrow('layers[0]: expected what mount(), flat() or union() returned');
  expect(() => union([{ path: '' }])).toThrow('layers[0].path');
  expect(() => union([{ path: '/x', fs: {} as never }])).toThrow('layers[0].fs: has no statSync');
  expect(() => union([mount], { mountPoint: '/a/../b' })).toThrow('mountPoint');
});

test('a union is a layer of another one', async () => {
  const { mount } = await serve({ s: { 'refunds/SKILL.md': skillMd('refunds') } });
  const inner = union([{ path: '/l', fs: volume({ '/l/a/SKILL.md': skillMd('a') }) }, flat(mount)]);
  const outer = union([{ path: '/l', fs: volume({ '/l/b/SKILL.md': skillMd('b') }) }, inner], { mountPoint: '/o' });
  expect(await outer.promises.readdir('/o')).toEqual(['a', 'b', 'refunds']);
  expect(await outer.promises.readFile('/o/refunds/SKILL.md', 'utf8')).toBe(skillMd('refunds'));
});

test('a local directory that is not there yet hides nothing of what is below it', async () => {
  const local = join(directory({}), 'later');
  const { mount } = await serve({ acme: { 'acme/refunds/SKILL.md': skillMd('refunds') } });
  const view = union([{ path: local }, flat(mount)]);
  expect((await view.promises.stat('/skills')).isDirectory()).toBe(true);
  expect(view.fs.existsSync('/skills')).toBe(true);
  expect(await view.promises.readdir('/skills')).toEqual(['refunds']);
  const empty = union([{ path: local }]);
  expect((await empty.promises.stat('/skills')).isDirectory()).toBe(true);
  expect(await empty.promises.readdir('/skills')).toEqual([]);
});

test('a SKILL.md inside a local skill is a file of it, and no skill', async () => {
  const local = directory({ 'outer/SKILL.md': skillMd('outer'), 'outer/examples/inner/SKILL.md': skillMd('inner') });
  const view = union([{ path: local }]);
  expect(await view.promises.readFile('/skills/outer/examples/inner/SKILL.md', 'utf8')).toBe(skillMd('inner'));
  expect(view.skills().map(({ name }) => name)).toEqual(['outer']);
});

test('a layer that fails is no layer that has nothing: the ones below it are not asked instead', async () => {
  const local = directory({ 'a/SKILL.md': skillMd('a'), 'a/b.md/c': 'c' });
  symlinkSync('loop', join(local, 'a/loop'));
  const below = directory({ 'a/SKILL.md': skillMd('a'), 'a/loop': 'below', 'a/b.md': 'below' });
  const { promises } = union([{ path: local }, { path: below }]);
  expect((await rejection(promises.readFile('/skills/a/loop'))).code).toBe('ELOOP');
  expect((await rejection(promises.readFile('/skills/a/b.md'))).code).toBe('EISDIR');
});
