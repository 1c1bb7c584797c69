import fs, { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { flat } from '../../src/views/flat.ts';
import { union } from '../../src/views/union.ts';
import { rejection } from '../support/mounted.ts';
import { directory, serve, skillMd } from './views.ts';

test('SEC-5: a local name is kept from the first look on, by however many at once', async () => {
  const local = directory({ 'Invoices/SKILL.md': skillMd('Invoices', 'mine') });
  const { mount } = await serve({ acme: { 'invoices/SKILL.md': skillMd('invoices') } });
  await mount.preload();
  // A disk on which the first listing takes its time.
  const promises = {
    ...fs.promises,
    readdir: async (...args: Parameters<typeof fs.promises.readdir>) => {
      await new Promise(setImmediate);
      return fs.promises.readdir(...args);
    },
  };
  const slow = { ...fs, openSync: undefined, promises } as unknown as typeof fs;
  const view = union([{ path: local, fs: slow }, flat(mount)]);
  const looks = await Promise.all(
    Array.from({ length: 3 }, () => rejection(view.promises.readFile('/skills/invoices/SKILL.md'))),
  );
  expect(looks.map(({ code }) => code)).toEqual(['ENOENT', 'ENOENT', 'ENOENT']);
});

test('a local directory that cannot be listed is no absence, at the second look either', async () => {
  const { mount } = await serve({ acme: { 'refunds/SKILL.md': skillMd('refunds') } });
  await mount.preload();
  const refuse = async () => {
    throw Object.assign(new Error('permission denied'), { code: 'EACCES' });
  };
  const closed = { ...fs, openSync: undefined, promises: { ...fs.promises, readdir: refuse } } as unknown as typeof fs;
  const view = union([{ path: directory({}), fs: closed }, flat(mount)]);
  for (let look = 0; look < 2; look++) {
    expect((await rejection(view.promises.stat('/skills/refunds'))).code).toBe('EACCES');
  }
});

test('a local directory takes its name at once, whether it is listed or looked at', async () => {
  for (const listed of [true, false]) {
    const local = directory({});
    const { mount } = await serve({ acme: { 'refunds/SKILL.md': skillMd('refunds', 'theirs') } });
    const view = union([{ path: local }, flat(mount)]);
    expect(await view.promises.readFile('/skills/refunds/SKILL.md', 'utf8')).toContain('theirs');
    mkdirSync(join(local, 'refunds'));
    if (listed) await view.promises.readdir('/skills');
    expect((await rejection(view.promises.readFile('/skills/refunds/SKILL.md'))).code).toBe('ENOENT');
    await view.promises.writeFile('/skills/refunds/SKILL.md', skillMd('refunds', 'mine'));
    expect(await view.promises.readFile('/skills/refunds/SKILL.md', 'utf8')).toContain('mine');
    expect(await view.promises.readFile('/skills/refunds--acme/SKILL.md', 'utf8')).toContain('theirs');
  }
});

test('a skill that got another name is found by it, even where nothing was a moment ago', async () => {
  const local = directory({});
  const first = await serve({ acme: { 'refunds/SKILL.md': skillMd('refunds', 'theirs') } });
  const second = await serve({ docs: { 'howto/SKILL.md': skillMd('howto') } });
  await Promise.all([first.mount.preload(), second.mount.preload()]);
  const view = union([{ path: local }, flat(first.mount), flat(second.mount)]);
  expect(view.fs.existsSync('/skills/refunds--acme')).toBe(false);
  mkdirSync(join(local, 'refunds'));
  writeFileSync(join(local, 'refunds/SKILL.md'), skillMd('refunds', 'mine'));
  expect(view.fs.readdirSync('/skills')).toEqual(['howto', 'refunds', 'refunds--acme']);
  expect(view.fs.existsSync('/skills/refunds--acme/SKILL.md')).toBe(true);
});

test('SEC-5: a name never passes from the servers of one flat view to those of another', async () => {
  for (const listed of [true, false]) {
    const first = await serve({
      acme: { 'refunds/SKILL.md': skillMd('refunds', 'first'), 'a/SKILL.md': skillMd('a') },
    });
    const second = await serve({ docs: { 'refunds/SKILL.md': skillMd('refunds', 'second') } });
    const view = union([{ path: directory({}) }, flat(first.mount), flat(second.mount)]);
    if (listed) expect(await view.promises.readdir('/skills')).toEqual(['a', 'refunds', 'refunds--docs']);
    expect(await view.promises.readFile('/skills/refunds/SKILL.md', 'utf8')).toContain('first');
    await first.servers['acme']?.update({ 'a/SKILL.md': skillMd('a') });
    await first.mount.refresh();
    expect((await rejection(view.promises.readFile('/skills/refunds/SKILL.md'))).code).toBe('ENOENT');
    expect(await view.promises.readFile('/skills/refunds--docs/SKILL.md', 'utf8')).toContain('second');
    expect(await view.promises.readdir('/skills')).toEqual(['a', 'refunds--docs']);
  }
});

test('nor to a server whose name a local skill had, once that is gone', async () => {
  const local = directory({ 'refunds/SKILL.md': skillMd('refunds', 'mine') });
  const { mount } = await serve({ acme: { 'refunds/SKILL.md': skillMd('refunds', 'theirs') } });
  const view = union([{ path: local }, flat(mount)]);
  expect(await view.promises.readFile('/skills/refunds/SKILL.md', 'utf8')).toContain('mine');
  rmSync(join(local, 'refunds'), { recursive: true });
  expect((await rejection(view.promises.readFile('/skills/refunds/SKILL.md'))).code).toBe('ENOENT');
});

test('what was found before a server changed is not believed after it', async () => {
  const upper = await serve({ s: { 'other/SKILL.md': skillMd('other') } });
  const lower = await serve({ s: { 'another/SKILL.md': skillMd('another') } });
  await Promise.all([upper.mount.preload(), lower.mount.preload()]);
  const view = union([upper.mount, lower.mount]);
  const asked = () => lower.servers['s']?.requests.length ?? 0;
  const before = asked();
  lower.servers['s']?.faults.delay(600);
  const early = rejection(view.promises.stat('/skills/s/refunds'));
  // The upper one has said that it has none, and the lower one has not answered.
  await expect.poll(asked).toBeGreaterThan(before);
  await upper.servers['s']?.update({ 'refunds/SKILL.md': skillMd('refunds') });
  await upper.mount.refresh();
  await early;
  expect(view.fs.existsSync('/skills/s/refunds')).toBe(true);
});
