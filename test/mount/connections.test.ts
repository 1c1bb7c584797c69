import { readFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Mount, mount } from '../../src/mount.ts';
import type { MountOptions } from '../../src/options.ts';
import type { HttpServer } from '../../src/protocol/server-config.ts';
import { memoryServer } from '../../src/testing/index.ts';
import { httpScript } from '../support/http-script.ts';
import { rejection } from '../support/mounted.ts';
import { fileOf, scriptedSkill, skillMd } from '../support/scripted-server.ts';

const files = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`f${index}.md`, `content ${index}`]));
const skills = [scriptedSkill('tool', files)];
const paths = Object.keys(files).map((file) => `/mcp/s/tool/${file}`);
const stdio = new URL('../support/stdio-server.mjs', import.meta.url).pathname;

function mounted(source: MountOptions['servers'][string], options: Omit<MountOptions, 'servers'> = {}): Mount {
  const held = mount({ servers: { s: source }, thread: 'host', ...options });
  onTestFinished(() => held.close());
  return held;
}

async function readAll({ promises }: Mount): Promise<string[]> {
  return Promise.all(paths.map((path) => promises.readFile(path, 'utf8')));
}

function deny(response: ServerResponse, status: number, headers: Record<string, string> = {}): true {
  response.writeHead(status, headers).end();
  return true;
}

describe('a session that the server forgot', () => {
  test('is opened anew once for all who ask, and every question is asked again', async () => {
    const server = await httpScript({ skills }, { era: 'legacy' });
    const held = mounted({ url: server.url });
    await held.ready();
    server.forgetSessions();
    expect(await readAll(held)).toEqual(Object.values(files));
    expect(server.opened()).toBe(2);
  });

  test('is not opened without end by a server that forgets at once', async () => {
    const server = await httpScript(
      { skills },
      {
        era: 'legacy',
        before: (_request, response, method) => method === 'resources/read' && deny(response, 404),
      },
    );
    const held = mounted({ url: server.url });
    await held.ready();
    const error = await rejection(held.promises.readFile('/mcp/s/tool/f0.md'));
    expect(error).toMatchObject({ code: 'EIO', message: expect.stringContaining('server "s"') });
    expect(server.opened()).toBe(2);
  });
});

