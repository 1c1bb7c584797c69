import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkExport } from '../../src/export/check.ts';
import { exportTree } from '../../src/export/export-tree.ts';
import { contentsOf, served, skillMd, temporaryDirectory } from './support.ts';

const sha256 = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;
const lockOf = (dir: string) => JSON.parse(readFileSync(join(dir, 'skillfs.lock.json'), 'utf8'));

const REFUNDS = { 'acme/refunds/SKILL.md': skillMd('refunds'), 'acme/refunds/references/policy.md': 'policy' };

test('MAP-5, SEC-1: a copy is by label and skill path, read-only, without exec bits', async () => {
  const { mount } = await served({ shop: { ...REFUNDS, 'acme/refunds/run.sh': '#!/bin/sh' }, desk: REFUNDS });
  const dir = join(temporaryDirectory(), 'deep/copy');
  const report = await exportTree(mount, dir);
  expect(report).toMatchObject({ unchanged: 0, removed: [], kept: [], failures: [] });
  expect(contentsOf(dir)).toEqual({
    'shop/acme/refunds/SKILL.md': skillMd('refunds'),
    'shop/acme/refunds/references/policy.md': 'policy',
    'shop/acme/refunds/run.sh': '#!/bin/sh',
    'desk/acme/refunds/SKILL.md': skillMd('refunds'),
    'desk/acme/refunds/references/policy.md': 'policy',
  });
  expect([...report.written].sort()).toEqual(Object.keys(contentsOf(dir)).sort());
  for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
    const { mode } = lstatSync(join(entry.parentPath, entry.name));
    if (entry.isDirectory()) expect(mode & 0o022).toBe(0);
    else if (entry.name !== 'skillfs.lock.json') expect(mode & 0o777).toBe(0o444);
  }
  expect(readdirSync(dir).sort()).toEqual(['desk', 'shop', 'skillfs.lock.json']);
});

test('CACHE-2, SEC-2: the lock tells where every file is from, and what was written', async () => {
  const { mount } = await served({ shop: REFUNDS });
  const dir = temporaryDirectory();
  await exportTree(mount, dir);
  const file = (path: string, text: string) => ({
    path: `shop/acme/refunds/${path}`,
    uri: `skill://acme/refunds/${path}`,
    size: text.length,
    manifest: sha256(text),
    written: sha256(text),
  });
  expect(lockOf(dir)).toEqual({
    format: 1,
    layout: 'tree',
    skills: [
      {
        label: 'shop',
        uri: 'skill://acme/refunds/SKILL.md',
        content: 'verified',
        files: [file('SKILL.md', skillMd('refunds')), file('references/policy.md', 'policy')],
      },
    ],
  });
});

test('a further copy writes what changed, removes what is gone, and asks for nothing else but SKILL.md', async () => {
  const { mount, servers, update } = await served({
    shop: { ...REFUNDS, 'acme/refunds/old/only.md': 'old', 'gone/SKILL.md': skillMd('gone') },
  });
  const dir = temporaryDirectory();
  await exportTree(mount, dir);
  const inode = statSync(join(dir, 'shop/acme/refunds/references/policy.md')).ino;
  await update('shop', {
    ...REFUNDS,
    'acme/refunds/SKILL.md': skillMd('refunds', 'other'),
    'acme/refunds/new.md': 'new',
  });
  servers['shop']?.requests.splice(0);
  const report = await exportTree(mount, dir);
  expect({ ...report, written: [...report.written].sort(), removed: [...report.removed].sort() }).toEqual({
    dir,
    written: ['shop/acme/refunds/SKILL.md', 'shop/acme/refunds/new.md'],
    unchanged: 1,
    removed: ['shop/acme/refunds/old/only.md', 'shop/gone/SKILL.md'],
    kept: [],
    failures: [],
  });
  expect(statSync(join(dir, 'shop/acme/refunds/references/policy.md')).ino).toBe(inode);
  const read = servers['shop']?.requests.filter(({ method }) => method === 'resources/read') ?? [];
  expect(read.map(({ uri }) => uri).sort()).toEqual(['skill://acme/refunds/SKILL.md', 'skill://acme/refunds/new.md']);
  expect(existsSync(join(dir, 'shop/gone'))).toBe(false);
  expect(existsSync(join(dir, 'shop/acme/refunds/old'))).toBe(false);
  expect(checkExport(dir)).toMatchObject({ changed: [], missing: [], extra: [], intact: 3 });
});

