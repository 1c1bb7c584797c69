import { spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Mount, mount } from '../../src/mount.ts';
import type { MountOptions } from '../../src/options.ts';

const cli = new URL('../../dist/cli.js', import.meta.url).pathname;
const index = new URL('../../dist/index.js', import.meta.url).href;
const fixtures = new URL('../../fixtures/skills', import.meta.url).pathname;
const faulty = new URL('../support/stdio-server.mjs', import.meta.url).pathname;

function faultyServer(options: Record<string, unknown>) {
  return { command: process.execPath, args: [faulty, JSON.stringify(options)] };
}

function mounted(servers: MountOptions['servers'], options: Omit<MountOptions, 'servers'> = {}): Mount {
  const mounted = mount({ servers, ...options });
  onTestFinished(() => mounted.close());
  return mounted;
}

/** What one of the fixtures asks for would be masked, and its bytes others. */
const AS_WRITTEN = { policy: { grants: { s: ['skill://acme/billing/refunds/SKILL.md'] } } };

/** What a loader does that knows nothing but synchronous calls. */
function readEverything(fs: Mount['fs'], directory: string): Record<string, string> {
  const files: Record<string, string> = {};
  for (const name of fs.readdirSync(directory)) {
    const path = `${directory}/${name}`;
    if (fs.statSync(path).isDirectory()) Object.assign(files, readEverything(fs, path));
    else files[path] = fs.readFileSync(path).toString('base64');
  }
  return files;
}

function onDisk(): Record<string, string> {
  const paths = readdirSync(fixtures, { recursive: true, encoding: 'utf8' });
  const files = paths.filter((path) => !statSync(`${fixtures}/${path}`).isDirectory());
  return Object.fromEntries(
    files.map((path) => [`/mcp/s/${path}`, readFileSync(`${fixtures}/${path}`).toString('base64')]),
  );
}

/** Runs a script in a process of its own, and waits for it to end by itself. */
function run(
  script: string,
  flags: readonly string[] = [],
  env: Record<string, string> = {},
): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, '--input-type=module', '-e', script], {
    encoding: 'utf8',
    timeout: 25_000,
    env: { ...process.env, ...env },
  });
  return { status, stdout, stderr };
}

test('a synchronous loader reads a stdio server, cold', () => {
  const { fs } = mounted(
    { s: { command: process.execPath, args: [cli, 'serve', fixtures], stderr: 'ignore' } },
    AS_WRITTEN,
  );
  expect(readEverything(fs, '/mcp/s')).toEqual(onDisk());
});