describe('credentials', () => {
  const bearer = (token: string) => `Bearer ${token}`;

  test('that are missing are EACCES, naming the server', async () => {
    const server = await httpScript({ skills }, { before: (_request, response) => deny(response, 401) });
    const error = await rejection(mounted({ url: server.url }).promises.readdir('/mcp/s'));
    expect(error).toMatchObject({ code: 'EACCES' });
    expect(error.message).toMatch(/server "s": authentication is needed/);
  });

  test.each(['modern', 'legacy'] as const)('that expire are renewed once for all who ask (%s)', async (era) => {
    let valid = 'one';
    const server = await httpScript(
      { skills },
      {
        era,
        before: ({ headers }, response) => headers.authorization !== bearer(valid) && deny(response, 401),
      },
    );
    let token = 'one';
    let renewals = 0;
    const authProvider: HttpServer['authProvider'] = {
      token: async () => token,
      onUnauthorized: async () => {
        renewals++;
        await new Promise((resolve) => setTimeout(resolve, 20));
        token = valid;
      },
    };
    const held = mounted({ url: server.url, authProvider });
    await held.ready();
    valid = 'two';
    expect(await readAll(held)).toEqual(Object.values(files));
    expect(renewals).toBe(1);
  });

  test('of OAuth are refreshed once for all who ask, by the SDK', async () => {
    let valid = 'one';
    let refreshes = 0;
    const json = (response: ServerResponse, value: unknown): true => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
      return true;
    };
    const server = await httpScript(
      { skills },
      {
        before(request, response) {
          const origin = `http://${request.headers.host}`;
          const path = request.url ?? '';
          if (path.startsWith('/.well-known/oauth-protected-resource')) {
            return json(response, { resource: `${origin}/mcp`, authorization_servers: [origin] });
          }
          if (path.startsWith('/.well-known/')) {
            return json(response, {
              issuer: origin,
              authorization_endpoint: `${origin}/authorize`,
              token_endpoint: `${origin}/token`,
              response_types_supported: ['code'],
              code_challenge_methods_supported: ['S256'],
            });
          }
          if (path === '/token') {
            refreshes++;
            return json(response, { access_token: valid, token_type: 'Bearer', refresh_token: `r${refreshes}` });
          }
          return request.headers.authorization !== bearer(valid) && deny(response, 401);
        },
      },
    );
    let tokens: Record<string, string> = { access_token: 'one', token_type: 'Bearer', refresh_token: 'r0' };
    const authProvider = {
      redirectUrl: 'http://127.0.0.1/callback',
      clientMetadata: { redirect_uris: ['http://127.0.0.1/callback'] },
      clientInformation: () => ({ client_id: 'skillfs' }),
      tokens: () => tokens,
      saveTokens: (saved: Record<string, string>) => {
        tokens = saved;
      },
      redirectToAuthorization: () => {
        throw new Error('nobody is there to log in');
      },
      saveCodeVerifier: () => {},
      codeVerifier: () => '',
    } as unknown as NonNullable<HttpServer['authProvider']>;
    const held = mounted({ url: server.url, authProvider });
    await held.ready();
    valid = 'two';
    expect(await readAll(held)).toEqual(Object.values(files));
    expect(refreshes).toBe(1);
  });

  test('that cannot be renewed are EACCES', async () => {
    const server = await httpScript({ skills }, { before: (_request, response) => deny(response, 401) });
    const held = mounted({
      url: server.url,
      authProvider: { token: async () => 'old', onUnauthorized: async () => {} },
    });
    expect(await rejection(held.promises.readdir('/mcp/s'))).toMatchObject({
      code: 'EACCES',
      message: expect.stringContaining('server "s"'),
    });
  });

  test('of a provider keep the server in this thread, and a synchronous read says so', async () => {
    const server = await httpScript({ skills });
    const held = mounted({ url: server.url, authProvider: { token: async () => 'one' } }, { thread: 'worker' });
    await held.ready();
    expect(() => held.fs.readFileSync('/mcp/s/tool/f0.md')).toThrow(
      expect.objectContaining({ code: 'EAGAIN', message: expect.stringMatching(/authProvider cannot leave/) }),
    );
    expect(await held.promises.readFile('/mcp/s/tool/f0.md', 'utf8')).toBe('content 0');
  });
});

test('a fetch of the host is used for every request, in this thread', async () => {
  const server = await httpScript({ skills });
  const fetched: string[] = [];
  const held = mounted(
    {
      url: server.url,
      fetch: (url, init) => {
        fetched.push(init?.method ?? 'GET');
        return fetch(url, init);
      },
    },
    { thread: 'worker' },
  );
  expect(await held.promises.readFile('/mcp/s/tool/f0.md', 'utf8')).toBe('content 0');
  expect(fetched.length).toBeGreaterThanOrEqual(3);
  expect(() => held.fs.readFileSync('/mcp/s/tool/f1.md')).toThrow(/its fetch cannot leave/);
});

describe('a server that is busy', () => {
  test.each([429, 503])('is asked again after the time it asked for (%i)', async (status) => {
    let denied = 0;
    const server = await httpScript(
      { skills },
      {
        before: (_request, response, method) =>
          method === 'resources/read' && denied++ === 0 && deny(response, status, { 'retry-after': '0' }),
      },
    );
    const held = mounted({ url: server.url });
    expect(await held.promises.readFile('/mcp/s/tool/f0.md', 'utf8')).toBe('content 0');
    expect(denied).toBe(2);
  });

  test.each([
    ['seconds', () => '3600'],
    ['a date', () => new Date(Date.now() + 3_600_000).toUTCString()],
  ])('and asks for more time than there is (%s) says so', async (_how, retryAfter) => {
    const server = await httpScript(
      { skills },
      {
        before: (_request, response, method) =>
          method === 'resources/read' && deny(response, 429, { 'retry-after': retryAfter() }),
      },
    );
    const error = await rejection(mounted({ url: server.url }).promises.readFile('/mcp/s/tool/f0.md'));
    expect(error).toMatchObject({ code: 'EHOSTUNREACH' });
    expect(error.message).toMatch(/server "s": busy .*HTTP 429, and it asked to wait (3600|3599) s/);
  });

  test('already when it is connected to says so', async () => {
    const server = await httpScript(
      { skills },
      { before: (_request, response) => deny(response, 503, { 'retry-after': '120' }) },
    );
    const error = await rejection(mounted({ url: server.url }).promises.readdir('/mcp/s'));
    expect(error).toMatchObject({ code: 'EHOSTUNREACH', message: expect.stringContaining('asked to wait 120 s') });
  });
});