test('a file becomes a directory, and a directory a file', async () => {
  const { mount, update } = await served({ s: { 'x/SKILL.md': skillMd('x'), 'x/a': 'file', 'x/b/c': 'below' } });
  const dir = temporaryDirectory();
  await exportTree(mount, dir);
  await update('s', { 'x/SKILL.md': skillMd('x'), 'x/a/d': 'below', 'x/b': 'file' });
  expect(await exportTree(mount, dir)).toMatchObject({ kept: [], failures: [] });
  expect(contentsOf(dir)).toEqual({ 's/x/SKILL.md': skillMd('x'), 's/x/a/d': 'below', 's/x/b': 'file' });
});

test('what is the user’s stays: files that were changed, that were there before, and that are beside', async () => {
  const files = { 'x/SKILL.md': skillMd('x'), 'x/a.md': 'a', 'x/b.md': 'b', 'x/gone.md': 'gone' };
  const { mount, update } = await served({ s: files });
  const dir = temporaryDirectory();
  mkdirSync(join(dir, 's/x'), { recursive: true });
  writeFileSync(join(dir, 's/x/b.md'), 'mine');
  writeFileSync(join(dir, 's/x/beside.md'), 'mine');
  const first = await exportTree(mount, dir);
  expect(first.kept).toEqual([{ path: 's/x/b.md', reason: 'it was there before' }]);
  for (const name of ['a.md', 'gone.md']) {
    chmodSync(join(dir, 's/x', name), 0o644);
    writeFileSync(join(dir, 's/x', name), 'mine');
  }
  const { 'x/gone.md': _, ...left } = files;
  await update('s', { ...left, 'x/a.md': 'another' });
  const second = await exportTree(mount, dir);
  expect(second.kept.map(({ path }) => path).sort()).toEqual(['s/x/a.md', 's/x/b.md', 's/x/gone.md']);
  expect(contentsOf(dir)).toEqual({
    's/x/SKILL.md': skillMd('x'),
    ...{ 's/x/a.md': 'mine', 's/x/b.md': 'mine', 's/x/beside.md': 'mine', 's/x/gone.md': 'mine' },
  });
  expect(checkExport(dir)).toMatchObject({
    changed: ['s/x/a.md'],
    extra: ['s/x/b.md', 's/x/beside.md', 's/x/gone.md'],
  });
});

test('files of ours that are missing, or that may be executed, are as they should be again', async () => {
  const { mount } = await served({ s: { 'x/SKILL.md': skillMd('x'), 'x/a.sh': 'a', 'x/b.md': 'b' } });
  const dir = temporaryDirectory();
  await exportTree(mount, dir);
  rmSync(join(dir, 's/x/b.md'));
  chmodSync(join(dir, 's/x/a.sh'), 0o755);
  expect(checkExport(dir)).toMatchObject({ missing: ['s/x/b.md'] });
  expect(await exportTree(mount, dir)).toMatchObject({ written: ['s/x/b.md'], unchanged: 2 });
  expect(statSync(join(dir, 's/x/a.sh')).mode & 0o777).toBe(0o444);
});

test('VER-2: a skill with content that is not what its manifest says is not copied; others are, and earlier copies stay', async () => {
  const files = { ...REFUNDS, 'other/SKILL.md': skillMd('other') };
  const { mount, servers, update } = await served({ shop: files });
  const dir = temporaryDirectory();
  await exportTree(mount, dir);
  await update('shop', {
    ...files,
    'acme/refunds/references/policy.md': 'new policy',
    'other/SKILL.md': skillMd('other', 'x'),
  });
  servers['shop']?.faults.tamper('acme/refunds/references/policy.md', () => 'bad policy');
  const report = await exportTree(mount, dir);
  expect(report.failures).toMatchObject([
    { label: 'shop', uri: 'skill://acme/refunds/SKILL.md', error: { code: 'EIO' } },
  ]);
  expect(report.written).toEqual(['shop/other/SKILL.md']);
  expect(contentsOf(dir)).toEqual({
    'shop/acme/refunds/SKILL.md': skillMd('refunds'),
    'shop/acme/refunds/references/policy.md': 'policy',
    'shop/other/SKILL.md': skillMd('other', 'x'),
  });
  expect(checkExport(dir)).toMatchObject({ intact: 3, changed: [], missing: [], extra: [] });
});

