import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { mount } from '../../src/mount.ts';
import type { ServerSource } from '../../src/options.ts';
import { httpScript } from '../support/http-script.ts';
import { rejection } from '../support/mounted.ts';
import { connectScript, scriptedSkill } from '../support/scripted-server.ts';
import { directory } from '../views/views.ts';

const stdioServer = fileURLToPath(new URL('../support/stdio-server.mjs', import.meta.url));

function mounted(servers: Record<string, ServerSource>, options = {}) {
  const made = mount({ servers, thread: 'host', ...options });
  onTestFinished(() => made.close());
  return made;
}

describe('a server that lists the digest of another one', () => {
  const secret = scriptedSkill('secret', { 'x.md': 'secret' });

  test('SEC-4, VER-6: gets nothing of it, gives nothing for it, and is asked for nothing but its own', async () => {
    const [one, two] = [
      await connectScript({ skills: [secret] }),
      await connectScript({ skills: [secret], read: () => undefined }),
    ];
    const cache = { directory: `${directory({})}/cache`, keys: { one: 'as me', two: 'as me' } };
    for (const round of ['fresh', 'from the disk']) {
      const skills = mounted({ one: one.client, two: two.client }, { cache });
      expect(await skills.promises.readFile('/mcp/one/secret/x.md', 'utf8'), round).toBe('secret');
      expect(await rejection(skills.promises.readFile('/mcp/two/secret/x.md'))).toMatchObject({ code: 'EIO' });
      expect(() => skills.fs.readFileSync('/mcp/two/secret/x.md')).toThrow(/EAGAIN|EIO/);
    }
    expect(two.requests.filter((request) => request.startsWith('resources/read'))).not.toEqual([]);
    expect(one.requests.filter((request) => request.startsWith('resources/read'))).toEqual([
      'resources/read skill://secret/x.md',
    ]);
    await Promise.all([one.close(), two.close()]);
  });
});

describe('what a server is reached with', () => {
  test('SEC-4: headers go to that server only, wherever it redirects to', async () => {
    const seen: Record<string, IncomingHttpHeaders[]> = { own: [], other: [], elsewhere: [] };
    const elsewhere = createServer((request, response) => {
      seen['elsewhere']?.push(request.headers);
      response.end();
    });
    await new Promise<void>((done) => elsewhere.listen(0, '127.0.0.1', done));
    onTestFinished(() => void elsewhere.close());
    const away = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/mcp`;
    let redirects = false;
    const watching = (name: string) => ({
      before: (request: { headers: IncomingHttpHeaders }, response: import('node:http').ServerResponse) => {
        seen[name]?.push(request.headers);
        if (!redirects) return false;
        response.writeHead(307, { location: away }).end();
        return true;
      },
    });
    const own = await httpScript({ skills: [scriptedSkill('x')] }, watching('own'));
    const other = await httpScript({ skills: [scriptedSkill('x')] }, watching('other'));
    const skills = mounted({
      own: { url: own.url, headers: { 'X-Key': 'k', Authorization: 'Bearer t' } },
      other: { url: other.url },
    });
    await skills.preload();
    expect(seen['own']?.every((headers) => headers['x-key'] === 'k' && headers.authorization === 'Bearer t')).toBe(
      true,
    );
    expect(seen['other']?.length).toBeGreaterThan(0);
    expect(JSON.stringify(seen['other'])).not.toMatch(/x-key|Bearer/);

    redirects = true;
    const again = mounted({ own: { url: own.url, headers: { 'X-Key': 'k' } } });
    const error = await rejection(again.promises.readFile('/mcp/own/x/SKILL.md'));
    expect(error.code).toBe('EIO');
    expect(error.message).toContain(`Redirect to ${away}`);
    expect(seen['elsewhere']).toEqual([]);
  });

  test('a redirect within its own origin is followed', async () => {
    let moved = true;
    const own = await httpScript(
      { skills: [scriptedSkill('x')] },
      {
        before: (request, response) => {
          if (!moved || request.url !== '/mcp') return false;
          response.writeHead(308, { location: '/mcp/v2' }).end();
          return true;
        },
      },
    );
    const skills = mounted({ own: { url: own.url } });
    expect(await skills.promises.readFile('/mcp/own/x/SKILL.md', 'utf8')).toContain('name: x');
    moved = false;
  });

  test('SEC-4: variables of a server are not those of another one, nor is what this process has', async () => {
    process.env['SKILLFS_TEST_OWN'] = 'of the host';
    onTestFinished(() => {
      delete process.env['SKILLFS_TEST_OWN'];
    });
    const server = (variable: string, env?: Record<string, string>) => ({
      command: process.execPath,
      args: [stdioServer, JSON.stringify({ env: variable })],
      ...(env && { env }),
    });
    const skills = mounted({
      a: server('TOKEN', { TOKEN: 'secret' }),
      b: server('TOKEN'),
      c: server('SKILLFS_TEST_OWN'),
    });
    const read = (label: string) => skills.promises.readFile(`/mcp/${label}/faulty/y.md`, 'utf8');
    expect(await Promise.all(['a', 'b', 'c'].map(read))).toEqual(['secret', 'unset', 'unset']);
  });

  test('is in no error and no diagnostic', async () => {
    const skills = mounted({ down: { url: 'http://127.0.0.1:9/mcp', headers: { 'X-Key': 'hunter2' } } });
    const told: unknown[] = [];
    skills.on('diagnostic', (diagnostic) => told.push(diagnostic));
    const error = await rejection(skills.promises.readFile('/mcp/down/x/SKILL.md'));
    const all = [error.message, String(error.cause), JSON.stringify(told), JSON.stringify(skills.status())].join();
    expect(error.code).toBe('EHOSTUNREACH');
    expect(told).not.toEqual([]);
    expect(all).not.toContain('hunter2');
  });
});
