import fs, { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import * as fsPromises from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createFsFromVolume, Volume } from 'memfs';
import { expect, onTestFinished, test } from 'vitest';
import { patchFs } from '../../src/patch/patch-fs.ts';
import { flat } from '../../src/views/flat.ts';
import { type UnionLayer, union } from '../../src/views/union.ts';
import type { View } from '../../src/views/view.ts';
import { rejection } from '../support/mounted.ts';
import { directory, serve, skillMd } from '../views/views.ts';

/** A project whose `skills` shows a server's beside its own, with more views that are made for it. */
async function project(files: Record<string, string>, more: (root: string, names: View) => readonly View[] = () => []) {
  const root = directory(files);
  const { mount } = await serve({ acme: { 'refunds/SKILL.md': skillMd('refunds') } }, { mountPoint: `${root}/mcp` });
  await mount.preload();
  const skills = join(root, 'skills');
  const names = flat(mount);
  const { restore } = patchFs([mount, union([{ path: skills }, names], { mountPoint: skills }), ...more(root, names)]);
  onTestFinished(restore);
  return { root, skills, restore };
}

test('what the disk refuses fails as it always did, in the form of the function that was called', async () => {
  const { skills } = await project({ 'skills/greet/SKILL.md': skillMd('greet') });
  for (const [path, code] of [
    [`${skills}/greet/SKILL.md/x`, 'ENOTDIR'],
    [`${skills}/${'a'.repeat(300)}`, 'ENAMETOOLONG'],
    [`${skills}/a\0b`, 'ERR_INVALID_ARG_VALUE'],
  ] as const) {
    expect(existsSync(path)).toBe(false);
    expect((await rejection(fsPromises.readFile(path))).code).toBe(code);
    expect((await rejection(fsPromises.readdir(path))).code).toBe(code);
    expect((await rejection(fsPromises.copyFile(`${skills}/greet/SKILL.md`, path))).code).toBe(code);
  }
});

test('a path may lead to a mount by any directories of the disk', async () => {
  const { root, skills } = await project({ 'src/a.md': 'a', 'skills/greet/SKILL.md': skillMd('greet') });
  const up = `${root}/src/../`;
  expect(readdirSync(`${up}skills`)).toEqual(['greet', 'refunds']);
  expect(readdirSync(`${up}skills/`)).toEqual(['greet', 'refunds']);
  expect(await fsPromises.readdir(Buffer.from(`${up}mcp/acme`))).toEqual(['refunds']);
  expect(readdirSync(up.slice(0, -1)).sort()).toEqual(['mcp', 'skills', 'src']);
  expect(readFileSync(`${up}skills/refunds/SKILL.md`, 'utf8')).toBe(skillMd('refunds'));
  expect(await fsPromises.readFile(`${up}mcp/acme/../acme/refunds/SKILL.md`, 'utf8')).toBe(skillMd('refunds'));
  expect((await rejection(fsPromises.stat(`${up}mcp/none/../acme`))).code).toBe('ENOENT');
  fs.cpSync(`${up}mcp/acme/refunds`, `${up}skills/copied`, { recursive: true });
  expect(readdirSync(`${skills}/copied`)).toEqual(['SKILL.md']);
  const before = process.cwd;
  process.cwd = () => root;
  try {
    expect(readdirSync('src/../skills')).toEqual(['copied', 'greet', 'refunds']);
  } finally {
    process.cwd = before;
  }
  class Url {
    href = `file://${skills}/refunds/SKILL.md`;
    protocol = 'file:';
    hostname = '';
    pathname = `${skills}/refunds/SKILL.md`;
  }
  expect(readFileSync(new Url() as URL, 'utf8')).toBe(skillMd('refunds'));
});

test('what is copied or moved into a view gets to its local directory, wherever it is from', async () => {
  const { root, skills, restore } = await project({ 'x/SKILL.md': skillMd('x'), 'y.md': 'y' }, (at, names) => [
    union([{ path: join(at, 'own') }, names], { mountPoint: join(at, 'shown') }),
  ]);
  const shown = join(root, 'shown');
  fs.cpSync(`${root}/x`, `${skills}/x`, { recursive: true });
  await fsPromises.cp(`${root}/x`, `${shown}/x`, { recursive: true });
  await promisify(fs.copyFile)(`${root}/y.md`, `${skills}/x/y.md`);
  await fsPromises.rename(`${root}/y.md`, `${shown}/x/y.md`);
  fs.cpSync(`${root}/mcp/acme/refunds`, `${shown}/mine`, { recursive: true });
  fs.cpSync(`${shown}/mine`, `${skills}/again`, { recursive: true });
  expect(readdirSync(shown)).toEqual(['mine', 'refunds', 'x']);
  restore();
  expect(readdirSync(root).sort()).toEqual(['own', 'skills', 'x']);
  expect(readdirSync(`${root}/own`, { recursive: true }).sort()).toEqual([
    'mine',
    'mine/SKILL.md',
    'x',
    'x/SKILL.md',
    'x/y.md',
  ]);
  expect(readdirSync(skills, { recursive: true }).sort()).toEqual([
    'again',
    'again/SKILL.md',
    'x',
    'x/SKILL.md',
    'x/y.md',
  ]);
});