test('a synchronous loader reads an HTTP server of another process, cold', async () => {
  const server = spawn(process.execPath, [cli, 'serve', fixtures, '--http', '0'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(() => void server.kill());
  const url = await new Promise<string>((resolve) => {
    server.stderr.on('data', (chunk) => {
      const [found] = /http:\/\/\S+/.exec(String(chunk)) ?? [];
      if (found !== undefined) resolve(found);
    });
  });
  const { fs } = mounted({ s: { url } }, AS_WRITTEN);
  expect(readEverything(fs, '/mcp/s')).toEqual(onDisk());
});

test('metadata and cached content never cross the thread', async () => {
  const held = mounted({ s: faultyServer({}) });
  await held.preload();
  await held.close();
  expect(held.fs.readdirSync('/mcp/s/faulty')).toEqual(['SKILL.md', 'x.md', 'y.md']);
  expect(held.fs.readFileSync('/mcp/s/faulty/y.md', 'utf8')).toBe('y');
});

test('a server that hangs ends a blocked call at its deadline, and the next call works', () => {
  const { fs } = mounted({ s: faultyServer({ hangOnRead: true }) }, { deadlines: { request: 300 } });
  expect(() => fs.readFileSync('/mcp/s/faulty/x.md')).toThrow(
    expect.objectContaining({ code: 'ETIMEDOUT', message: expect.stringContaining('server "s"') }),
  );
  expect(fs.readFileSync('/mcp/s/faulty/y.md', 'utf8')).toBe('y');
});

test('a server that exits while it is asked is not reachable, and is started again by the next call', () => {
  const { fs } = mounted({ s: faultyServer({ exitOnRead: true }) });
  expect(() => fs.readFileSync('/mcp/s/faulty/x.md')).toThrow(
    expect.objectContaining({ code: 'EHOSTUNREACH', message: expect.stringContaining('server "s"') }),
  );
  expect(fs.readFileSync('/mcp/s/faulty/y.md', 'utf8')).toBe('y');
});

test('a server that cannot be started says so, at once and to everybody, and takes nobody with it', async () => {
  const { fs, promises } = mounted({ dead: { command: '/no/such/command' }, s: faultyServer({}) });
  for (let round = 0; round < 2; round++) {
    expect(() => fs.readdirSync('/mcp/dead')).toThrow(
      expect.objectContaining({
        code: 'EHOSTUNREACH',
        message: expect.stringMatching(/server "dead".*\/no\/such\/command/),
      }),
    );
  }
  await expect(promises.readdir('/mcp/dead')).rejects.toMatchObject({ code: 'EHOSTUNREACH' });
  expect(fs.readFileSync('/mcp/s/faulty/y.md', 'utf8')).toBe('y');
});

test('NEG-4: a 2025-era server that exits at the negotiation probe is started again without it', async () => {
  const { fs } = mounted({ s: faultyServer({ exitOnProbe: true }) });
  expect(fs.readFileSync('/mcp/s/faulty/y.md', 'utf8')).toBe('y');
});

test('whoever asks for the same at the same time shares one answer', async () => {
  const held = mounted({ s: faultyServer({ badEntry: true }) });
  const refused: string[] = [];
  held.on('diagnostic', ({ code }) => refused.push(code));
  await Promise.all(Array.from({ length: 20 }, () => held.promises.readdir('/mcp/s')));
  expect(refused).toEqual(['refused']);
  const reads = await Promise.all(Array.from({ length: 20 }, () => held.promises.readFile('/mcp/s/faulty/y.md')));
  for (const [index, bytes] of reads.entries()) bytes.write(String(index % 10));
  expect(reads.map(String)).toEqual(reads.map((_, index) => String(index % 10)));
});

test('NEG-3: the client declares the extension among its capabilities', () => {
  const { fs } = mounted({ s: faultyServer({ echoCapabilities: true }) });
  expect(JSON.parse(fs.readFileSync('/mcp/s/faulty/y.md', 'utf8'))).toMatchObject({
    extensions: { 'io.modelcontextprotocol/skills': {} },
  });
});

test('environment and working directory of a stdio server are those of the config', async () => {
  const cwd = await mkdtemp(join(tmpdir(), 'skillfs-cwd-'));
  const { fs } = mounted({
    env: { ...faultyServer({ env: 'SKILLFS_TEST' }), env: { SKILLFS_TEST: 'from the config' } },
    cwd: { ...faultyServer({ cwd: true }), cwd },
  });
  expect(fs.readFileSync('/mcp/env/faulty/y.md', 'utf8')).toBe('from the config');
  expect(fs.readFileSync('/mcp/cwd/faulty/y.md', 'utf8')).toBe(cwd);
});

test('a script whose only work is one cold await prints the bytes and exits', () => {
  const server = JSON.stringify(faultyServer({}));
  const { status, stdout, stderr } = run(`
    import { mount } from ${JSON.stringify(index)};
    const { promises } = mount({ servers: { s: ${server} } });
    console.log(await promises.readFile('/mcp/s/faulty/y.md', 'utf8'));
  `);
  expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: 'y\n', stderr: '' });
});

test('a process that mounted and read synchronously exits by itself, whatever it leaves open', () => {
  const server = JSON.stringify(faultyServer({ hangOnRead: true }));
  const { status, stdout } = run(`
    import { mount } from ${JSON.stringify(index)};
    const { fs } = mount({ servers: { s: ${server} }, deadlines: { request: 300 } });
    try { fs.readFileSync('/mcp/s/faulty/x.md') } catch ({ code }) { console.log(code) }
    console.log(fs.readFileSync('/mcp/s/faulty/y.md', 'utf8'));
  `);
  expect({ status, stdout }).toEqual({ status: 0, stdout: 'ETIMEDOUT\ny\n' });
});

test.each(['worker', 'host'])(
  'a server that ignores the end of its input is ended with the host (%s thread)',
  async (thread) => {
    const pidFile = join(await mkdtemp(join(tmpdir(), 'skillfs-pid-')), 'pid');
    const server = JSON.stringify(faultyServer({ ignoreEof: true, pidFile }));
    const { status } = run(`
    import { mount } from ${JSON.stringify(index)};
    await mount({ servers: { s: ${server} }, thread: '${thread}' }).ready();
    process.exit();
  `);
    expect(status).toBe(0);
    await expect.poll(() => isRunning(Number(readFileSync(pidFile, 'utf8')))).toBe(false);
  },
);

