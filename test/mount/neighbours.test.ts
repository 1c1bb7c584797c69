import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import enhancedResolve from 'enhanced-resolve';
import fastGlob from 'fast-glob';
import { fdir } from 'fdir';
import { glob } from 'glob';
import gracefulFs from 'graceful-fs';
import git from 'isomorphic-git';
import { createFsFromVolume, Volume } from 'memfs';
import { glob as tinyglobby } from 'tinyglobby';
import { Union } from 'unionfs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Mount, mount } from '../../src/mount.ts';
import { type MemoryServer, memoryServer } from '../../src/testing/index.ts';

const skill = (name: string) => `---\nname: ${name}\ndescription: About ${name}\n---\n`;
const files = {
  'acme/billing/refunds/SKILL.md': skill('refunds'),
  'acme/billing/refunds/references/policy.md': 'policy',
  'acme/billing/refunds/index.js': 'module.exports = 1;',
  'acme/billing/refunds/package.json': '{"main":"index.js"}',
  'notes/SKILL.md': skill('notes'),
  'notes/a b.txt': 'space',
};
const paths = Object.keys(files)
  .map((path) => `/mcp/s/${path}`)
  .sort();

let server: MemoryServer;
let mounted: Mount;
beforeAll(async () => {
  server = await memoryServer(files);
  mounted = mount({ servers: { s: server.client } });
  await mounted.preload();
});
afterAll(async () => {
  await mounted.close();
  await server.close();
});

describe('libraries that take an fs work over a mount', () => {
  test('glob', async () => {
    expect((await glob('/mcp/s/**/*', { fs: mounted.fs, nodir: true })).sort()).toEqual(paths);
  });

  test('fast-glob', async () => {
    expect((await fastGlob('**/*', { fs: mounted.fs, cwd: '/mcp/s', absolute: true })).sort()).toEqual(paths);
    expect(fastGlob.sync('**/SKILL.md', { fs: mounted.fs, cwd: '/mcp/s' }).sort()).toEqual([
      'acme/billing/refunds/SKILL.md',
      'notes/SKILL.md',
    ]);
  });

  test('tinyglobby', async () => {
    expect((await tinyglobby('**/*', { fs: mounted.fs, cwd: '/mcp/s', absolute: true })).sort()).toEqual(paths);
  });

  test('fdir', async () => {
    expect((await new fdir({ fs: mounted.fs }).withFullPaths().crawl('/mcp/s').withPromise()).sort()).toEqual(paths);
    expect(new fdir({ fs: mounted.fs }).withFullPaths().crawl('/mcp/s').sync().sort()).toEqual(paths);
  });

  test('graceful-fs', async () => {
    const graceful = gracefulFs.gracefulify({ ...mounted.fs });
    await expect(
      new Promise((resolve, reject) =>
        graceful.readFile('/mcp/s/notes/a b.txt', 'utf8', (error, text) => (error ? reject(error) : resolve(text))),
      ),
    ).resolves.toBe('space');
    expect(graceful.readdirSync('/mcp/s')).toEqual(['acme', 'notes']);
  });

  test('fs-extra and chokidar, which find it in node:fs', () => {
    const script = new URL('../support/patched-fs.mjs', import.meta.url).pathname;
    const saw = JSON.parse(execFileSync(process.execPath, [script], { encoding: 'utf8' }));
    expect(saw).toMatchObject({ text: 'space', exists: [false, true], names: ['notes'] });
    expect(saw.events).toEqual(
      expect.arrayContaining([
        'add /mcp/s/notes/SKILL.md',
        'add /mcp/s/notes/a b.txt',
        'change /mcp/s/notes/a b.txt',
        'add /mcp/s/notes/new.txt',
      ]),
    );
  });

  test('enhanced-resolve', () => {
    const resolve = enhancedResolve.create.sync({ fileSystem: mounted.fs as never, extensions: ['.js'] });
    expect(resolve('/mcp/s/acme', './billing/refunds')).toBe('/mcp/s/acme/billing/refunds/index.js');
  });

  test('memfs, as the source of a volume and beside it in unionfs', () => {
    const volume = Volume.fromJSON({ '/local/mine/SKILL.md': 'local' });
    const union = new Union();
    union.use(createFsFromVolume(volume) as never).use(mounted.fs as never);
    expect(union.readFileSync('/local/mine/SKILL.md', 'utf8')).toBe('local');
    expect(union.readFileSync('/mcp/s/notes/a b.txt', 'utf8')).toBe('space');
    expect(union.existsSync('/mcp/s/none')).toBe(false);
    expect((union.readdirSync('/mcp/s') as string[]).sort()).toEqual(['acme', 'notes']);
  });

  test('isomorphic-git reads a repository', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'skillfs-git-'));
    const real = await import('node:fs');
    const author = { name: 'Ada', email: 'ada@example.com' };
    await git.init({ fs: real, dir: directory, defaultBranch: 'main' });
    real.writeFileSync(join(directory, 'file.txt'), 'content');
    await git.add({ fs: real, dir: directory, filepath: 'file.txt' });
    await git.commit({ fs: real, dir: directory, message: 'first', author });
    const repository: Record<string, string | Uint8Array> = { 'repo/SKILL.md': skill('repo') };
    for (const path of real.readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
      const full = join(directory, path);
      if (real.statSync(full).isFile()) repository[`repo/${path}`] = readFileSync(full);
    }
    rmSync(directory, { recursive: true });
    const volume = Volume.fromJSON({});
    for (const [path, content] of Object.entries(repository)) {
      volume.mkdirSync(`/${path}/..`, { recursive: true });
      volume.writeFileSync(`/${path}`, content);
    }
    const hosted = await memoryServer(volume);
    const held = mount({ servers: { s: hosted.client } });
    expect(await git.log({ fs: held.fs, dir: '/mcp/s/repo' })).toMatchObject([{ commit: { message: 'first\n' } }]);
    await held.close();
    await hosted.close();
  });
});

test('watchFile tells what a refresh changes', async () => {
  const hosted = await memoryServer(files);
  const held = mount({ servers: { s: hosted.client } });
  await held.ready();
  const changed = new Promise<string>((resolve) => {
    held.fs.watchFile('/mcp/s/notes/a b.txt', (now, before) => resolve(`${before.size} ${now.size}`));
  });
  await hosted.update({ ...files, 'notes/a b.txt': 'changed' });
  await held.refresh();
  expect(await changed).toBe('5 7');
  held.fs.unwatchFile('/mcp/s/notes/a b.txt');
  await held.close();
  await hosted.close();
});
