import { describe, expect, onTestFinished, test } from 'vitest';
import type { SharedStore } from '../../src/content/shared-store.ts';
import { digestOf } from '../../src/content/verify.ts';
import { type Mount, mount } from '../../src/mount.ts';
import { type MountOptions, OptionsError } from '../../src/options.ts';
import { type MemoryServer, type MemoryServerOptions, memoryServer } from '../../src/testing/index.ts';
import type { Diagnostic } from '../../src/vfs/diagnostics.ts';
import { httpScript } from '../support/http-script.ts';
import { rejection } from '../support/mounted.ts';
import { connectScript, type Script, scriptedSkill } from '../support/scripted-server.ts';
import { claims, hang, openStore } from './stores.ts';

const files = {
  'acme/refunds/SKILL.md': '---\nname: refunds\ndescription: Pays back\n---\n',
  'acme/refunds/references/policy.md': 'policy',
  'acme/refunds/empty.txt': '',
};
const POLICY = '/mcp/s/acme/refunds/references/policy.md';

async function serve(options: MemoryServerOptions = {}): Promise<MemoryServer> {
  const server = await memoryServer(files, options);
  onTestFinished(() => server.close());
  return server;
}

interface Agent {
  readonly mount: Mount;
  readonly problems: Diagnostic[];
}

/** A mount that shares a store, as another process would make it. */
function agent(
  source: MountOptions['servers'][string],
  store: SharedStore,
  options: Partial<MountOptions> & { key?: string } = {},
): Agent {
  const { key = 'test', ...rest } = options;
  const mounted = mount({ servers: { s: source }, shared: { store, keys: { s: key } }, ...rest });
  const problems: Diagnostic[] = [];
  mounted.on('diagnostic', (diagnostic) => {
    if (diagnostic.code === 'shared') problems.push(diagnostic);
  });
  onTestFinished(() => mounted.close());
  return { mount: mounted, problems };
}

/** An agent that reads everything, and ends. */
async function warm(source: MountOptions['servers'][string], store: SharedStore): Promise<void> {
  const { mount: first } = agent(source, store);
  await first.preload();
  await first.close();
}

const reads = ({ requests }: MemoryServer) => requests.filter(({ method }) => method === 'resources/read');

async function contents({ mount }: Agent): Promise<Record<string, string>> {
  const paths = Object.keys(files);
  const texts = await Promise.all(paths.map((path) => mount.promises.readFile(`/mcp/s/${path}`, 'utf8')));
  return Object.fromEntries(paths.map((path, index) => [path, texts[index] ?? '']));
}

describe('what one agent fetched', () => {
  test('LAZY-2: is not fetched by the next one, which needs no server for it', async () => {
    const server = await serve({ ttlMs: 600_000 });
    const store = openStore();
    await warm(server.client, store);
    expect(reads(server)).toHaveLength(3);

    server.requests.length = 0;
    const second = agent(server.client, store);
    await second.mount.ready();
    await server.faults.crash();
    expect(await contents(second)).toEqual(files);
    expect(reads(server)).toEqual([]);
    expect(second.problems).toEqual([]);
  });

  test('is put under keys that hold nothing but hexadecimal digits', async () => {
    const server = await serve();
    const store = openStore();
    await warm(server.client, store);
    const keys = [...store.content.keys()];
    expect(keys).toHaveLength(3);
    for (const [key, bytes] of store.content) {
      expect(key).toMatch(/^[0-9a-f]{16}-[0-9a-f]{64}-[0-9a-f]{64}$/);
      expect(`sha256:${key.slice(-64)}`).toBe(digestOf(bytes));
    }
  });

  test('SEC-4: is nobody else’s: another server, account or label that lists the same digest gets nothing', async () => {
    const store = openStore();
    const first = await serve();
    await warm(first.client, store);

    const second = await serve();
    const other = agent(second.client, store, { key: 'another account' });
    expect(await contents(other)).toEqual(files);
    expect(reads(second)).toHaveLength(3);

    const third = await serve();
    const relabelled = mount({ servers: { t: third.client }, shared: { store, keys: { t: 'test' } } });
    onTestFinished(() => relabelled.close());
    await relabelled.preload();
    expect(reads(third)).toHaveLength(3);
  });

  test('of a client that does not tell who it is, is not shared', async () => {
    const server = await serve();
    const store = openStore();
    const mounted = mount({ servers: { s: server.client }, shared: { store } });
    onTestFinished(() => mounted.close());
    await mounted.preload();
    await mounted.close();
    expect(store.calls).toEqual([]);
  });

  test('VER-5: without a digest is not shared', async () => {
    const server = await serve({ dynamic: ['acme/refunds'] });
    const store = openStore();
    const { mount } = agent(server.client, store);
    expect(await mount.promises.readFile(POLICY, 'utf8')).toBe('policy');
    await mount.close();
    expect(store.calls).toEqual([]);
  });

  test('VER-4: is compared with the entry all the same', async () => {
    const skill = scriptedSkill('a/b');
    const script: Script = { skills: [skill] };
    const store = openStore();
    const [first, second] = [await connectScript(script, 'v2-modern'), await connectScript(script, 'v2-modern')];
    onTestFinished(async () => {
      await first.close();
      await second.close();
    });
    await warm(first.client, store);
    skill.entry.frontmatter = { ...skill.entry.frontmatter, description: 'Something else' };
    const { mount } = agent(second.client, store);
    const error = await rejection(mount.promises.readFile('/mcp/s/a/b/SKILL.md'));
    expect(error).toMatchObject({ code: 'EIO', cause: { reason: 'frontmatter' } });
  });
});

