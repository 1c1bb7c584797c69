import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { type Mount, mount } from '../../src/mount.ts';
import type { MountOptions } from '../../src/options.ts';
import { serveHttp } from '../../src/server/index.ts';
import { memoryServer } from '../../src/testing/index.ts';
import { temporary, write } from '../server/served.ts';
import { httpScript } from '../support/http-script.ts';
import { mountScript } from '../support/mounted.ts';
import { connectScript, scriptedServer, scriptedSkill, skillMd } from '../support/scripted-server.ts';

const cli = new URL('../../dist/cli.js', import.meta.url).pathname;

function mounted(source: MountOptions['servers'][string], options: Omit<MountOptions, 'servers'> = {}): Mount {
  const held = mount({ servers: { s: source }, ...options });
  onTestFinished(() => held.close());
  return held;
}

const names = (held: Mount) => held.skills().map(({ name }) => name);
const one = { 'one/SKILL.md': skillMd('one'), 'one/x.md': 'first' };
const two = { ...one, 'one/x.md': 'second', 'two/SKILL.md': skillMd('two') };

describe('what a server says of changes is heard', () => {
  test.each(['modern', 'legacy'] as const)('NEG-4: through a client of the host’s, SDK 2, %s era', async (era) => {
    const server = await memoryServer(one, { era });
    onTestFinished(() => server.close());
    const own = vi.fn();
    server.client.setNotificationHandler('notifications/resources/list_changed', own);
    const held = mounted(server.client);
    await held.ready();
    await server.update(two);
    await expect.poll(() => names(held)).toEqual(['one', 'two']);
    // The host's own handler heard it, too, and still does after the mount is closed.
    expect(own).toHaveBeenCalledTimes(1);
    await held.close();
    if (era === 'modern') return;
    await server.update(one);
    await expect.poll(() => own.mock.calls.length).toBe(2);
  });

  test('NEG-4: through a client of the host’s, SDK 1', async () => {
    const skills = [scriptedSkill('one')];
    const connected = await connectScript({ skills }, 'v1');
    onTestFinished(connected.close);
    const held = mounted(connected.client);
    await held.ready();
    skills.push(scriptedSkill('two'));
    await connected.server.sendResourceListChanged();
    await expect.poll(() => names(held)).toEqual(['one', 'two']);
    skills.push(scriptedSkill('three'));
    await connected.server.sendResourceUpdated({ uri: 'skill://one/SKILL.md' });
    await expect.poll(() => names(held)).toEqual(['one', 'two', 'three']);
  });

  test.each(['worker', 'host'] as const)('over stdio, %s thread', async (thread) => {
    const directory = temporary(one);
    const held = mounted({ command: process.execPath, args: [cli, 'serve', directory], stderr: 'ignore' }, { thread });
    await held.ready();
    write(directory, 'two/SKILL.md', skillMd('two'));
    await expect.poll(() => names(held)).toEqual(['one', 'two']);
  });

  test.each(['worker', 'host'] as const)('over HTTP, %s thread', async (thread) => {
    const directory = temporary(one);
    const server = await serveHttp(directory);
    onTestFinished(() => server.close());
    const held = mounted({ url: server.url }, { thread });
    await held.ready();
    write(directory, 'two/SKILL.md', skillMd('two'));
    await expect.poll(() => names(held)).toEqual(['one', 'two']);
  });

  test('over HTTP, 2025 era', async () => {
    const skills = [scriptedSkill('one')];
    const server = await httpScript({ skills }, { era: 'legacy' });
    const held = mounted({ url: server.url });
    await held.ready();
    await expect.poll(() => server.streams()).toBe(1);
    skills.push(scriptedSkill('two'));
    await server.latest()?.sendResourceListChanged();
    await expect.poll(() => names(held)).toEqual(['one', 'two']);
  });

  test('but not where the host does not want to listen', async () => {
    const server = await memoryServer(one);
    onTestFinished(() => server.close());
    const held = mounted(server.client, { listen: false });
    await held.ready();
    await server.update(two);
    await held.promises.readFile('/mcp/s/one/SKILL.md');
    expect(server.requests.map(({ method }) => method)).not.toContain('subscriptions/listen');
    expect(await held.refresh()).toMatchObject([{ added: ['skill://two/SKILL.md'] }]);
  });

  test('and a subscription that ended is made again, with a new listing', async () => {
    const skills = [scriptedSkill('one')];
    const server = await httpScript({ skills });
    const held = mounted({ url: server.url });
    await held.ready();
    await expect.poll(() => server.streams()).toBe(1);
    skills.push(scriptedSkill('two'));
    server.cutStreams();
    await expect.poll(() => names(held)).toEqual(['one', 'two']);
  });
});

