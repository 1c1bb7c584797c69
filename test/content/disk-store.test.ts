import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type DiskStore, diskStore } from '../../src/content/disk/disk-store.ts';
import type { CacheProblem } from '../../src/content/disk/scope-files.ts';
import type { KeptListing, ServerCache } from '../../src/content/server-cache.ts';
import { blob, blobFiles, temporaryDirectory } from './support.ts';

interface Opened {
  readonly store: DiskStore;
  readonly server: ServerCache;
  readonly problems: CacheProblem[];
}

function open(
  directory: string,
  { label = 's', key = 'k', maxBytes }: { label?: string; key?: string; maxBytes?: number } = {},
): Opened {
  const problems: CacheProblem[] = [];
  const report = (problem: CacheProblem) => problems.push(problem);
  const store = diskStore({ directory, report, ...(maxBytes !== undefined && { maxBytes }) });
  return { store, server: store.server(label, {}, key) as ServerCache, problems };
}

const policy = blob('refunds take 14 days\n');
const kept: KeptListing = {
  listing: { entries: [{ uri: 'skill://a/SKILL.md', text: 'ünï\n\u2028' }], ttlMs: 1000 },
  confirmed: [],
  negotiated: { completes: false, directoryRead: true, dialect: 'skills', tookMs: 3 },
  fetchedAt: 1_700_000_000_000,
};

/** A cache in which one blob and the listing are. */
function filled(directory = join(temporaryDirectory(), 'cache')): Opened & { directory: string; file: string } {
  const opened = open(directory);
  opened.server.put(policy.digest, policy.bytes);
  opened.server.putListing(kept);
  const [file] = blobFiles(directory);
  if (file === undefined) throw new Error('nothing was kept');
  return { ...opened, directory, file };
}

test('CACHE-2: what was put is there for the next process, and nothing is written before', () => {
  const directory = join(temporaryDirectory(), 'deep/cache');
  const { server, problems } = open(directory);
  expect(server.get(policy)).toBeUndefined();
  expect(server.getListing()).toBeUndefined();
  expect(existsSync(dirname(directory))).toBe(false);
  server.put(policy.digest, policy.bytes);
  server.putListing(kept);
  const again = open(directory);
  expect(again.server.get(policy)).toEqual(policy.bytes);
  expect(again.server.getListing()).toEqual(kept);
  expect([...problems, ...again.problems]).toEqual([]);
});

test('CACHE-1: the cache is private to the user, and its files cannot be written', () => {
  const { directory, file } = filled();
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  expect(statSync(dirname(file)).mode & 0o777).toBe(0o700);
  expect(statSync(file).mode & 0o777).toBe(0o400);
  for (const other of ['listing.json', 'origin.json']) {
    expect(statSync(join(dirname(file), other)).mode & 0o777).toBe(0o600);
  }
});

test('CACHE-1: a file is never modified in place; putting it again puts another in its place', () => {
  const { server, file, directory } = filled();
  const before = statSync(file).ino;
  linkSync(file, join(directory, 'held'));
  server.put(policy.digest, policy.bytes);
  expect(statSync(file).ino).not.toBe(before);
  expect(readFileSync(join(directory, 'held'))).toEqual(policy.bytes);
  expect(readdirSync(dirname(file)).sort()).toEqual([basename(file), 'listing.json', 'origin.json'].sort());
});

describe('CACHE-2, MAP-5: another scope gets nothing of it', () => {
  test.each([
    ['another label', { label: 't' }],
    ['other credentials', { key: 'other' }],
  ])('%s', (_name, other) => {
    const { directory } = filled();
    const { server, problems } = open(directory, other);
    expect(server.get(policy)).toBeUndefined();
    expect(server.getListing()).toBeUndefined();
    server.put(policy.digest, policy.bytes);
    expect(blobFiles(directory)).toHaveLength(2);
    expect(problems).toEqual([]);
  });
});