describe('cancellation reaches the server', () => {
  /** A read that never ends, and what the server sees of its end. */
  function hanging() {
    let started = () => {};
    const asked = new Promise<void>((resolve) => {
      started = resolve;
    });
    let cancelled = () => {};
    const seen = new Promise<void>((resolve) => {
      cancelled = resolve;
    });
    const read = (uri: string, signal?: AbortSignal) => {
      if (!uri.endsWith('f0.md')) return fileOf(skills, uri);
      started();
      return new Promise((_, reject) => {
        signal?.addEventListener('abort', () => {
          cancelled();
          reject(signal.reason);
        });
      });
    };
    return { asked, seen, read };
  }

  test.each(['modern', 'legacy'] as const)('when the caller gives up (%s)', async (era) => {
    const { asked, seen, read } = hanging();
    const server = await httpScript({ skills, read }, { era });
    const held = mounted({ url: server.url });
    const abort = new AbortController();
    const reading = held.promises.readFile('/mcp/s/tool/f0.md', { signal: abort.signal });
    await asked;
    abort.abort();
    expect(await rejection(reading)).toMatchObject({ name: 'AbortError' });
    await seen;
    expect(server.messages.includes('notifications/cancelled')).toBe(era === 'legacy');
  });

  test('at the deadline, from the worker', async () => {
    const { seen, read } = hanging();
    const server = await httpScript({ skills, read });
    const held = mounted({ url: server.url }, { thread: 'worker', deadlines: { request: 300 } });
    expect(await rejection(held.promises.readFile('/mcp/s/tool/f0.md'))).toMatchObject({ code: 'ETIMEDOUT' });
    await seen;
  });

  test('only when nobody waits any more', async () => {
    let answer = (_value: unknown) => {};
    const late = new Promise((resolve) => {
      answer = resolve;
    });
    let server: AbortSignal | undefined;
    const { url } = await httpScript({
      skills,
      read(uri, signal) {
        if (!uri.endsWith('f0.md')) return fileOf(skills, uri);
        server = signal;
        return late;
      },
    });
    const held = mounted({ url });
    const abort = new AbortController();
    const gone = held.promises.readFile('/mcp/s/tool/f0.md', { signal: abort.signal });
    const stays = held.promises.readFile('/mcp/s/tool/f0.md', 'utf8');
    await expect.poll(() => server).toBeDefined();
    abort.abort();
    await rejection(gone);
    await held.promises.readFile('/mcp/s/tool/f1.md');
    expect(server?.aborted).toBe(false);
    answer(fileOf(skills, 'skill://tool/f0.md'));
    expect(await stays).toBe('content 0');
  });
});

describe('a connection that breaks under a read', () => {
  test.each(['before the answer', 'in the answer', 'in an event stream'])('is replaced, once (%s)', async (where) => {
    let cuts = 0;
    const server = await httpScript(
      { skills },
      {
        before(_request, response, method) {
          if (method !== 'resources/read' || cuts++ > 0) return false;
          if (where === 'before the answer') response.destroy();
          else {
            const type = where === 'in the answer' ? 'application/json' : 'text/event-stream';
            response.writeHead(200, { 'content-type': type });
            response.write(type === 'application/json' ? '{"jsonrpc":' : ': waiting\n\n');
            setTimeout(() => response.destroy(), 10);
          }
          return true;
        },
      },
    );
    expect(await mounted({ url: server.url }).promises.readFile('/mcp/s/tool/f0.md', 'utf8')).toBe('content 0');
    expect(cuts).toBe(2);
  });

  test('and breaks again is not reachable', async () => {
    let cuts = 0;
    const server = await httpScript(
      { skills },
      {
        before(_request, response, method) {
          if (method !== 'resources/read') return false;
          cuts++;
          response.destroy();
          return true;
        },
      },
    );
    const error = await rejection(mounted({ url: server.url }).promises.readFile('/mcp/s/tool/f0.md'));
    expect(error).toMatchObject({ code: 'EHOSTUNREACH', message: expect.stringContaining('server "s"') });
    expect(cuts).toBe(2);
  });

  test('because the process ended is made to a new process', async () => {
    const log = join(await mkdtemp(join(tmpdir(), 'skillfs-starts-')), 'starts');
    const args = [stdio, JSON.stringify({ startLog: log, exitOnFirstRead: true })];
    const held = mounted({ command: process.execPath, args });
    expect(await held.promises.readFile('/mcp/s/faulty/x.md', 'utf8')).toBe('x');
    expect(starts(log)).toBe(2);
  });
});

