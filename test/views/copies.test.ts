import fs, { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { createFsFromVolume, Volume } from 'memfs';
import { expect, test } from 'vitest';
import { flat } from '../../src/views/flat.ts';
import { union } from '../../src/views/union.ts';
import { rejection } from '../support/mounted.ts';
import { directory, serve, skillMd } from './views.ts';

async function writable(files: Record<string, string>) {
  const root = directory(files);
  const { mount, servers } = await serve({ acme: { 'refunds/SKILL.md': skillMd('refunds') } });
  await mount.ready();
  return { root, mount, servers, view: union([{ path: join(root, 'l') }, flat(mount)]) };
}

test('what is copied onto or into itself stays as it is, by whatever links', async () => {
  const { root, view } = await writable({ 'l/own/SKILL.md': skillMd('own'), 'l/own/a/b.md': 'b' });
  symlinkSync('a', join(root, 'l/own/alias'));
  const attempts = [
    ['/skills/own/a/b.md', '/skills/own/a/b.md'],
    ['/skills/own/alias/b.md', '/skills/own/a/b.md'],
    ['/skills/own', '/skills/own'],
    ['/skills/own', '/skills/own/copy'],
    ['/skills/own/a', '/skills/own/alias/copy'],
    ['/skills/own', join(root, 'l/own/copy')],
  ] as const;
  for (const [from, to] of attempts) {
    expect(() => view.fs.cpSync(from, to, { recursive: true })).toThrow(
      expect.objectContaining({ code: 'ERR_FS_CP_EINVAL' }),
    );
    expect((await rejection(view.promises.cp(from, to, { recursive: true }))).code).toBe('ERR_FS_CP_EINVAL');
  }
  expect(readdirSync(join(root, 'l/own'))).toEqual(['SKILL.md', 'a', 'alias']);
  expect(readdirSync(join(root, 'l/own/a'))).toEqual(['b.md']);
  expect(readFileSync(join(root, 'l/own/a/b.md'), 'utf8')).toBe('b');
  await view.promises.cp('/skills/own', '/skills/own2', { recursive: true });
  expect(readFileSync(join(root, 'l/own2/a/b.md'), 'utf8')).toBe('b');
});

test('a copy that fails leaves what was there', async () => {
  const { root, view, servers } = await writable({ 'l/own/SKILL.md': skillMd('own'), 'out.md': 'mine' });
  servers['acme']?.faults.tamper('refunds/SKILL.md', () => 'tampered');
  const to = join(root, 'out.md');
  for (const dest of ['/skills/own/SKILL.md', to]) {
    expect((await rejection(view.promises.cp('/skills/refunds/SKILL.md', dest))).code).toBe('ENOENT');
  }
  expect(readFileSync(to, 'utf8')).toBe('mine');
  expect(readFileSync(join(root, 'l/own/SKILL.md'), 'utf8')).toBe(skillMd('own'));
});

test('what is on the disk is copied into a view, to its local layer', async () => {
  const { root, view } = await writable({ 'x/SKILL.md': skillMd('x'), 'x/run.sh': '#!/bin/sh\n' });
  fs.chmodSync(join(root, 'x/run.sh'), 0o750);
  view.fs.cpSync(join(root, 'x'), '/skills/x', { recursive: true });
  await view.promises.cp(join(root, 'x'), '/skills/y', { recursive: true });
  view.fs.copyFileSync(join(root, 'x/SKILL.md'), '/skills/x/other.md');
  expect(readdirSync(join(root, 'l/x'))).toEqual(['SKILL.md', 'other.md', 'run.sh']);
  expect(fs.statSync(join(root, 'l/y/run.sh')).mode & 0o777).toBe(0o750);
  const excl = fs.constants.COPYFILE_EXCL;
  const again = rejection(view.promises.copyFile(join(root, 'x/SKILL.md'), '/skills/x/other.md', excl));
  expect(await again).toMatchObject({ code: 'EEXIST', dest: '/skills/x/other.md' });
  for (const to of ['/skills/refunds/SKILL.md', '/skills/refunds/x']) {
    expect((await rejection(view.promises.cp(join(root, 'x/run.sh'), to))).code).toBe('EROFS');
    expect((await rejection(view.promises.copyFile(join(root, 'x/run.sh'), to))).code).toBe('EROFS');
  }
  const memory = union([{ path: '/m', fs: createFsFromVolume(new Volume()) as unknown as typeof fs }]);
  expect((await rejection(memory.promises.copyFile(join(root, 'x/run.sh'), '/skills/x'))).code).toBe('EXDEV');
  expect(existsSync('/skills')).toBe(false);
});