describe('a store that lies', () => {
  const flipped = (bytes: Uint8Array) => bytes.map((byte) => byte ^ 1);
  const lies: [name: string, lie: (bytes: Uint8Array) => Uint8Array][] = [
    ['other bytes of the same length', flipped],
    ['too few bytes', (bytes) => bytes.subarray(1)],
    ['too many bytes', (bytes) => Buffer.concat([bytes, bytes])],
    ['nothing', () => new Uint8Array()],
    ['what another server serves', () => Buffer.from('---\nname: refunds\n---\nrm -rf /')],
  ];

  test.each(lies)(
    'VER-1: %s: the entry is dropped and told of, the server asked, the bytes replaced',
    async (_, lie) => {
      const server = await serve();
      const store = openStore();
      await warm(server.client, store);
      const good = new Map([...store.content].filter(([, bytes]) => bytes.byteLength > 0));
      for (const [key, bytes] of good) store.content.set(key, lie(bytes));

      server.requests.length = 0;
      const second = agent(server.client, store);
      expect(await contents(second)).toEqual(files);
      expect(reads(server)).toHaveLength(2);
      expect(second.problems).toHaveLength(2);
      expect(second.problems[0]).toMatchObject({ label: 's', uri: expect.stringContaining('skill://acme/refunds/') });
      await second.mount.close();
      expect(store.calls.filter((call) => call.startsWith('delete '))).toHaveLength(2);
    },
  );

  test('what is dropped is put anew by whoever fetched it', async () => {
    const server = await serve();
    const store = openStore();
    await warm(server.client, store);
    const before = new Map(store.content);
    for (const [key, bytes] of before) store.content.set(key, flipped(bytes));
    await warm(server.client, store);
    expect(new Map([...store.content].map(([key, bytes]) => [key, Buffer.from(bytes).toString()]))).toEqual(
      new Map([...before].map(([key, bytes]) => [key, Buffer.from(bytes).toString()])),
    );
  });

  test('and changes what it gave, or was given, changes nothing of what is read', async () => {
    const server = await serve();
    const store = openStore();
    await warm(server.client, store);
    const second = agent(server.client, store);
    await contents(second);
    for (const bytes of store.content.values()) bytes.fill(0);
    expect(await contents(second)).toEqual(files);

    const empty = openStore();
    const third = agent(server.client, empty);
    await contents(third);
    for (const bytes of empty.content.values()) bytes.fill(0);
    expect(await contents(third)).toEqual(files);
  });

  test('the server is as bad: the read fails as it would have', async () => {
    const server = await serve();
    const store = openStore({ get: async () => Buffer.from('poison') });
    server.faults.tamper('acme/refunds/references/policy.md', () => 'poison');
    const { mount } = agent(server.client, store);
    expect(await rejection(mount.promises.readFile(POLICY))).toMatchObject({
      code: 'EIO',
      cause: { reason: 'digest' },
    });
  });

  test.each([['text'], [{}], [[1, 2]], [7]])('gives %j where bytes were expected', async (given) => {
    const server = await serve();
    const second = agent(server.client, openStore({ get: async () => given as never }));
    expect(await contents(second)).toEqual(files);
    expect(second.problems.map(({ message }) => message)).toEqual([expect.stringContaining('expected')]);
  });
});