test('ERR-1: a server that cannot be listed is a failure, and nothing of its is removed', async () => {
  const { mount, servers } = await served({ shop: REFUNDS, desk: { 'd/SKILL.md': skillMd('d') } });
  const dir = temporaryDirectory();
  await exportTree(mount, dir);
  const before = contentsOf(dir);
  await servers['shop']?.close();
  await mount.refresh();
  const report = await exportTree(mount, dir);
  expect(report.failures).toContainEqual({ label: 'shop', error: expect.any(Error) });
  expect(report.removed).toEqual([]);
  expect(contentsOf(dir)).toEqual(before);
  expect(checkExport(dir)).toMatchObject({ intact: 3, changed: [], missing: [], extra: [] });
});

test('VER-5: dynamic skills are copied, and marked as such', async () => {
  const { mount } = await served({ s: { 'dyn/SKILL.md': skillMd('dyn'), 'dyn/a/b.md': 'b' } }, ['dyn']);
  const dir = temporaryDirectory();
  await exportTree(mount, dir);
  expect(contentsOf(dir)).toEqual({ 's/dyn/SKILL.md': skillMd('dyn'), 's/dyn/a/b.md': 'b' });
  const [skill] = lockOf(dir).skills;
  expect(skill.content).toBe('dynamic');
  for (const file of skill.files) expect(file).not.toHaveProperty('manifest');
});

test('MAP-8: nested skills are copied once as a tree, and have a directory of their own in a flat copy', async () => {
  const files = { 'outer/SKILL.md': skillMd('outer'), 'outer/inner/SKILL.md': skillMd('inner') };
  const { mount } = await served({ s: files });
  const [tree, level] = [temporaryDirectory(), temporaryDirectory()];
  expect(await exportTree(mount, tree)).toMatchObject({ unchanged: 0, written: { length: 2 } });
  expect(Object.keys(contentsOf(tree)).sort()).toEqual(['s/outer/SKILL.md', 's/outer/inner/SKILL.md']);
  await exportTree(mount, level, { layout: 'flat' });
  expect(Object.keys(contentsOf(level)).sort()).toEqual(['inner/SKILL.md', 'outer/SKILL.md', 'outer/inner/SKILL.md']);
  expect(checkExport(level)).toMatchObject({ intact: 3, extra: [] });
});

test('SEC-5: in a flat copy the first server keeps a name; the other is beside, or left out', async () => {
  const { mount } = await served({
    one: { 'x/SKILL.md': skillMd('x', '1') },
    two: { 'x/SKILL.md': skillMd('x', '2') },
  });
  const dir = temporaryDirectory();
  await exportTree(mount, dir, { layout: 'flat' });
  expect(contentsOf(dir)).toEqual({ 'x/SKILL.md': skillMd('x', '1'), 'x--two/SKILL.md': skillMd('x', '2') });
  const { removed } = await exportTree(mount, dir, { layout: 'flat', collisions: 'hide' });
  expect(removed).toEqual(['x--two/SKILL.md']);
});

test('names that other systems cannot hold are escaped, in labels too', async () => {
  const { mount } = await served({
    'a:b': { 'x/SKILL.md': skillMd('x'), 'x/NUL': '1', 'x/q?.md': '2', 'x/Read.md': '3', 'x/read.md': '4' },
    'skillfs.lock.json': { 'y/SKILL.md': skillMd('y') },
  });
  const dir = temporaryDirectory();
  await exportTree(mount, dir);
  expect(Object.keys(contentsOf(dir)).sort()).toEqual([
    '%73killfs.lock.json/y/SKILL.md',
    'a%3Ab/x/%4EUL',
    'a%3Ab/x/%72ead.md',
    'a%3Ab/x/Read.md',
    'a%3Ab/x/SKILL.md',
    'a%3Ab/x/q%3F.md',
  ]);
});