describe('CACHE-1: the digest is recomputed on each access', () => {
  const changes: [string, (file: string) => void][] = [
    ['a flipped bit', (file) => change(file, (bytes) => bytes.fill((bytes[3] ?? 0) ^ 1, 3, 4))],
    [
      'a missing end',
      (file) => {
        chmodSync(file, 0o600);
        truncateSync(file, 5);
      },
    ],
    [
      'no bytes at all',
      (file) => {
        chmodSync(file, 0o600);
        truncateSync(file, 0);
      },
    ],
    ['more bytes', (file) => change(file, (bytes) => Buffer.concat([bytes, Buffer.from('x')]))],
    [
      'a link to the very bytes',
      (file) => {
        renameSync(file, `${file}.real`);
        symlinkSync(`${file}.real`, file);
      },
    ],
    [
      'a dangling link',
      (file) => {
        rmSync(file);
        symlinkSync('/nowhere', file);
      },
    ],
    [
      'a directory',
      (file) => {
        rmSync(file);
        mkdirSync(join(file, 'x'), { recursive: true });
      },
    ],
    [
      'a pipe',
      (file) => {
        rmSync(file);
        execFileSync('mkfifo', [file]);
      },
    ],
  ];
  test.each(changes)('%s is noticed, dropped and told, and what is put next is served', (_name, changeFile) => {
    const { server, file, problems } = filled();
    expect(server.get(policy)).toEqual(policy.bytes);
    changeFile(file);
    expect(server.get(policy)).toBeUndefined();
    expect(problems).toMatchObject([{ label: 's', message: expect.stringContaining(`${file} was dropped`) }]);
    expect(lstatSync(file, { throwIfNoEntry: false })).toBeUndefined();
    server.put(policy.digest, policy.bytes);
    expect(server.get(policy)).toEqual(policy.bytes);
    expect(problems).toHaveLength(1);
  });

  test('whatever becomes of a file, its bytes are returned or nothing', () => {
    const { server, file } = filled();
    const mutation = fc.oneof(
      fc.uint8Array({ maxLength: 64 }),
      fc.tuple(fc.nat(policy.size - 1), fc.integer({ min: 1, max: 255 })).map(([at, flip]) => {
        const bytes = Uint8Array.from(policy.bytes);
        bytes[at] = (bytes[at] ?? 0) ^ flip;
        return bytes;
      }),
    );
    fc.assert(
      fc.property(mutation, (bytes) => {
        rmSync(file, { force: true });
        writeFileSync(file, bytes);
        const equal = Buffer.from(bytes).equals(policy.bytes);
        expect(server.get(policy)).toEqual(equal ? policy.bytes : undefined);
      }),
    );
  });

  test('a manifest that says another size of the same digest gets nothing', () => {
    const { server } = filled();
    expect(server.get({ ...policy, size: policy.size + 1 })).toBeUndefined();
  });
});

describe('the listing', () => {
  const listingOf = (file: string) => join(dirname(file), 'listing.json');

  test('any flipped byte is noticed', () => {
    const { server, file, problems } = filled();
    const good = readFileSync(listingOf(file));
    for (let at = 0; at < good.length; at++) {
      const bytes = Buffer.from(good);
      bytes[at] = (bytes[at] ?? 0) ^ 0x04;
      writeFileSync(listingOf(file), bytes);
      expect(server.getListing(), `byte ${at}`).toBeUndefined();
    }
    expect(problems.length).toBeGreaterThan(good.length - 10);
    server.putListing(kept);
    expect(server.getListing()).toEqual(kept);
  });

  test('one of another version is left alone, and not read', () => {
    const { server, file, problems } = filled();
    writeFileSync(listingOf(file), '{"format":2,"more":true}\nnobody knows what');
    expect(server.getListing()).toBeUndefined();
    expect(existsSync(listingOf(file))).toBe(true);
    expect(problems).toEqual([]);
  });

  test('one over the bound is not kept, nor is the one before it', () => {
    const { server, problems } = open(join(temporaryDirectory(), 'c'), { maxBytes: 16_384 });
    server.putListing(kept);
    expect(server.getListing()).toEqual(kept);
    server.putListing({ ...kept, confirmed: ['x'.repeat(20_000)] });
    expect(server.getListing()).toBeUndefined();
    expect(problems).toMatchObject([{ message: expect.stringContaining('at most 16384 are kept') }]);
  });
});

