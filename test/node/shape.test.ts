import fs from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { bothSides, rejected, thrown } from './facades.ts';

const sides = bothSides();

/** What a read-only tree is without: it writes to the disk by a path of its own. */
const ABSENT = ['Utf8Stream', 'lchmod', 'lchmodSync'];

function names(target: object): string[] {
  return Object.keys(target).filter((name) => !ABSENT.includes(name));
}

test('has what the running node:fs has, as properties of its own, and nothing else', () => {
  const { ours } = sides;
  expect(Object.keys(ours).sort()).toEqual(names(fs).sort());
  expect(Object.keys(ours.promises).sort()).toEqual(names(fs.promises).sort());
  expect(ours.constants).toBe(fs.constants);
  expect(ours.promises.constants).toBe(fs.constants);
});

test('functions have the names node:fs gives them', () => {
  const { ours } = sides;
  for (const name of ['stat', 'statSync', 'readFile', 'readdirSync', 'open', 'realpath'] as const) {
    expect(ours[name].name).toBe(name);
  }
  expect(ours.promises.readFile.name).toBe('readFile');
});

describe('promisify', () => {
  test('gives what it gives of node:fs', async () => {
    const { ours } = sides;
    expect(await promisify(ours.exists)('acme')).toBe(true);
    expect(await promisify(ours.exists)('missing')).toBe(false);
    expect(await promisify(ours.readFile)('notes/.hidden/empty.txt')).toEqual(Buffer.alloc(0));
    expect(await promisify(ours.realpath.native)('acme/..')).toBe(sides.root);
    const fd = await promisify(ours.open)('notes/large.txt', 'r');
    expect(await promisify(ours.read)(fd, Buffer.alloc(4), 0, 4, 0)).toMatchObject({ bytesRead: 4 });
    await promisify(ours.close)(fd);
  });
});

describe('exists', () => {
  test.each(['acme', 'notes/large.txt', 'missing', 'notes/large.txt/', '', 'nul\0', undefined, {}, 7])(
    'of %j says what node:fs says',
    async (path) => {
      const asked = (side: typeof fs) => new Promise((resolve) => side.exists(path as string, resolve));
      expect(sides.ours.existsSync(path as string)).toBe(fs.existsSync(path as string));
      expect(await asked(sides.ours)).toBe(await asked(fs));
    },
  );

  test('needs a callback', () => {
    const failure = (side: typeof fs) => thrown(() => side.exists('acme', undefined as never));
    expect(failure(sides.ours)).toEqual(failure(fs));
  });
});

describe('stats', () => {
  test('are those of node:fs, with inodes that are unique and the same from every way of looking', async () => {
    const { ours } = sides;
    const paths = ours.readdirSync('.', { recursive: true, encoding: 'utf8' });
    const inodes = paths.map((path) => ours.statSync(path).ino);
    expect(new Set(inodes).size).toBe(paths.length);
    expect(paths.map((path) => ours.lstatSync(path).ino)).toEqual(inodes);
    const stats = ours.statSync('acme');
    expect(stats).toBeInstanceOf(fs.Stats);
    expect(stats.dev).toBe(ours.statSync('notes').dev);
    expect(stats.dev).not.toBe(fs.statSync('notes').dev);
    expect(stats.nlink).toBe(1);
    expect(ours.statSync('notes/large.txt').blocks).toBe(440);
    stats.mtime.setFullYear(1999);
    expect(ours.statSync('acme').mtime).toEqual(fs.statSync('acme').mtime);
  });

  test.each(['missing', 'missing/below', 'notes/large.txt/below', 'acme'])(
    'of %s may be absent as in node:fs',
    (path) => {
      for (const name of ['statSync', 'lstatSync'] as const) {
        const outcome = (side: typeof fs) => {
          try {
            return side[name](path, { throwIfNoEntry: false })?.isDirectory();
          } catch (error) {
            return { ...(error as Error) };
          }
        };
        expect(outcome(sides.ours)).toEqual(outcome(fs));
      }
    },
  );
});

test('access refuses to write to anything, and to execute files (SEC-1)', () => {
  const { ours } = sides;
  const { W_OK, X_OK, R_OK } = fs.constants;
  for (const path of ['acme', 'notes/large.txt']) {
    expect(thrown(() => ours.accessSync(path, R_OK | W_OK))).toMatchObject({ code: 'EROFS', syscall: 'access', path });
  }
  ours.accessSync('acme', X_OK);
  const failure = (side: typeof fs) => ({ ...thrown(() => side.accessSync('notes/large.txt', X_OK)) });
  expect(failure(ours)).toEqual(failure(fs));
});

test('realpath.native resolves as the kernel does', async () => {
  const { ours } = sides;
  for (const path of ['acme/../notes', './acme/', 'missing/..', 'notes/large.txt/', 'notes/large.txt/..', '']) {
    const outcome = (side: typeof fs) => {
      try {
        return [side.realpathSync.native(path), side.realpathSync.native(path, 'buffer')];
      } catch (error) {
        return { ...(error as Error) };
      }
    };
    expect(outcome(ours)).toEqual(outcome(fs));
  }
});

test('openAsBlob gives all of a file', async () => {
  const { ours } = sides;
  const blob = await ours.openAsBlob('acme/billing/refunds/assets/logo.png', { type: 'image/png' });
  expect(blob.type).toBe('image/png');
  expect(Buffer.from(await blob.arrayBuffer())).toEqual(fs.readFileSync('acme/billing/refunds/assets/logo.png'));
  await expect(ours.openAsBlob('missing')).rejects.toMatchObject({ code: 'ENOENT', path: 'missing' });
  const failure = (side: typeof fs) => rejected((async () => side.openAsBlob('acme', 7 as never))());
  expect(await failure(ours)).toEqual(await failure(fs));
});