test('symbolic links in the directory are never followed', async () => {
  const { mount } = await served({ s: { ...REFUNDS, 'y/SKILL.md': skillMd('y'), 'y/a.md': 'a' } });
  const [dir, outside] = [temporaryDirectory(), temporaryDirectory()];
  mkdirSync(join(dir, 's/y'), { recursive: true });
  writeFileSync(join(outside, 'a.md'), 'outside');
  symlinkSync(outside, join(dir, 's/acme'));
  symlinkSync(join(outside, 'a.md'), join(dir, 's/y/a.md'));
  const { kept } = await exportTree(mount, dir);
  expect(kept.map(({ path, reason }) => `${path}: ${reason}`).sort()).toEqual([
    's/acme/refunds/SKILL.md: s/acme is a symbolic link',
    's/acme/refunds/references/policy.md: s/acme is a symbolic link',
    's/y/a.md: it is a symbolic link',
  ]);
  expect(contentsOf(outside)).toEqual({ 'a.md': 'outside' });
  expect(lstatSync(join(dir, 's/y/a.md')).isSymbolicLink()).toBe(true);
});

test('a lock that is a link, or leads out of the directory, is refused, and nothing is touched', async () => {
  const { mount } = await served({ s: REFUNDS });
  const [dir, outside] = [temporaryDirectory(), temporaryDirectory()];
  writeFileSync(join(outside, 'a.md'), 'outside');
  const file = { path: `../${outside.split('/').at(-1)}/a.md`, uri: 'x', size: 7, written: sha256('outside') };
  const lock = { format: 1, layout: 'tree', skills: [{ label: 'old', uri: 'x', content: 'dynamic', files: [file] }] };
  writeFileSync(join(dir, 'skillfs.lock.json'), JSON.stringify(lock));
  await expect(exportTree(mount, dir)).rejects.toThrow(/skillfs\.lock\.json: is not the lock.*stays in the directory/s);
  rmSync(join(dir, 'skillfs.lock.json'));
  symlinkSync(join(outside, 'a.md'), join(dir, 'skillfs.lock.json'));
  await expect(exportTree(mount, dir)).rejects.toThrow(/symbolic link/);
  expect(contentsOf(outside)).toEqual({ 'a.md': 'outside' });
  expect(existsSync(join(dir, 's'))).toBe(false);
});

test.each(['.claude/skills', '.agents/skills/x', 'skills', '.Codex/out'])(
  'where agents look for skills (%s), nothing is written unless it is allowed',
  async (path) => {
    const { mount } = await served({ s: REFUNDS });
    const above = temporaryDirectory();
    await expect(exportTree(mount, join(above, path))).rejects.toMatchObject({ name: 'OptionsError' });
    expect(readdirSync(above)).toEqual([]);
    symlinkSync(above, join(above, 'link'));
    mkdirSync(join(above, path), { recursive: true });
    symlinkSync(join(above, path), join(above, 'innocent'));
    await expect(exportTree(mount, join(above, 'innocent'))).rejects.toMatchObject({ name: 'OptionsError' });
    await exportTree(mount, join(above, path), { discoverable: true });
    expect(Object.keys(contentsOf(join(above, path)))).toHaveLength(2);
  },
);

test('two copies into one directory at once are refused', async () => {
  const { mount, servers } = await served({ s: REFUNDS });
  const dir = temporaryDirectory();
  await mount.ready();
  servers['s']?.faults.delay(20);
  const first = exportTree(mount, dir);
  await expect(exportTree(mount, dir)).rejects.toMatchObject({ name: 'ExportError', message: /is copying into/ });
  expect(await first).toMatchObject({ failures: [], written: { length: 2 } });
  expect(await exportTree(mount, dir)).toMatchObject({ unchanged: 2 });
});