describe('CACHE-1: a directory that is not private to the user, or where agents look, is refused', () => {
  const attempt = (directory: string) => () => diskStore({ directory });

  test.each(['.claude/x', '.agents', '.CODEX/cache', '.gemini/tmp/x', 'skills/cache', 'a/Skills'])('%s', (below) => {
    expect(attempt(join(temporaryDirectory(), below))).toThrow(/agents look for skills in/);
  });

  test('a place that is reached through a link, too', () => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, '.claude'));
    symlinkSync(join(directory, '.claude'), join(directory, 'innocent'));
    expect(attempt(join(directory, 'innocent/cache'))).toThrow(/agents look for skills in "\.claude"/);
  });

  test('a link, a file, a relative path', () => {
    const directory = temporaryDirectory();
    mkdirSync(join(directory, 'real'));
    symlinkSync(join(directory, 'real'), join(directory, 'link'));
    writeFileSync(join(directory, 'file'), '');
    expect(attempt(join(directory, 'link'))).toThrow(/is not used: it is a symbolic link/);
    expect(attempt(join(directory, 'file'))).toThrow(/it is no directory/);
    expect(attempt(join(directory, 'file/below'))).toThrow(/is not used/);
    expect(attempt('cache')).toThrow(/no absolute path/);
    expect(attempt('cache')).toThrow(expect.objectContaining({ code: 'ERR_SKILLFS_CACHE_DIRECTORY' }));
  });

  test('one that others can write to, or that is in a directory everybody can write to', () => {
    const directory = temporaryDirectory();
    for (const mode of [0o770, 0o707, 0o777]) {
      mkdirSync(join(directory, `${mode}`));
      chmodSync(join(directory, `${mode}`), mode);
      expect(attempt(join(directory, `${mode}`))).toThrow(/others can write to it/);
    }
    mkdirSync(join(directory, 'open'));
    chmodSync(join(directory, 'open'), 0o777);
    expect(attempt(join(directory, 'open/cache'))).toThrow(/everybody can write to/);
    chmodSync(join(directory, 'open'), 0o1777);
    expect(attempt(join(directory, 'open/cache'))).not.toThrow();
  });
});

describe('a scope’s directory that became something else', () => {
  test.each<[string, (path: string) => void, RegExp]>([
    [
      'a link',
      (path) => {
        renameSync(path, `${path}.real`);
        symlinkSync(`${path}.real`, path);
      },
      /symbolic link/,
    ],
    ['writable for others', (path) => chmodSync(path, 0o777), /others can write/],
    [
      'a file',
      (path) => {
        rmSync(path, { recursive: true });
        writeFileSync(path, '');
      },
      /no directory|EEXIST/,
    ],
  ])('%s: nothing is read from it or written to it, and it is told once', (_name, replace, message) => {
    const { server, file, problems } = filled();
    const target = `${dirname(file)}.real`;
    replace(dirname(file));
    const other = blob('other');
    expect(server.get(policy)).toBeUndefined();
    server.put(other.digest, other.bytes);
    expect(server.get(other)).toBeUndefined();
    expect(problems).toMatchObject([{ message: expect.stringMatching(message) }]);
    if (existsSync(target)) expect(readdirSync(target)).not.toContain(other.digest.slice(7));
  });
});

test('a file system that takes nothing more fails no read, and is told once', () => {
  const { store, server, problems } = open(join(temporaryDirectory(), 'c'));
  // Where the scope's directory should be made, its parent is a file: as good as a disk that is full or read-only.
  writeFileSync(store.directory, '');
  for (const content of ['a', 'b', 'c']) {
    const one = blob(content);
    server.put(one.digest, one.bytes);
    expect(server.get(one)).toBeUndefined();
  }
  server.putListing(kept);
  expect(problems).toMatchObject([{ message: expect.stringMatching(/^the cache cannot be used: /) }]);
});

describe('the bound', () => {
  const contents = Array.from({ length: 64 }, (_, index) => blob(`${index}`.padEnd(4096, '.')));
  const maxBytes = 32 * 4096;

  function total(directory: string): number {
    return blobFiles(directory).reduce((sum, file) => sum + statSync(file).size, 0);
  }

  test('is kept while writing, to within a sixteenth', () => {
    const directory = join(temporaryDirectory(), 'c');
    const { server } = open(directory, { maxBytes });
    for (const { digest, bytes } of contents) {
      server.put(digest, bytes);
      expect(total(directory)).toBeLessThanOrEqual(maxBytes * (1 + 1 / 16));
    }
    expect(total(directory)).toBeGreaterThan(maxBytes / 2);
  });

  test('is kept for all scopes together, and by processes that write little', () => {
    const directory = join(temporaryDirectory(), 'c');
    for (const [index, { digest, bytes }] of [...contents, ...contents].entries()) {
      open(directory, { maxBytes, label: `server-${index}` }).server.put(digest, bytes);
    }
    // Each of them looks with a chance of one in two.
    expect(total(directory)).toBeLessThan(maxBytes * 2);
  });

  test('lets go first what was not used for longest', () => {
    const directory = join(temporaryDirectory(), 'c');
    const wide = open(directory);
    const some = contents.slice(0, 40);
    for (const [index, { digest, bytes }] of some.entries()) {
      wide.server.put(digest, bytes);
      const then = new Date(Date.now() - (100 - index) * 24 * 3_600_000);
      const [file = ''] = blobFiles(directory).filter((path) => path.endsWith(digest.slice(7)));
      lutimesSync(file, then, then);
    }
    const [oldest, secondOldest, youngest] = [some[0], some[1], some[39]];
    if (oldest === undefined || secondOldest === undefined || youngest === undefined) throw new Error('there are 40');
    wide.server.get(oldest);
    const { evicted } = open(directory, { maxBytes }).store.prune();
    expect(evicted).toEqual({ files: 10, bytes: 10 * 4096 });
    expect(wide.server.get(oldest)).toEqual(oldest.bytes);
    expect(wide.server.get(youngest)).toEqual(youngest.bytes);
    expect(wide.server.get(secondOldest)).toBeUndefined();
  });

  test('a file over it is not kept', () => {
    const { server } = open(join(temporaryDirectory(), 'c'), { maxBytes: 100 });
    const large = blob('x'.repeat(101));
    server.put(large.digest, large.bytes);
    expect(server.get(large)).toBeUndefined();
  });
});

