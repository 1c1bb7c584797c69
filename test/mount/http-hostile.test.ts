import type { IncomingMessage, ServerResponse } from 'node:http';
import { createGzip } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Mount, mount } from '../../src/mount.ts';
import type { HttpServer } from '../../src/protocol/server-config.ts';
import { type HttpScriptOptions, httpScript } from '../support/http-script.ts';
import { rejection } from '../support/mounted.ts';
import { scriptedSkill } from '../support/scripted-server.ts';

const skills = [scriptedSkill('tool', { 'x.md': 'x', 'y.md': 'y' })];
const json = { 'content-type': 'application/json' };

function mounted(server: HttpServer, deadline = 10_000): Mount {
  const deadlines = { connect: deadline, request: deadline };
  const held = mount({ servers: { s: server }, thread: 'host', deadlines });
  onTestFinished(() => held.close());
  return held;
}

/** Answers the reading of x.md in a way of its own, everything else as it should be. */
function onRead(answer: (request: IncomingMessage, response: ServerResponse) => void): HttpScriptOptions {
  return {
    before(request, response, method) {
      if (method !== 'resources/read' || request.headers['mcp-name']?.includes('x.md') !== true) return false;
      answer(request, response);
      return true;
    },
  };
}

describe('RD-1, ERR-1: an answer that is none is a failure, and the server is used on', () => {
  const answers: [name: string, code: string, answer: Parameters<typeof onRead>[0]][] = [
    ['204', 'EIO', (_, response) => response.writeHead(204).end()],
    ['a page of HTML', 'EIO', (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>')],
    ['HTML that says it is JSON', 'EIO', (_, response) => response.writeHead(200, json).end('<p>')],
    ['nothing', 'EIO', (_, response) => response.writeHead(200, json).end()],
    ['no type', 'EIO', (_, response) => response.writeHead(200).end('{}')],
    [
      'JSON that is no message',
      'EIO',
      (_, response) => response.writeHead(200, json).end('{"jsonrpc":"2.0","id":1,"result":null}'),
    ],
    [
      'another encoding than it says',
      'EIO',
      (_, response) => response.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end('{}'),
    ],
    [
      'events without sense',
      'EHOSTUNREACH',
      (_, response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end('data: {\n\n'),
    ],
    [
      'chunks that are none',
      'EIO',
      (_, response) =>
        response.socket?.end(
          'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nZZ\r\n',
        ),
    ],
    ['no HTTP', 'EHOSTUNREACH', (_, response) => response.socket?.end('SSH-2.0-x\r\n\r\n')],
    [
      'headers without end',
      'EHOSTUNREACH',
      (_, response) => response.writeHead(200, { ...json, x: 'x'.repeat(100_000) }).end('{}'),
    ],
    [
      'an answer for another request',
      'ETIMEDOUT',
      (_, response) => response.writeHead(200, json).end('{"jsonrpc":"2.0","id":777,"result":{}}'),
    ],
    ['a byte now and then', 'ETIMEDOUT', (_, response) => drip(response)],
  ];
  test.each(answers)('%s', async (_name, code, answer) => {
    const server = await httpScript({ skills }, onRead(answer));
    const held = mounted({ url: server.url }, 1_000);
    const error = await rejection(held.promises.readFile('/mcp/s/tool/x.md'));
    expect(error).toMatchObject({ code, message: expect.stringContaining('server "s"') });
    expect(error.message).not.toContain('\n');
    expect(await held.promises.readFile('/mcp/s/tool/y.md', 'utf8')).toBe('y');
  });
});

function drip(response: ServerResponse): void {
  response.writeHead(200, json);
  const timer = setInterval(() => response.write(' '), 20);
  response.on('close', () => clearInterval(timer));
}

test('a body that is small and unpacks without end is refused before it is in memory', async () => {
  let sent = 0;
  let closed = () => {};
  const over = new Promise<void>((resolve) => {
    closed = resolve;
  });
  const server = await httpScript(
    { skills },
    onRead((_, response) => {
      response.writeHead(200, { ...json, 'content-encoding': 'gzip' });
      const packed = createGzip();
      packed.pipe(response);
      const zeros = Buffer.alloc(1024 * 1024);
      const more = () => {
        if (response.destroyed) return;
        sent++;
        packed.write(zeros, more);
      };
      response.on('error', () => {});
      response.on('close', () => closed());
      more();
    }),
  );
  const held = mounted({ url: server.url }, 60_000);
  expect(await rejection(held.promises.readFile('/mcp/s/tool/x.md'))).toMatchObject({ code: 'EFBIG' });
  await over;
  expect(sent).toBeLessThan(10_000);
  expect(await held.promises.readFile('/mcp/s/tool/y.md', 'utf8')).toBe('y');
}, 90_000);

describe('SEC-4: headers of one server are sent to no other', () => {
  const headers = { 'X-Key': 'secret', Authorization: 'Bearer secret' };

  /** A server of somebody else's, and the headers that it got. */
  async function stranger() {
    const got: (string | undefined)[] = [];
    const { url } = await httpScript(
      { skills },
      {
        before({ headers }, response) {
          got.push(headers['x-key'] as string | undefined, headers.authorization);
          response.writeHead(404).end();
          return true;
        },
      },
    );
    return { url, got };
  }

  test.each([301, 302, 303, 307, 308])('when it leads to another place (%i), which is told', async (status) => {
    const { url, got } = await stranger();
    const server = await httpScript(
      { skills },
      onRead((_, response) => response.writeHead(status, { location: url }).end()),
    );
    const error = await rejection(mounted({ url: server.url, headers }).promises.readFile('/mcp/s/tool/x.md'));
    expect(error).toMatchObject({ code: 'EIO', message: expect.stringContaining(`Redirect to ${url} not followed`) });
    expect(got).toEqual([]);
  });

  test('when it says that another gives credentials for it', async () => {
    const { url, got } = await stranger();
    const challenge = `Bearer resource_metadata="${url}/.well-known/oauth-protected-resource"`;
    const server = await httpScript(
      { skills },
      { before: (_request, response) => !!response.writeHead(401, { 'www-authenticate': challenge }).end() },
    );
    const authProvider = {
      redirectUrl: 'http://127.0.0.1/callback',
      clientMetadata: { redirect_uris: ['http://127.0.0.1/callback'] },
      clientInformation: () => ({ client_id: 'me' }),
      tokens: () => undefined,
      saveTokens: () => {},
      redirectToAuthorization: () => {},
      saveCodeVerifier: () => {},
      codeVerifier: () => 'x',
    };
    await rejection(mounted({ url: server.url, headers, authProvider }).promises.readdir('/mcp/s'));
    expect(got.length).toBeGreaterThan(0);
    expect(new Set(got)).toEqual(new Set([undefined]));
  });

  test('nor under another label', async () => {
    const got: Record<string, Set<unknown>> = { one: new Set(), two: new Set() };
    const servers: Record<string, HttpServer> = {};
    for (const name of ['one', 'two']) {
      const before = (request: IncomingMessage) => {
        got[name]?.add(`${request.headers['x-key']} ${request.headers.cookie}`);
        return false;
      };
      const { url } = await httpScript({ skills }, { before });
      servers[name] = { url, headers: { 'X-Key': name } };
    }
    const held = mount({ servers, thread: 'host' });
    onTestFinished(() => held.close());
    await held.preload();
    expect(got).toEqual({ one: new Set(['one undefined']), two: new Set(['two undefined']) });
  });
});

test('cookies are not kept, and a session id that is not given for a session is not taken', async () => {
  const sent = new Set<string>();
  const server = await httpScript(
    { skills },
    {
      era: 'legacy',
      before({ headers }, response, method) {
        sent.add(`${headers.cookie} ${headers['mcp-session-id']}`);
        response.setHeader('set-cookie', 'a=b');
        if (method !== 'initialize') response.setHeader('mcp-session-id', 'another');
        return false;
      },
    },
  );
  expect(await mounted({ url: server.url }).promises.readFile('/mcp/s/tool/x.md', 'utf8')).toBe('x');
  expect([...sent].some((one) => one.includes('a=b') || one.includes('another'))).toBe(false);
});

test.each([0, 99_999_999_999])(
  'a stream that is to be opened again after %i ms is, after a second at least',
  async (retry) => {
    let opened = 0;
    const server = await httpScript(
      { skills },
      {
        era: 'legacy',
        before(request, response) {
          if (request.method !== 'GET') return false;
          opened++;
          response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`id: 1\nretry: ${retry}\ndata:\n\n`);
          return true;
        },
      },
    );
    const held = mounted({ url: server.url });
    await held.ready();
    await expect.poll(() => opened).toBe(1);
    // Each read is a round trip: a stream that is opened again without a pause is opened many times meanwhile.
    for (let index = 0; index < 20; index++) await held.refresh();
    expect(opened).toBeLessThanOrEqual(3);
  },
);