test('after SIGKILL of the host no server that honours the end of its input is left', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'skillfs-kill-'));
  const pidFile = join(directory, 'pid');
  const script = join(directory, 'host.mjs');
  writeFileSync(
    script,
    `import { mount } from ${JSON.stringify(index)};
    mount({ servers: { s: ${JSON.stringify(faultyServer({ pidFile }))} } }).fs.readdirSync('/mcp/s');
    console.log('ready');
    setInterval(() => {}, 1000);`,
  );
  const host = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((resolve) => host.stdout.once('data', resolve));
  const pid = Number(readFileSync(pidFile, 'utf8'));
  expect(isRunning(pid)).toBe(true);
  host.kill('SIGKILL');
  await expect.poll(() => isRunning(pid)).toBe(false);
});

test.each(['worker', 'host'])(
  'a server that never answers ends with its host, however it ends (%s)',
  async (thread) => {
    const pidFile = join(await mkdtemp(join(tmpdir(), 'skillfs-pid-')), 'pid');
    const silent = `require('fs').writeFileSync(${JSON.stringify(pidFile)}, String(process.pid)); setTimeout(() => {}, 60_000)`;
    const { stdout, status } = run(`
    import { mount } from '${index}';
    const server = { command: process.execPath, args: ['--eval', ${JSON.stringify(silent)}] };
    const skills = mount({ servers: { s: server }, thread: '${thread}', deadlines: { connect: 1_500 } });
    await skills.promises.readdir('/mcp/s').catch(({ code }) => console.log(code));
    process.exit(0);`);
    expect([stdout, status]).toEqual(['ETIMEDOUT\n', 0]);
    await expect.poll(() => isRunning(Number(readFileSync(pidFile, 'utf8')))).toBe(false);
  },
);

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

const workers = new URL('../support/workers/', import.meta.url);

describe('a worker that ends takes nobody with it', () => {
  test.each(['exit', 'stuck'])('%s: a blocked call ends with an error, and so does a waiting one', async (how) => {
    const held = mounted({ s: faultyServer({}) }, { worker: new URL(`${how}.mjs`, workers) });
    expect(() => held.fs.readdirSync('/mcp/s')).toThrow(
      expect.objectContaining({
        code: 'EIO',
        message: expect.stringContaining('the worker that talks to the servers'),
      }),
    );
    if (how === 'stuck') return;
    await expect(held.promises.readdir('/mcp/s')).rejects.toMatchObject({ code: 'EIO' });
  });

  test('out of memory: a blocked call ends with an error, and the process ends by itself', () => {
    const worker = JSON.stringify(new URL('out-of-memory.mjs', workers).href);
    const { status, stdout } = run(
      `
      import { mount } from ${JSON.stringify(index)};
      const servers = { s: ${JSON.stringify(faultyServer({}))} };
      const { fs, promises } = mount({ servers, worker: new URL(${worker}), retryAfter: 0 });
      try { fs.readdirSync('/mcp/s') } catch ({ code }) { console.log(code) }
      await promises.readdir('/mcp/s').catch(({ code }) => console.log(code));
    `,
      ['--max-old-space-size=64'],
    );
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'EIO\nEIO\n' });
  });

  test('code that is nowhere says how to find it', () => {
    const { fs } = mounted({ s: faultyServer({}) }, { worker: new URL('none.mjs', workers) });
    expect(() => fs.readdirSync('/mcp/s')).toThrow(
      expect.objectContaining({ code: 'EIO', message: expect.stringContaining('none.mjs') }),
    );
  });
});

test.each(['on the command line', 'in the environment'])(
  'hooks of the host (%s) are not the worker’s',
  async (where) => {
    const directory = await mkdtemp(join(tmpdir(), 'skillfs-hook-'));
    const hook = join(directory, 'hook.mjs');
    writeFileSync(
      hook,
      `import { isMainThread } from 'node:worker_threads'; import { appendFileSync } from 'node:fs';
    appendFileSync(${JSON.stringify(join(directory, 'log'))}, isMainThread ? 'main\\n' : 'worker\\n');`,
    );
    const { status, stdout } = run(
      `
    import { mount } from ${JSON.stringify(index)};
    console.log(mount({ servers: { s: ${JSON.stringify(faultyServer({}))} } }).fs.readFileSync('/mcp/s/faulty/y.md', 'utf8'));
  `,
      where === 'on the command line' ? ['--import', hook] : [],
      where === 'on the command line' ? {} : { NODE_OPTIONS: `--import ${hook}` },
    );
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'y\n' });
    expect(readFileSync(join(directory, 'log'), 'utf8')).toBe('main\n');
  },
);
