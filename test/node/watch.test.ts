import fs, { type FSWatcher, type Stats } from 'node:fs';
import { describe, expect, test, vi } from 'vitest';
import { Fault } from '../../src/base/fault.ts';
import type { ChangeSource } from '../../src/node/index.ts';
import { createNodeFs } from '../../src/node/index.ts';
import { bothSides, rejected, thrown } from './facades.ts';
import { driver, MemoryReadFs } from './memory-read-fs.ts';
import { FILES } from './mirrored.ts';

/** A source that tells what a test tells it to. */
class Changes implements ChangeSource {
  readonly listeners = new Set<(path: string) => void>();

  subscribe(listener: (path: string) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  tell(path: string): void {
    for (const listener of this.listeners) listener(path);
  }
}

const changes = new Changes();
const sides = bothSides({ changes });
const FILE = 'notes/large.txt';

/** All that is under way in this thread has happened. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}

describe('watch', () => {
  test.each([
    ['notes/large.txt', {}, 'notes/large.txt', [['change', 'large.txt']]],
    [
      'notes',
      {},
      'notes/large.txt',
      [
        ['rename', 'large.txt'],
        ['change', 'large.txt'],
      ],
    ],
    ['notes', {}, 'notes/gone.txt', [['rename', 'gone.txt']]],
    [
      '.',
      {},
      'acme/billing/refunds/SKILL.md',
      [
        ['rename', 'acme'],
        ['change', 'acme'],
      ],
    ],
    ['.', { recursive: true }, 'acme/gone.md', [['rename', 'acme/gone.md']]],
    ['notes', 'hex', 'notes/gone.txt', [['rename', '676f6e652e747874']]],
    ['notes', {}, 'acme/gone.md', []],
    ['notes', {}, 'notes-of-others/gone.md', []],
  ] as const)('of %s (%j) tells of a change at %s', async (path, options, changed, expected) => {
    const listener = vi.fn();
    const watcher = sides.ours.watch(path, options as object, listener);
    changes.tell(`${sides.root}/${changed}`);
    await settled();
    watcher.close();
    expect(listener.mock.calls).toEqual(expected);
  });

  test('takes its listener as its second argument, or none', async () => {
    const listener = vi.fn();
    const watchers = [sides.ours.watch(FILE, listener), sides.ours.watch(FILE).on('change', listener)];
    changes.tell(`${sides.root}/${FILE}`);
    await settled();
    for (const watcher of watchers) watcher.close();
    expect(listener).toHaveBeenCalledTimes(2);
  });

  test('ends once, with an event, and listens no more', async () => {
    const [listener, closed] = [vi.fn(), vi.fn()];
    const watcher = sides.ours.watch(FILE, listener).on('close', closed);
    watcher.close();
    watcher.close();
    expect(closed).not.toHaveBeenCalled();
    changes.tell(`${sides.root}/${FILE}`);
    await settled();
    expect(listener).not.toHaveBeenCalled();
    expect(closed).toHaveBeenCalledOnce();
    expect(changes.listeners.size).toBe(0);
  });

  test('ends when its signal aborts, also one that had before', async () => {
    const ended = (watcher: FSWatcher) => new Promise((resolve) => watcher.on('close', resolve));
    const stop = new AbortController();
    const later = ended(sides.ours.watch(FILE, { signal: stop.signal }));
    stop.abort();
    await later;
    await ended(sides.ours.watch(FILE, { signal: stop.signal }));
    expect(changes.listeners.size).toBe(0);
  });

  test.each(['missing', 'missing/below', 'notes/large.txt/below', 'notes/large.txt/'])(
    'of %s fails as node:fs does',
    (path) => {
      const failure = (side: typeof fs) => thrown(() => side.watch(path).close());
      expect({ ...failure(sides.ours) }).toEqual({ ...failure(fs) });
      expect(failure(sides.ours).message).toBe(failure(fs).message);
    },
  );

  test.each([
    [undefined],
    ['nul\0'],
    [FILE, { encoding: 'no-such-encoding' }],
    [FILE, 'no-such-encoding'],
    [FILE, { persistent: 7 }],
    [FILE, { signal: 7 }],
    [FILE, 7],
  ])('checks its arguments as node:fs does: %j, %j', (...args) => {
    type Watch = (...args: unknown[]) => FSWatcher;
    const outcome = (side: typeof fs) => {
      try {
        (side.watch as Watch)(...args).close();
        return 'taken';
      } catch (error) {
        return error;
      }
    };
    expect(outcome(sides.ours)).toEqual(outcome(fs));
  });

  test('of what cannot be looked at now is possible', async () => {
    const core = new MemoryReadFs('/mcp/s', FILES);
    core.stat = () => {
      throw new Fault('EHOSTUNREACH');
    };
    const ours = createNodeFs(core, driver, { mountPoint: '/mcp', changes });
    ours.watch('/mcp/s').close();
  });
});

describe('promises.watch', () => {
  test('gives the events, and ends with its signal', async () => {
    const stop = new AbortController();
    const seen: unknown[] = [];
    const watched = (async () => {
      for await (const event of sides.ours.promises.watch('notes', { signal: stop.signal })) {
        seen.push(event);
        if (seen.length === 2) stop.abort(new Error('enough'));
      }
    })();
    await settled();
    changes.tell(`${sides.root}/${FILE}`);
    expect(await rejected(watched)).toMatchObject({ name: 'AbortError', code: 'ABORT_ERR' });
    expect(seen).toEqual([
      { eventType: 'rename', filename: 'large.txt' },
      { eventType: 'change', filename: 'large.txt' },
    ]);
    expect(changes.listeners.size).toBe(0);
  });

  test('stops to listen when the loop is left', async () => {
    const events = sides.ours.promises.watch('notes')[Symbol.asyncIterator]();
    const next = events.next();
    await settled();
    changes.tell(`${sides.root}/notes/gone.txt`);
    expect(await next).toEqual({ done: false, value: { eventType: 'rename', filename: 'gone.txt' } });
    await events.return?.();
    expect(changes.listeners.size).toBe(0);
  });

  test('fails where there is nothing, as node:fs does', async () => {
    const failure = (side: typeof fs) => rejected(side.promises.watch('missing')[Symbol.asyncIterator]().next());
    expect({ ...(await failure(sides.ours)) }).toEqual({ ...(await failure(fs)) });
  });
});

describe('watchFile', () => {
  test('gives the stats of now and before to every listener, until there is none', async () => {
    const core = new MemoryReadFs('/mcp/s', FILES);
    const ours = createNodeFs(core, driver, { mountPoint: '/mcp', changes });
    const path = '/mcp/s/notes/large.txt';
    const [first, second] = [vi.fn<(now: Stats, before: Stats) => void>(), vi.fn()];
    expect(ours.watchFile(path, first)).toBe(ours.watchFile(path, { interval: 5 }, second));
    await settled();
    changes.tell(path);
    await settled();
    expect(first).not.toHaveBeenCalled();
    const { size } = ours.statSync(path);
    core.write(path, 'shorter');
    changes.tell(path);
    await settled();
    expect(first.mock.calls.map(([now, before]) => [now.size, before.size])).toEqual([[7, size]]);
    expect(second).toHaveBeenCalledOnce();
    ours.unwatchFile(path, first);
    expect(changes.listeners.size).toBe(1);
    ours.unwatchFile(path);
    expect(changes.listeners.size).toBe(0);
  });

  test('tells once of a file that is not there, with nothing but zeros', async () => {
    const listener = vi.fn<(now: Stats, before: Stats) => void>();
    sides.ours.watchFile('missing', listener);
    await settled();
    sides.ours.unwatchFile('missing');
    const zeros = await new Promise<Stats>((resolve) => fs.watchFile('missing', { interval: 1 }, resolve));
    fs.unwatchFile('missing');
    expect(listener.mock.calls).toEqual([[zeros, zeros]]);
  });

  test.each([
    [undefined, () => {}],
    [FILE, undefined],
    [FILE, {}],
    [FILE, { interval: -1 }, () => {}],
    [FILE, { interval: 'x' }, () => {}],
  ])('checks its arguments as node:fs does: %j, %j', (...args) => {
    type WatchFile = (...args: unknown[]) => unknown;
    const failure = (side: typeof fs) => thrown(() => (side.watchFile as WatchFile)(...args));
    expect(failure(sides.ours)).toEqual(failure(fs));
  });
});