test('a link of the disk is one in listings, too: who removes what is listed removes the link', async () => {
  const { root, skills } = await project({
    'skills/greet/SKILL.md': skillMd('greet'),
    'mine/SKILL.md': skillMd('mine'),
  });
  symlinkSync('../mine', `${skills}/linked`);
  const expected = [
    ['greet', 'd'],
    ['linked', 'l'],
    ['refunds', 'd'],
  ];
  const kinds = (entries: readonly fs.Dirent[]) =>
    entries.map((entry) => [entry.name, entry.isSymbolicLink() ? 'l' : entry.isDirectory() ? 'd' : 'f']);
  const types = { withFileTypes: true } as const;
  expect(kinds(readdirSync(skills, types))).toEqual(expected);
  expect(kinds(await fsPromises.readdir(skills, types))).toEqual(expected);
  expect(kinds(await promisify(fs.readdir)(skills, types))).toEqual(expected);
  const opened: fs.Dirent[] = [];
  for await (const entry of await fsPromises.opendir(skills)) opened.push(entry);
  expect(kinds(opened)).toEqual(expected);
  const dir = fs.opendirSync(skills);
  expect(kinds([dir.readSync(), dir.readSync()] as fs.Dirent[])).toEqual(expected.slice(0, 2));
  dir.closeSync();
  for (const { name, parentPath } of readdirSync(skills, types)) {
    const stats = fs.lstatSync(join(parentPath, name));
    expect([name, stats.isSymbolicLink()]).toEqual([name, name === 'linked']);
  }
  expect(readFileSync(`${skills}/linked/SKILL.md`, 'utf8')).toBe(skillMd('mine'));
  expect(existsSync(`${root}/mine/SKILL.md`)).toBe(true);
});

test('a mount point in an overlay is listed in it', async () => {
  const { skills } = await project({ 'skills/greet/SKILL.md': skillMd('greet') }, (root, names) => [
    union([{ path: join(root, 'own') }, names], { mountPoint: join(root, 'skills/more') }),
  ]);
  expect(readdirSync(skills)).toEqual(['greet', 'refunds', 'more']);
  expect(await fsPromises.readdir(skills)).toEqual(['greet', 'refunds', 'more']);
  expect(await promisify(fs.readdir)(skills)).toEqual(['greet', 'refunds', 'more']);
  expect(readdirSync(`${skills}/more`)).toEqual(['refunds']);
});

test('a mount point whose files would be hidden is refused', () => {
  const root = directory({ 'greet/SKILL.md': 'disk' });
  const elsewhere = createFsFromVolume(Volume.fromJSON({ [`${root}/x`]: 'x' })) as never;
  expect(() => patchFs(union([{ path: root, fs: elsewhere }], { mountPoint: root }))).toThrow('would be hidden');
});

test('the directory at a mount point is the disk’s only where it is the uppermost layer, and may be written', async () => {
  const memory = createFsFromVolume(Volume.fromJSON({ '/m/greet/SKILL.md': 'upper' })) as unknown as typeof fs;
  const layers: Record<string, (at: string) => readonly UnionLayer[]> = {
    'not uppermost': (at) => [{ path: '/m', fs: memory }, { path: at }],
    'not writable': (at) => [{ path: at, writable: false }],
  };
  for (const [how, layersOf] of Object.entries(layers)) {
    const root = directory({ 'greet/SKILL.md': 'disk' });
    const view = union(layersOf(root), { mountPoint: root });
    const patched = patchFs(view);
    const attempt = await rejection(fsPromises.writeFile(`${root}/greet/SKILL.md`, 'written')).catch(() => undefined);
    const listed = readdirSync(root);
    const read = existsSync(`${root}/greet/SKILL.md`) && readFileSync(`${root}/greet/SKILL.md`, 'utf8');
    patched.restore();
    expect([how, readFileSync(`${root}/greet/SKILL.md`, 'utf8')]).toEqual([how, 'disk']);
    const expected = {
      'not uppermost': [['greet'], 'written', undefined],
      'not writable': [['greet'], 'disk', 'EROFS'],
    }[how];
    expect([how, listed, read, attempt?.code]).toEqual([how, ...(expected as unknown[])]);
  }
});

test('directories of the disk are removed and copied as they are there', async () => {
  const files = { 'a/skills/greet/SKILL.md': skillMd('greet') };
  const { root } = await project(files, (at, names) => [
    union([{ path: join(at, 'a/skills') }, names], { mountPoint: join(at, 'a/skills') }),
  ]);
  fs.cpSync(`${root}/a`, `${root}/b`, { recursive: true });
  await fsPromises.cp(`${root}/a`, `${root}/c`, { recursive: true });
  for (const copy of ['b', 'c']) expect([copy, readdirSync(`${root}/${copy}/skills`)]).toEqual([copy, ['greet']]);
  fs.rmSync(`${root}/a/skills/greet`, { recursive: true });
  expect(readdirSync(`${root}/a/skills`)).toEqual(['refunds']);
  await fsPromises.rm(`${root}/a`, { recursive: true });
  expect(readdirSync(root).sort()).toEqual(['a', 'b', 'c', 'mcp', 'skills']);
  fs.rmSync(`${root}/b`, { recursive: true });
  expect(existsSync(`${root}/b`)).toBe(false);
});