test('a use is marked once an hour', () => {
  const { server, file } = filled();
  const hour = 3_600_000;
  for (const [age, marked] of [
    [0.5 * hour, false],
    [2 * hour, true],
  ] as const) {
    const then = new Date(Math.trunc((Date.now() - age) / 1000) * 1000);
    utimesSync(file, then, then);
    server.get(policy);
    expect(statSync(file).mtimeMs !== then.getTime()).toBe(marked);
  }
});

test('prune drops leftovers that are old, and what is corrupt', () => {
  const { store, server, file, directory } = filled();
  const other = blob('other');
  server.put(other.digest, other.bytes);
  const [young, old] = ['.tmp-1-a', '.tmp-1-b'].map((name) => join(dirname(file), name)) as [string, string];
  for (const path of [young, old]) writeFileSync(path, 'half');
  const then = new Date(Date.now() - 2 * 3_600_000);
  utimesSync(old, then, then);
  change(file, (bytes) => bytes.fill(0));
  const none = { files: 0, bytes: 0 };
  expect(store.prune()).toEqual({
    leftovers: { files: 1, bytes: 4 },
    corrupt: { files: 1, bytes: policy.size },
    evicted: none,
  });
  expect(existsSync(young)).toBe(true);
  expect(server.get(other)).toEqual(other.bytes);
  expect(server.getListing()).toEqual(kept);
  expect(store.prune()).toEqual({ leftovers: none, corrupt: none, evicted: none });
  expect(readdirSync(directory)).toHaveLength(1);
});

test('prune looks at what was not used for long without that counting as a use', () => {
  const { store, file } = filled();
  const then = new Date(2020, 1, 1);
  utimesSync(file, then, then);
  store.prune();
  expect(statSync(file).mtimeMs).toBe(then.getTime());
});

test('CACHE-2: removing a label removes all of it, and nothing else', () => {
  const { store, directory } = filled();
  for (const other of [{ key: 'other' }, { label: 't' }])
    open(directory, other).server.put(policy.digest, policy.bytes);
  const listingBytes = store.usage().reduce((sum, { bytes }) => sum + bytes, 0) - 3 * policy.size;
  expect(
    store
      .usage()
      .map(({ label, files, listedAt }) => [label, files, listedAt])
      .sort(),
  ).toEqual([
    ['s', 1, undefined],
    ['s', 2, kept.fetchedAt],
    ['t', 1, undefined],
  ]);
  expect(store.remove('s')).toEqual({ files: 3, bytes: 2 * policy.size + listingBytes });
  expect(store.usage()).toMatchObject([{ label: 't', files: 1, bytes: policy.size }]);
  expect(open(directory).server.get(policy)).toBeUndefined();
  expect(store.remove('nobody')).toEqual({ files: 0, bytes: 0 });
});

test('a process goes on after another removed its scope', () => {
  const { store, server } = filled();
  store.remove('s');
  server.put(policy.digest, policy.bytes);
  expect(server.get(policy)).toEqual(policy.bytes);
  expect(store.usage()).toMatchObject([{ label: 's', files: 1 }]);
});

function change(file: string, to: (bytes: Buffer) => Uint8Array): void {
  const bytes = to(readFileSync(file));
  chmodSync(file, 0o600);
  writeFileSync(file, bytes);
}