test('a process that has only read from a server that is listened to ends by itself', async () => {
  const directory = temporary(one);
  const index = new URL('../../dist/index.js', import.meta.url).href;
  const script = `
    import { mount } from ${JSON.stringify(index)};
    const server = { command: process.execPath, args: [${JSON.stringify(cli)}, 'serve', ${JSON.stringify(directory)}], stderr: 'ignore' };
    const { promises } = mount({ servers: { s: server } });
    console.log(await promises.readFile('/mcp/s/one/x.md', 'utf8'));
  `;
  const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    timeout: 20_000,
  });
  expect({ status, stdout }).toEqual({ status: 0, stdout: 'first\n' });
});

describe('few listings', () => {
  test('a burst of changes is one listing', async () => {
    const connected = await connectScript({ skills: [scriptedSkill('one')] }, 'v1');
    onTestFinished(connected.close);
    const held = mounted(connected.client);
    await held.ready();
    for (let index = 0; index < 100; index++) await connected.server.sendResourceListChanged();
    await expect.poll(() => connected.requests.length).toBeGreaterThan(1);
    await held.promises.readFile('/mcp/s/one/SKILL.md');
    expect(connected.requests.filter((request) => request === 'skills/list')).toHaveLength(2);
  });

  test('a change while the server is listed is not missed', async () => {
    const skills = [scriptedSkill('one')];
    let go = () => {};
    const script = {
      skills,
      async list() {
        const listed = skills.map(({ entry }) => entry);
        if (connected.requests.length === 2)
          await new Promise<void>((resolve) => {
            go = resolve;
          });
        return { skills: listed };
      },
    };
    const connected = await connectScript(script, 'v1');
    onTestFinished(connected.close);
    const held = mounted(connected.client);
    await held.ready();
    const refreshed = held.refresh();
    await expect.poll(() => connected.requests.length).toBe(2);
    skills.push(scriptedSkill('two'));
    await connected.server.sendResourceListChanged();
    go();
    expect(await refreshed).toMatchObject([{ added: [] }]);
    await expect.poll(() => names(held)).toEqual(['one', 'two']);
    expect(connected.requests).toHaveLength(3);
  });

  test('LST-3: all who find a listing too old share one, and do not wait for it', async () => {
    let go = () => {};
    let lists = 0;
    const { mount: held, requests } = await mountScript({
      async list() {
        if (lists++ === 1)
          await new Promise<void>((resolve) => {
            go = resolve;
          });
        return { skills: [scriptedSkill('one').entry], ttlMs: 1, cacheScope: 'public' };
      },
    });
    await held.ready();
    expect(held.status()[0]).toMatchObject({ ttlMs: 1, cacheScope: 'public' });
    await new Promise((resolve) => setTimeout(resolve, 5));
    await Promise.all(Array.from({ length: 20 }, () => held.promises.readdir('/mcp/s')));
    await expect.poll(() => requests.length).toBe(2);
    await Promise.all(Array.from({ length: 20 }, () => held.promises.readdir('/mcp/s')));
    expect(requests).toHaveLength(2);
    go();
  });
});

