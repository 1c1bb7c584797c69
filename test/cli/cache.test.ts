import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { blobFiles, flipByte, temporaryDirectory } from '../content/support.ts';

const cli = new URL('../../dist/cli.js', import.meta.url).pathname;
const server = new URL('../support/stdio-server.mjs', import.meta.url).pathname;
const Y = 'y='.concat(`'${process.execPath}' '${server}'`);
const FILE = 'y/faulty/y.md';

function skillfs(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...args], {
    encoding: 'utf8',
    timeout: 25_000,
    env: { ...process.env, ...env },
  });
  return { status, stdout, stderr };
}

/** A user whose cache is empty. */
function user(): { env: NodeJS.ProcessEnv; directory: string } {
  const home = temporaryDirectory();
  const env = { HOME: home, XDG_CACHE_HOME: join(home, '.cache') };
  return { env, directory: join(home, '.cache/skillfs') };
}

test('CACHE-2: what was read once is read without its server, until the server is removed from the cache', () => {
  const { env, directory } = user();
  expect(skillfs(['cat', FILE, '--server', Y], env)).toEqual({ status: 0, stdout: 'y', stderr: '' });
  expect(blobFiles(directory)).toHaveLength(1);
  // The same command line, and a server that cannot be started: its cache is that of the server before.
  const gone = ['cat', FILE, '--server', Y, '--timeout', '1'];
  expect(skillfs(gone, env)).toMatchObject({ status: 0, stdout: 'y' });
  expect(skillfs([...gone, '--no-cache'], env).status).toBe(1);

  const listed = JSON.parse(skillfs(['cache', 'ls', '--json'], env).stdout);
  expect(listed).toEqual({
    directory,
    scopes: [
      {
        label: 'y',
        scope: expect.stringMatching(/^[0-9a-f-]+$/),
        files: 2,
        bytes: expect.any(Number),
        listedAt: expect.stringMatching(/^\d{4}-/),
      },
    ],
  });
  expect(skillfs(['cache', 'ls'], env).stdout).toMatch(/^y {7}[0-9a-f]{8} +2 +\d+ {2}listed 0 minutes ago$/m);

  expect(skillfs(['cache', 'rm', 'x'], env)).toMatchObject({
    status: 1,
    stdout: '',
    stderr: expect.stringContaining('nothing of the server "x" is kept'),
  });
  expect(skillfs(['cache', 'rm', 'y'], env)).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/^2 files of \d+ bytes: removed$/m),
  });
  expect(readdirSync(directory)).toEqual([]);
  expect(skillfs(gone, env).status).toBe(1);
});

test('CACHE-1: prune removes what is corrupt, and what is over the bound', () => {
  const { env, directory } = user();
  skillfs(['cat', FILE, 'y/faulty/SKILL.md', '--server', Y], env);
  const [file = ''] = blobFiles(directory);
  flipByte(file);
  expect(skillfs(['cache', 'prune'], env)).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/^1 file of \d+ bytes? corrupt, 0 files of 0 bytes left over, 0 files/),
  });
  expect(blobFiles(directory)).toHaveLength(1);
  expect(skillfs(['cache', 'prune', '--max-bytes', '1'], env).stdout).toMatch(/2 files of \d+ bytes over the bound/);
  expect(readdirSync(directory)).toEqual([]);
  expect(skillfs(['cache', 'prune', '--max-bytes', 'x'], env).status).toBe(2);
});

test('doctor and verify ask the server, whatever is kept', () => {
  const { env } = user();
  expect(skillfs(['ls', 'y', '--server', Y], env).status).toBe(0);
  for (const command of ['doctor', 'verify']) {
    expect(skillfs([command, '--server', Y, '--timeout', '1'], env).status).toBe(1);
  }
});

test('CACHE-1: a directory that cannot be used is refused where it was asked for, and done without where it was not', () => {
  const { env, directory } = user();
  mkdirSync(join(directory, '../elsewhere'), { recursive: true });
  symlinkSync('elsewhere', directory);
  const read = skillfs(['cat', FILE, '--server', Y], env);
  expect(read).toMatchObject({ status: 0, stdout: 'y', stderr: expect.stringContaining('symbolic link') });
  expect(readdirSync(join(directory, '../elsewhere'))).toEqual([]);
  for (const args of [
    ['cat', FILE, '--server', Y, '--cache-dir', directory],
    ['cache', 'ls'],
    ['cache', 'rm', 'y', '--cache-dir', join(env['HOME'] ?? '', '.claude/x')],
  ]) {
    expect(skillfs(args, env)).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining('is not used') });
  }
});
