import fastGlob, { type Options as FastGlobOptions } from 'fast-glob';
import { fdir } from 'fdir';
import { type GlobOptions, glob, globSync } from 'glob';
import { type GlobOptions as Glob10Options, glob as glob10, globSync as globSync10 } from 'glob-10';
import { type GlobOptions as TinyglobbyOptions, glob as tinyglobby, globSync as tinyglobbySync } from 'tinyglobby';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fastGlobFs, fdirFs, globFs } from '../../src/adapters/index.ts';
import { flat } from '../../src/index.ts';
import { onDisk, type Served, served } from './served.ts';

const disk = onDisk();
let held: Served;
beforeAll(async () => {
  held = await served();
  await held.mounted.ready();
});
afterAll(async () => {
  await held[Symbol.asyncDispose]();
  disk.remove();
});

const patterns = [
  '**',
  '**/*',
  '**/SKILL.md',
  'acme/*/*/',
  '*',
  '**/*.{md,png}',
  'notes/{.*,a b*}',
  'none/**',
  '**/[r-z]*',
];
const sorted = (found: readonly string[]) => [...found].sort();

describe.each(patterns)('%s finds the same as on the disk', (pattern) => {
  const cwd = () => disk.directory;
  const dot = { dot: true };

  test('with glob', async () => {
    const own = { fs: globFs(held.mounted), cwd: '/mcp/s', ...dot } satisfies GlobOptions;
    const expected = sorted(await glob(pattern, { cwd: cwd(), ...dot }));
    expect(sorted(await glob(pattern, own))).toEqual(expected);
    expect(sorted(globSync(pattern, own))).toEqual(expected);
  });

  test('with glob 10', async () => {
    const own = { fs: globFs(held.mounted), cwd: '/mcp/s', ...dot } satisfies Glob10Options;
    const expected = sorted(await glob10(pattern, { cwd: cwd(), ...dot }));
    expect(sorted(await glob10(pattern, own))).toEqual(expected);
    expect(sorted(globSync10(pattern, own))).toEqual(expected);
  });

  test('with fast-glob', async () => {
    const own = { fs: fastGlobFs(held.mounted), cwd: '/mcp/s', ...dot } satisfies FastGlobOptions;
    const expected = sorted(await fastGlob(pattern, { cwd: cwd(), ...dot }));
    expect(sorted(await fastGlob(pattern, own))).toEqual(expected);
    expect(sorted(fastGlob.sync(pattern, own))).toEqual(expected);
    const stats = await fastGlob(pattern, { ...own, stats: true });
    expect(sorted(stats.map(({ path }) => path))).toEqual(expected);
  });

  test('with tinyglobby', async () => {
    const own = { fs: fdirFs(held.mounted), cwd: '/mcp/s', ...dot } satisfies TinyglobbyOptions;
    const expected = sorted(await tinyglobby(pattern, { cwd: cwd(), ...dot }));
    expect(sorted(await tinyglobby(pattern, own))).toEqual(expected);
    expect(sorted(tinyglobbySync(pattern, own))).toEqual(expected);
  });
});

test('fdir crawls the same as on the disk', async () => {
  const crawler = (fs?: ReturnType<typeof fdirFs>) => new fdir({ ...(fs && { fs }) }).withRelativePaths().withDirs();
  const expected = sorted(await crawler().crawl(disk.directory).withPromise());
  const own = crawler(fdirFs(held.mounted)).withSymlinks().crawl('/mcp/s');
  expect(sorted(await own.withPromise())).toEqual(expected);
  expect(sorted(own.sync())).toEqual(expected);
  expect(expected.length).toBeGreaterThan(7);
});

test('a flat view is searched as a mount is', async () => {
  const view = flat(held.mounted);
  const expected = ['invoices', 'notes', 'refunds'].map((name) => `${name}/SKILL.md`);
  const cwd = view.mountPoint;
  expect(sorted(await glob('*/SKILL.md', { fs: globFs(view), cwd }))).toEqual(expected);
  expect(sorted(await fastGlob('*/SKILL.md', { fs: fastGlobFs(view), cwd }))).toEqual(expected);
  expect(sorted(await tinyglobby('*/SKILL.md', { fs: fdirFs(view), cwd }))).toEqual(expected);
});

test('nothing of the disk is found through a view', async () => {
  const { directory } = disk;
  const { mounted } = held;
  expect(await glob('**', { fs: globFs(mounted), cwd: directory })).toEqual([]);
  expect(await fastGlob('**', { fs: fastGlobFs(mounted), cwd: directory })).toEqual([]);
  expect(await tinyglobby('**', { fs: fdirFs(mounted), cwd: directory })).toEqual([]);
});

test('looking for files asks for no content (LAZY-1)', async () => {
  const { server, mounted } = held;
  server.requests.length = 0;
  await glob('/mcp/**/*', { fs: globFs(mounted), nodir: true, stat: true });
  expect(server.requests).toEqual([]);
});
