import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Mount, mount } from '../../src/mount.ts';
import type { MountOptions } from '../../src/options.ts';
import { rejection } from '../support/mounted.ts';

const script = new URL('../support/stdio-server.mjs', import.meta.url).pathname;

function server(options: object, env: Record<string, string> = {}) {
  return { command: process.execPath, args: [script, JSON.stringify(options)], stderr: 'ignore' as const, env };
}

function mounted(servers: MountOptions['servers'], options: Partial<MountOptions> = {}): Mount {
  const held = mount({ servers, thread: 'host', ...options });
  onTestFinished(() => held.close());
  return held;
}

/** A file for the id of a helper process, which ends with the test. */
function helperFile(): string {
  const directory = mkdtempSync(join(tmpdir(), 'skillfs-helper-'));
  const file = join(directory, 'pid');
  onTestFinished(() => {
    process.kill(Number(readFileSync(file, 'utf8')), 'SIGKILL');
    rmSync(directory, { recursive: true });
  });
  return file;
}

test('what is no message on standard output, and megabytes on standard error, disturb nothing', async () => {
  const held = mounted({ s: server({ noise: true }) });
  expect(await held.promises.readFile('/mcp/s/faulty/y.md', 'utf8')).toBe('é☃𝒳');
});

describe('a server that leaves a process which holds its output', () => {
  test('ends with its own process: what is asked is asked of another', async () => {
    const starts = join(mkdtempSync(join(tmpdir(), 'skillfs-starts-')), 'starts');
    const held = mounted({ s: server({ helper: helperFile(), exitOnFirstRead: true, startLog: starts }) });
    expect(await held.promises.readFile('/mcp/s/faulty/x.md', 'utf8')).toBe('x');
    expect(readFileSync(starts, 'utf8')).toBe('start\nstart\n');
  });

  test.each(['worker', 'host'])('keeps no program alive that has closed its mount (%s)', (thread) => {
    const given = JSON.stringify({ servers: { s: server({ helper: helperFile() }) }, thread });
    const program = `
      import { mount } from ${JSON.stringify(new URL('../../dist/index.js', import.meta.url).href)};
      const held = mount(${given});
      console.log(await held.promises.readFile('/mcp/s/faulty/x.md', 'utf8'));
      await held.close();
    `;
    const run = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      encoding: 'utf8',
      timeout: 25_000,
    });
    expect({ status: run.status, stdout: run.stdout }).toEqual({ status: 0, stdout: 'x\n' });
  });
});

test('SEC-4: a server gets variables that are its own, and neither another’s nor the host’s', async () => {
  process.env['SKILLFS_TEST_HOST'] = 'host';
  onTestFinished(() => void delete process.env['SKILLFS_TEST_HOST']);
  const held = mounted({
    own: server({ env: 'TOKEN' }, { TOKEN: 'own' }),
    other: server({ env: 'TOKEN' }),
    host: server({ env: 'SKILLFS_TEST_HOST' }),
  });
  const read = (label: string) => held.promises.readFile(`/mcp/${label}/faulty/y.md`, 'utf8');
  expect(await Promise.all(['own', 'other', 'host'].map(read))).toEqual(['own', 'unset', 'unset']);
});

describe('a mount can be closed at any time', () => {
  const moments: [name: string, options: object, until: (held: Mount) => Promise<unknown>][] = [
    ['before anything is asked', {}, async () => {}],
    ['while it connects', { hangOn: 'initialize' }, async () => {}],
    [
      'while it lists',
      { hangOn: 'skills/list' },
      (held) => expect.poll(() => held.status()[0]?.connectMs).toBeDefined(),
    ],
    ['while it reads', { hangOnRead: true }, (held) => held.ready()],
    ['while it leaves a server alone that dies', { exitAtOnce: true }, (held) => held.ready()],
  ];
  test.each(moments)('%s', async (_name, options, until) => {
    const held = mounted({ s: server(options) });
    const asked = _name.startsWith('before') ? undefined : rejection(held.promises.readFile('/mcp/s/faulty/x.md'));
    await until(held);
    await held.close();
    const error = await asked;
    if (error !== undefined) expect(error.code).toMatch(/^(EIO|EHOSTUNREACH)$/);
    expect(await rejection(held.promises.readFile('/mcp/s/faulty/y.md'))).toMatchObject({ code: expect.any(String) });
    await held.close();
  });
});