describe('a change', () => {
  test('is told to watchers, and an open file stays what it was', async () => {
    const server = await memoryServer(one);
    onTestFinished(() => server.close());
    const held = mounted(server.client);
    const before = await held.promises.open('/mcp/s/one/x.md');
    const seen = new Set<string>();
    const watcher = held.fs.watch('/mcp/s', { recursive: true }, (_event, name) => void seen.add(String(name)));
    await server.update(two);
    await expect.poll(() => [...seen]).toContain('two/SKILL.md');
    watcher.close();
    expect(seen).toContain('one/x.md');
    expect(await before.readFile('utf8')).toBe('first');
    await before.close();
    expect(await held.promises.readFile('/mcp/s/one/x.md', 'utf8')).toBe('second');
  });

  test('makes a skill without digests be read anew', async () => {
    const server = await memoryServer(one, { dynamic: ['one'] });
    onTestFinished(() => server.close());
    const held = mounted(server.client);
    expect(await held.promises.readFile('/mcp/s/one/x.md', 'utf8')).toBe('first');
    await server.update(two);
    await expect.poll(() => held.promises.readFile('/mcp/s/one/x.md', 'utf8')).toBe('second');
  });

  test('that cannot be listed keeps the last good tree, marked stale, until an access finds the server well', async () => {
    const server = await memoryServer(one);
    onTestFinished(() => server.close());
    const held = mounted(server.client, { retryAfter: 1 });
    await held.ready();
    server.faults.fail('skills/list', -32603, 'maintenance');
    await server.update(two);
    await expect.poll(() => held.status()[0]?.stale).toBe(true);
    expect(names(held)).toEqual(['one']);
    expect(held.status()[0]).toMatchObject({ state: 'ready', lastError: { code: 'EIO' } });
    server.faults.reset();
    await expect
      .poll(async () => {
        await held.promises.readdir('/mcp/s');
        return names(held);
      })
      .toEqual(['one', 'two']);
    expect(held.status()[0]).toMatchObject({ stale: false });
  });
});

describe('a server that was gone', () => {
  /** Writes down the process id of each start, then becomes the server. */
  const stdio = (directory: string) => ({
    command: 'sh',
    args: ['-c', 'echo $$ > "$1.pid"; exec "$2" "$3" serve "$1"', 'sh', directory, process.execPath, cli],
    stderr: 'ignore' as const,
  });

  test.each(['a content is read', 'somebody looks'])('is listed again when %s', async (when) => {
    const directory = temporary(one);
    onTestFinished(() => rmSync(`${directory}.pid`, { force: true }));
    const held = mounted(stdio(directory), { retryAfter: 1 });
    await held.ready();
    const pid = Number(readFileSync(`${directory}.pid`, 'utf8'));
    process.kill(pid, 'SIGKILL');
    write(directory, 'two/SKILL.md', skillMd('two'));
    if (when === 'a content is read') {
      expect(await held.promises.readFile('/mcp/s/one/x.md', 'utf8')).toBe('first');
      await expect.poll(() => names(held)).toEqual(['one', 'two']);
    } else {
      const look = async () => {
        await held.promises.readdir('/mcp/s');
        return names(held);
      };
      await expect.poll(look).toEqual(['one', 'two']);
    }
  });

  test('and whose client the host connects anew, too', async () => {
    const skills = [scriptedSkill('one')];
    const client = new Client({ name: 'test', version: '1' });
    const connect = async () => {
      const [a, b] = InMemoryTransport.createLinkedPair();
      await scriptedServer({ skills }, []).connect(b as never);
      await client.connect(a);
    };
    await connect();
    const held = mounted(client);
    await held.ready();
    await client.close();
    await connect();
    skills.push(scriptedSkill('two'));
    await held.promises.readFile('/mcp/s/one/SKILL.md');
    await expect.poll(() => names(held)).toEqual(['one', 'two']);
    await client.close();
  });
});
