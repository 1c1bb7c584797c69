import fs, { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import * as fsPromises from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { patchFs } from '../../src/patch/patch-fs.ts';
import { flat } from '../../src/views/flat.ts';
import { union } from '../../src/views/union.ts';
import { rejection } from '../support/mounted.ts';
import { directory, serve, skillMd } from '../views/views.ts';

async function patched(files: Record<string, string>, local: Record<string, string> = {}) {
  const root = directory(local);
  const served = await serve({ acme: files }, { mountPoint: `${root}/mcp` });
  const skills = join(root, 'skills');
  const view = union([{ path: skills }, flat(served.mount)], { mountPoint: skills });
  await served.mount.preload();
  const { restore } = patchFs([served.mount, view]);
  onTestFinished(restore);
  return { ...served, root, skills, view, restore };
}

test('every form of every function sees a mount: named imports, namespaces, promisified ones', async () => {
  const { root } = await patched({ 'a/refunds/SKILL.md': skillMd('refunds') });
  const path = `${root}/mcp/acme/a/refunds/SKILL.md`;
  expect(readFileSync(path, 'utf8')).toBe(skillMd('refunds'));
  expect(fs.readFileSync(pathToFileURL(path), 'utf8')).toBe(skillMd('refunds'));
  expect(fs.readFileSync(Buffer.from(path), 'utf8')).toBe(skillMd('refunds'));
  expect(await fsPromises.readFile(path, 'utf8')).toBe(skillMd('refunds'));
  expect(await fs.promises.readFile(path, 'utf8')).toBe(skillMd('refunds'));
  expect(await promisify(fs.readFile)(path, 'utf8')).toBe(skillMd('refunds'));
  expect(await promisify(fs.exists)(path)).toBe(true);
  expect(await promisify(fs.exists)(`${path}x`)).toBe(false);
  expect(fs.realpathSync.native(path)).toBe(path);
  expect(readdirSync(`${root}/mcp/acme/a/../a//refunds/`)).toEqual(['SKILL.md']);
  const fd = fs.openSync(path, 'r');
  expect(fs.readFileSync(fd, 'utf8')).toBe(skillMd('refunds'));
  fs.closeSync(fd);
  const handle = await fsPromises.open(path);
  expect(await handle.readFile('utf8')).toBe(skillMd('refunds'));
  await handle.close();
  const chunks: string[] = [];
  for await (const chunk of fs.createReadStream(path, 'utf8')) chunks.push(String(chunk));
  expect(chunks.join('')).toBe(skillMd('refunds'));
  const stream = Reflect.construct(fs.ReadStream, [path, { encoding: 'utf8' }]) as fs.ReadStream;
  expect(stream).toBeInstanceOf(fs.ReadStream);
  expect(String((await stream.toArray()).join(''))).toBe(skillMd('refunds'));
  expect(() => writeFileSync(path, 'x')).toThrow(expect.objectContaining({ code: 'EROFS', path }));
  expect(fs.readFileSync.name).toBe('readFileSync');
});

test('relative paths are the working directory’s', async () => {
  const { root } = await patched({ 'refunds/SKILL.md': skillMd('refunds') });
  const before = process.cwd;
  process.cwd = () => root;
  try {
    expect(readdirSync('mcp')).toEqual(['acme']);
    expect(readFileSync('./mcp/acme/refunds/../refunds/SKILL.md', 'utf8')).toBe(skillMd('refunds'));
  } finally {
    process.cwd = before;
  }
});

test('directories above a mount point list it, however deep they list', async () => {
  const { root } = await patched(
    { 'refunds/SKILL.md': skillMd('refunds') },
    { 'x.md': 'x', 'skills/greet/SKILL.md': skillMd('greet') },
  );
  expect(readdirSync(root).sort()).toEqual(['mcp', 'skills', 'x.md']);
  expect((await fsPromises.readdir(root)).sort()).toEqual(['mcp', 'skills', 'x.md']);
  expect((await promisify(fs.readdir)(root)).sort()).toEqual(['mcp', 'skills', 'x.md']);
  const types = readdirSync(root, { withFileTypes: true }).map((entry) => [entry.name, entry.isDirectory()]);
  expect(types.sort()).toEqual([
    ['mcp', true],
    ['skills', true],
    ['x.md', false],
  ]);
  const deep = [
    'mcp',
    'mcp/acme',
    'mcp/acme/refunds',
    'mcp/acme/refunds/SKILL.md',
    'skills',
    'skills/greet',
    'skills/greet/SKILL.md',
    'skills/refunds',
    'skills/refunds/SKILL.md',
    'x.md',
  ];
  expect(readdirSync(root, { recursive: true }).map(String).sort()).toEqual(deep);
  expect((await fsPromises.readdir(root, { recursive: true })).sort()).toEqual(deep);
  const entries = await fsPromises.readdir(root, { recursive: true, withFileTypes: true });
  expect(entries.map(({ parentPath, name }) => join(parentPath, name).slice(root.length + 1)).sort()).toEqual(deep);
});

test('a directory that is an overlay shows both; what is its own stays the disk’s', async () => {
  const { skills } = await patched(
    { 'a/refunds/SKILL.md': skillMd('refunds'), 'b/greet/SKILL.md': skillMd('greet', 'theirs') },
    { 'skills/greet/SKILL.md': skillMd('greet', 'mine') },
  );
  expect(readdirSync(skills)).toEqual(['greet', 'greet--acme--b', 'refunds']);
  expect(readFileSync(`${skills}/greet/SKILL.md`, 'utf8')).toContain('mine');
  expect(readFileSync(`${skills}/refunds/SKILL.md`, 'utf8')).toBe(skillMd('refunds'));
  mkdirSync(`${skills}/own`);
  await fsPromises.writeFile(`${skills}/own/SKILL.md`, skillMd('own'));
  fs.appendFileSync(`${skills}/own/SKILL.md`, 'more');
  expect(readFileSync(`${skills}/own/SKILL.md`, 'utf8')).toBe(`${skillMd('own')}more`);
  expect(await fsPromises.readdir(skills)).toEqual(['greet', 'greet--acme--b', 'own', 'refunds']);
  expect((await rejection(fsPromises.writeFile(`${skills}/refunds/new.md`, 'x'))).code).toBe('EROFS');
  expect((await rejection(fsPromises.rename(`${skills}/own`, `${skills}/refunds/own`))).code).toBe('EROFS');
  await fsPromises.rename(`${skills}/own`, `${skills}/other`);
  expect(existsSync(`${skills}/other/SKILL.md`)).toBe(true);
  await fsPromises.rm(`${skills}/other`, { recursive: true });
  expect(readdirSync(skills)).toEqual(['greet', 'greet--acme--b', 'refunds']);
});

test('skills are copied out of a mount, and nothing into one', async () => {
  const { root, skills } = await patched({ 'refunds/SKILL.md': skillMd('refunds') }, { 'skills/x.md': 'x' });
  await fsPromises.cp(`${root}/mcp/acme/refunds`, `${skills}/copied`, { recursive: true });
  expect(readFileSync(`${skills}/copied/SKILL.md`, 'utf8')).toBe(skillMd('refunds'));
  fs.copyFileSync(`${root}/mcp/acme/refunds/SKILL.md`, `${root}/out.md`);
  expect(readFileSync(`${root}/out.md`, 'utf8')).toBe(skillMd('refunds'));
  for (const to of [`${root}/mcp/acme/refunds/x.md`, `${skills}/refunds/x.md`]) {
    expect(() => fs.copyFileSync(`${root}/out.md`, to)).toThrow(expect.objectContaining({ code: 'EROFS' }));
    expect((await rejection(fsPromises.copyFile(`${root}/out.md`, to))).code).toBe('EROFS');
    expect((await rejection(promisify(fs.copyFile)(`${root}/out.md`, to))).code).toBe('EROFS');
  }
});

test('restore puts everything back, named imports included; two patches do not disturb each other', async () => {
  const before = { ...fs, promises: { ...fs.promises } };
  const { root, restore } = await patched({ 'refunds/SKILL.md': skillMd('refunds') });
  const other = await serve({ o: { 'x/SKILL.md': skillMd('x') } }, { mountPoint: `${root}/other` });
  await other.mount.ready();
  const second = patchFs(other.mount);
  expect(existsSync(`${root}/other/o/x`)).toBe(true);
  restore();
  expect(existsSync(`${root}/mcp/acme`)).toBe(false);
  expect(existsSync(`${root}/other/o/x`)).toBe(true);
  second.restore();
  expect(existsSync(`${root}/other/o/x`)).toBe(false);
  for (const [name, value] of Object.entries(before)) {
    if (name !== 'promises') expect(fs[name as keyof typeof fs], name).toBe(value);
  }
  for (const [name, value] of Object.entries(before.promises)) {
    expect(fs.promises[name as keyof typeof fs.promises], name).toBe(value);
  }
});

test('what is no path, and what is nobody’s, fails as it always did', async () => {
  await patched({ 'refunds/SKILL.md': skillMd('refunds') });
  expect(() => fs.readFileSync(undefined as never)).toThrow(expect.objectContaining({ code: 'ERR_INVALID_ARG_TYPE' }));
  expect(() => fs.readFileSync('/no/such/file')).toThrow(expect.objectContaining({ code: 'ENOENT', syscall: 'open' }));
  expect(() => fs.readFile('/no/such/file', undefined as never)).toThrow(
    expect.objectContaining({ code: 'ERR_INVALID_ARG_TYPE' }),
  );
  expect(fs.existsSync(undefined as never)).toBe(false);
  expect(() => patchFs({} as never)).toThrow('expected what mount(), flat() or union() returned');
});
