import fs, { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { flat } from '../../src/views/flat.ts';
import { union } from '../../src/views/union.ts';
import { rejection } from '../support/mounted.ts';
import { directory, serve, skillMd } from './views.ts';

/** A union of a local directory and a server, and the directory that the local one lies in. */
async function writable(local: Record<string, string>) {
  const root = directory(Object.fromEntries(Object.entries(local).map(([path, text]) => [`l/${path}`, text])));
  const { mount } = await serve({ acme: { 'refunds/SKILL.md': skillMd('refunds') } });
  await mount.preload();
  return { root, local: join(root, 'l'), view: union([{ path: join(root, 'l') }, flat(mount)]) };
}

test('a directory that is made with mkdtemp lies where its whole path says', async () => {
  const { root, local, view } = await writable({ 'own/SKILL.md': skillMd('own') });
  const made = {
    '/skills/': view.fs.mkdtempSync('/skills/'),
    '/skills/own/': await view.promises.mkdtemp('/skills/own/'),
    '/skills/own': view.fs.mkdtempSync('/skills/own'),
    '/skills/refunds': await view.promises.mkdtemp('/skills/refunds'),
  };
  for (const [prefix, path] of Object.entries(made)) {
    expect([prefix, path.slice(0, -6)]).toEqual([prefix, prefix]);
    expect(existsSync(join(local, path.slice('/skills'.length)))).toBe(true);
  }
  expect(readdirSync(root)).toEqual(['l']);
  expect(() => view.fs.mkdtempSync('/skills/refunds/')).toThrow(
    expect.objectContaining({ code: 'EROFS', path: '/skills/refunds/XXXXXX' }),
  );
});

test('a path that Node would not write to is not written to', async () => {
  const { local, view } = await writable({ 'own/SKILL.md': skillMd('own'), 'own/a.md': 'a' });
  const attempts = {
    ENOTDIR: () => view.fs.unlinkSync('/skills/own/a.md/'),
    EISDIR: () => view.fs.writeFileSync('/skills/own/new.md/', 'x'),
    ENOENT: () => view.fs.writeFileSync('/skills/none/../new.md', 'x'),
  };
  for (const [code, attempt] of Object.entries(attempts)) {
    expect(attempt, code).toThrow(expect.objectContaining({ code }));
  }
  expect(readdirSync(join(local, 'own'))).toEqual(['SKILL.md', 'a.md']);
  expect(readdirSync(local)).toEqual(['own']);
  view.fs.mkdirSync('/skills/new/');
  await view.promises.mkdir('/skills/own/../other/.//deep/', { recursive: true });
  expect(readdirSync(local)).toEqual(['new', 'other', 'own']);
});

test('nothing is made by a link that leads to nothing yet, wherever that would be', async () => {
  const { root, view } = await writable({ 'own/SKILL.md': skillMd('own') });
  symlinkSync(join(root, 'made.md'), join(root, 'l/own/out'));
  symlinkSync('../made.md', join(root, 'l/top'));
  const attempts = {
    writeFile: () => view.promises.writeFile('/skills/own/out', 'x'),
    appendFile: () => view.promises.appendFile('/skills/top', 'x'),
    open: () => view.promises.open('/skills/own/out', 'a+'),
    numeric: () => view.promises.open('/skills/own/out', fs.constants.O_CREAT),
    copyFile: () => view.promises.copyFile('/skills/refunds/SKILL.md', '/skills/own/out'),
  };
  for (const [name, attempt] of Object.entries(attempts)) {
    const { code, path } = await rejection(attempt() as Promise<unknown>);
    expect([name, code, dirname(String(path)).startsWith('/skills')]).toEqual([name, 'EACCES', true]);
  }
  expect(readdirSync(root)).toEqual(['l']);
});

test('what is shown as SKILL.md is one file, however it is used', async () => {
  const { local, view } = await writable({ 'low/skill.md': skillMd('low'), 'low/Skill.md/x.md': 'no file' });
  const path = '/skills/low/SKILL.md';
  expect(view.fs.readdirSync('/skills/low')).toEqual(['SKILL.md', 'Skill.md']);
  await view.promises.access(path, fs.constants.W_OK);
  await view.promises.appendFile(path, 'more');
  expect(readFileSync(join(local, 'low/skill.md'), 'utf8')).toBe(`${skillMd('low')}more`);
  await view.promises.rename(path, '/skills/low/moved.md');
  expect(readdirSync(join(local, 'low'))).toEqual(['Skill.md', 'moved.md']);
});