function starts(log: string): number {
  return readFileSync(log, 'utf8').trim().split('\n').length;
}

describe('a server that keeps failing is left alone for a while', () => {
  test('one that dies at each start', async () => {
    const log = join(await mkdtemp(join(tmpdir(), 'skillfs-starts-')), 'starts');
    const held = mounted({
      command: process.execPath,
      args: [stdio, JSON.stringify({ startLog: log, exitAtOnce: true })],
    });
    await rejection(held.promises.readdir('/mcp/s'));
    const started = starts(log);
    for (let index = 0; index < 50; index++) {
      const error = await rejection(held.promises.readFile(`/mcp/s/faulty/${index}.md`));
      expect(error).toMatchObject({ code: 'EHOSTUNREACH' });
      expect(error.message).toMatch(/server "s": not reachable.*it is tried again in \d+ s/);
    }
    expect(starts(log)).toBe(started);
    expect(held.status()[0]).toMatchObject({ state: 'failed' });
    // Whoever asks for it explicitly is not kept waiting.
    await held.refresh();
    expect(starts(log)).toBeGreaterThan(started);
  });

  test('one that dies at each read', async () => {
    const log = join(await mkdtemp(join(tmpdir(), 'skillfs-starts-')), 'starts');
    const args = [stdio, JSON.stringify({ startLog: log, exitOnRead: true })];
    const held = mounted({ command: process.execPath, args });
    await held.ready();
    const errors = [];
    for (let index = 0; index < 20; index++) errors.push(await rejection(held.promises.readFile('/mcp/s/faulty/x.md')));
    expect(new Set(errors.map(({ code }) => code))).toEqual(new Set(['EHOSTUNREACH']));
    expect(errors.at(-1)?.message).toMatch(/it is tried again in \d+ s/);
    expect(starts(log)).toBeLessThan(8);
  });
});

describe('an answer that is too large is refused, and the server is used on', () => {
  test.each([
    ['application/json', ''],
    ['text/event-stream', 'event: message\ndata: '],
  ])('%s', async (type, start) => {
    const chunk = Buffer.alloc(1024 * 1024, 'x');
    const server = await httpScript(
      { skills },
      {
        before(request, response, method) {
          if (method !== 'resources/read' || request.headers['mcp-name']?.includes('f0.md') !== true) return false;
          response.on('error', () => {});
          response.writeHead(200, { 'content-type': type });
          response.write(`${start}{"jsonrpc":"2.0","id":0,"result":{"contents":[{"uri":"skill://tool/f0.md","text":"`);
          const more = () => {
            while (!response.destroyed && response.write(chunk));
            if (!response.destroyed) response.once('drain', more);
          };
          more();
          return true;
        },
      },
    );
    const held = mounted({ url: server.url });
    const error = await rejection(held.promises.readFile('/mcp/s/tool/f0.md'));
    expect(error).toMatchObject({ code: 'EFBIG' });
    expect(error.message).toMatch(/server "s".*larger than 67108864 bytes/);
    expect(await held.promises.readFile('/mcp/s/tool/f1.md', 'utf8')).toBe('content 1');
  });
});

test('a line without end over stdio is refused, and the server is started anew for the next read', async () => {
  const log = join(await mkdtemp(join(tmpdir(), 'skillfs-starts-')), 'starts');
  const args = [stdio, JSON.stringify({ startLog: log, floodOnRead: true })];
  const held = mounted({ command: process.execPath, args });
  const error = await rejection(held.promises.readFile('/mcp/s/faulty/x.md'));
  expect(error).toMatchObject({
    code: 'EFBIG',
    message: expect.stringMatching(/server "s".*larger than 67108864 bytes/),
  });
  expect(await held.promises.readFile('/mcp/s/faulty/y.md', 'utf8')).toBe('y');
  expect(starts(log)).toBe(2);
}, 60_000);