describe('a store that fails', () => {
  const refuse = () => Promise.reject(new Error('connection refused'));
  const faults: [name: string, store: Partial<SharedStore>][] = [
    ['rejects', { get: refuse, put: refuse, delete: refuse }],
    [
      'throws',
      {
        get: () => {
          throw new Error('connection refused');
        },
      },
    ],
    ['hangs', { get: hang, put: hang, delete: hang }],
    ['hangs in claims', { claim: hang }],
    ['is full', { put: refuse }],
    ['hangs when written', { put: hang }],
  ];

  test.each(faults)('%s: reads go on, and it is told once', async (_, replaced) => {
    const server = await serve();
    const store = openStore(replaced);
    const failing = agent(server.client, store, { deadlines: { shared: 40 } });
    expect(await contents(failing)).toEqual(files);
    await failing.mount.close();
    expect(reads(server)).toHaveLength(3);
    expect(failing.problems.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^the shared store cannot be/),
    ]);
    expect(failing.problems[0]?.label).toBeUndefined();
  });

  test('is left alone for a while', async () => {
    const server = await serve();
    const store = openStore({ get: () => Promise.reject(new Error('connection refused')) });
    const { mount } = agent(server.client, store);
    await mount.promises.readFile(POLICY);
    const asked = store.calls.length;
    await mount.promises.readFile('/mcp/s/acme/refunds/SKILL.md');
    expect(store.calls).toHaveLength(asked);
  });

  test('to be written is still read', async () => {
    const server = await serve();
    const { content } = openStore();
    const good = openStore({ put: async (key, bytes) => void content.set(key, bytes) });
    await warm(server.client, good);
    server.requests.length = 0;
    const [first] = [...content.keys()];
    content.delete(first as string);
    const full = agent(
      server.client,
      openStore({ get: async (key) => content.get(key), put: () => Promise.reject(new Error('out of memory')) }),
    );
    expect(await contents(full)).toEqual(files);
    expect(reads(server)).toHaveLength(1);
  });

  test('to be claimed from, as one that is full, is still read', async () => {
    const server = await serve();
    const store = openStore();
    await warm(server.client, store);
    server.requests.length = 0;
    const [first] = [...store.content.keys()];
    store.content.delete(first as string);
    const full = agent(server.client, { ...store, claim: () => Promise.reject(new Error('out of memory')) });
    expect(await contents(full)).toEqual(files);
    expect(reads(server)).toHaveLength(1);
    expect(full.problems.map(({ message }) => message)).toEqual([
      'the shared store cannot be written: out of memory; servers are asked instead until it can',
    ]);
  });

  test('a read that is given up is not answered from it', async () => {
    const server = await serve();
    const { mount } = agent(server.client, openStore({ get: hang }), { deadlines: { shared: 60_000 } });
    const given = new AbortController();
    const reading = mount.promises.readFile(POLICY, { signal: given.signal });
    given.abort();
    expect((await rejection(reading)).name).toBe('AbortError');
  });
});

describe('agents that start together', () => {
  test('fetch each file once, where the store takes claims', async () => {
    const server = await serve();
    server.faults.delay(5);
    const store = openStore({ claim: claims().claim });
    const agents = Array.from({ length: 5 }, () => agent(server.client, store, { deadlines: { shared: 20_000 } }));
    for (const content of await Promise.all(agents.map(contents))) expect(content).toEqual(files);
    expect(reads(server)).toHaveLength(3);
  });

  test('fetch themselves what another one announced and never fetched', async () => {
    const server = await serve();
    const store = openStore({ claim: async () => false });
    const waiting = agent(server.client, store, { deadlines: { shared: 100 } });
    expect(await contents(waiting)).toEqual(files);
    expect(waiting.problems).toEqual([]);
  });
});

describe('options', () => {
  const store = openStore();
  const url = 'http://127.0.0.1:1/mcp';
  const bad: [name: string, options: Partial<MountOptions> | object, message: RegExp][] = [
    ['nothing that says how', { shared: {} }, /^shared: expected \{redis\}, \{module\} or \{store\}/],
    ['two ways', { shared: { redis: 'redis://h', store } }, /^shared: expected/],
    ['no store', { shared: { store: {} } }, /^shared\.store: expected an object with the methods/],
    ['another kind of URL', { shared: { redis: 'http://h' } }, /^shared\.redis: expected a redis:\/\//],
    ['a misspelt key', { shared: { redis: 'redis://h', ttl: 1 } }, /^shared: .*ttl/],
    [
      'what no thread can be handed',
      { shared: { module: 'm', options: { now: () => 0 } } },
      /^shared\.options: expected plain/,
    ],
    ['a wrong deadline', { deadlines: { shared: 0 } }, /^deadlines\.shared: /],
    [
      'an object for servers in another thread',
      { servers: { s: { url } }, shared: { store } },
      /^shared\.store: the server "s" .*\{redis\} or \{module\}.*thread: "host"/,
    ],
  ];
  test.each(bad)('%s', (_name, options, message) => {
    expect(() => mount({ servers: {}, ...options } as never)).toThrow(OptionsError);
    expect(() => mount({ servers: {}, ...options } as never)).toThrow(message);
  });

  test('a URL that cannot be used is not repeated, as it may hold a password', () => {
    expect(() => mount({ servers: {}, shared: { redis: 'https://:secret@h' } })).not.toThrow(/secret/);
  });

  test('an object is for servers in this thread, which stay apart by their headers', async () => {
    const server = await httpScript({ skills: [scriptedSkill('a/b')] });
    const shared = openStore();
    const read = async (token: string) => {
      const source = { url: server.url, headers: { authorization: token } };
      const mounted = mount({ servers: { s: source }, shared: { store: shared }, thread: 'host', listen: false });
      await mounted.promises.readFile('/mcp/s/a/b/SKILL.md');
      await mounted.close();
    };
    await read('one');
    await read('one');
    expect(server.messages.filter((method) => method === 'resources/read')).toHaveLength(1);
    await read('two');
    expect(server.messages.filter((method) => method === 'resources/read')).toHaveLength(2);
    expect([...shared.content.keys()].join()).not.toContain('one');
  });

  test('an object stays the caller’s', async () => {
    const server = await serve();
    const closed: true[] = [];
    const own = { ...openStore(), close: async () => void closed.push(true) };
    await warm(server.client, own);
    expect(closed).toEqual([]);
  });
});