test('a slow server is waited for, not taken for one that has nothing', async () => {
  const server = await memoryServer({ 'tool/SKILL.md': skillMd('tool') });
  onTestFinished(() => server.close());
  server.faults.delay(400);
  expect(await mounted(server.client).promises.readdir('/mcp/s')).toEqual(['tool']);
});

describe('sixty servers, ten that never answer and ten that die', () => {
  test.each(['worker', 'host'] as const)('the forty others are usable (%s thread)', async (thread) => {
    const server = await httpScript(
      { skills },
      {
        before({ url }, response) {
          if (url?.startsWith('/mcp/hang') === true) return true;
          if (url?.startsWith('/mcp/dead') !== true) return false;
          response.destroy();
          return true;
        },
      },
    );
    const kind = (index: number) => (index < 10 ? 'hang' : index < 20 ? 'dead' : 'good');
    const labels = Array.from({ length: 60 }, (_, index) => `${kind(index)}${index}`);
    const servers = Object.fromEntries(labels.map((label) => [label, { url: `${server.url}/${label}` }]));
    const held = mount({ servers, thread, concurrency: { total: 4 }, deadlines: { connect: 60_000 } });
    onTestFinished(() => held.close());
    let ready = false;
    void held.ready().then(() => {
      ready = true;
    });
    const good = labels.filter((label) => label.startsWith('good'));
    const read = good.map((label) => held.promises.readFile(`/mcp/${label}/tool/f0.md`, 'utf8'));
    expect(new Set(await Promise.all(read))).toEqual(new Set(['content 0']));
    expect(ready).toBe(false);
    expect(held.skills()).toHaveLength(40);
  });

  test('and what became of each is told apart', async () => {
    const server = await httpScript(
      { skills },
      {
        before({ url }, response) {
          if (url === '/mcp/hang') return true;
          if (url !== '/mcp/dead') return false;
          response.destroy();
          return true;
        },
      },
    );
    const servers = Object.fromEntries(
      ['hang', 'dead', 'good'].map((name) => [name, { url: `${server.url}/${name}` }]),
    );
    const held = mount({ servers, thread: 'host', deadlines: { connect: 500 } });
    onTestFinished(() => held.close());
    const [hang, dead, good] = await held.ready();
    expect(hang).toMatchObject({ state: 'failed', lastError: { code: 'ETIMEDOUT' } });
    expect(hang?.lastError?.message).toMatch(/connecting took longer than 500 ms/);
    expect(dead).toMatchObject({ state: 'failed', lastError: { code: 'EHOSTUNREACH' } });
    expect(good).toMatchObject({ state: 'ready', skills: 1 });
  });

  test('closing does not wait for who never answers', async () => {
    const server = await httpScript({ skills }, { before: () => true });
    const held = mount({ servers: { s: { url: server.url } }, deadlines: { connect: 600_000 } });
    const asked = held.promises.readdir('/mcp/s');
    void asked.catch(() => {});
    await expect.poll(() => server.messages.length).toBeGreaterThan(0);
    await held.close();
    expect(await rejection(asked)).toMatchObject({ code: 'EIO' });
  });
});

test('ninety-nine servers are connected to, so many at a time as are allowed, and none is too late for it', async () => {
  let now = 0;
  let most = 0;
  const server = await httpScript(
    { skills },
    {
      before(_request, response, method) {
        if (method !== 'server/discover') return false;
        most = Math.max(most, ++now);
        response.on('close', () => now--);
        return false;
      },
    },
  );
  const servers = Object.fromEntries(Array.from({ length: 99 }, (_, index) => [`s${index}`, { url: server.url }]));
  const held = mount({ servers, thread: 'host', concurrency: { total: 6 } });
  onTestFinished(() => held.close());
  const states = (await held.ready()).map(({ state }) => state);
  expect(new Set(states)).toEqual(new Set(['ready']));
  expect(most).toBeLessThanOrEqual(6);
});
