import fs, { type Dir, type Dirent } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bothSides, fetching, rejected, thrown } from './facades.ts';

const sides = bothSides();
const { compare } = new Intl.Collator('en');

function shown(entries: readonly Dirent[]): string[] {
  return entries.map((entry) => `${entry.parentPath}|${entry.name}|${entry.isDirectory()}`).sort(compare);
}

function allSync(dir: Dir): Dirent[] {
  const found: Dirent[] = [];
  for (let entry = dir.readSync(); entry !== null; entry = dir.readSync()) found.push(entry);
  dir.closeSync();
  return found;
}

async function all(dir: Dir): Promise<Dirent[]> {
  const found: Dirent[] = [];
  for await (const entry of dir) found.push(entry);
  return found;
}

describe('opendir', () => {
  test.each([
    ['.', undefined],
    ['acme/billing/refunds', { bufferSize: 1 }],
    ['acme/empty', undefined],
    ['./notes/', { encoding: 'utf8' }],
    ['.', { recursive: true }],
    ['acme', { recursive: true }],
  ] as const)('lists %s (%j) as node:fs does, in every form', async (path, options) => {
    const { ours } = sides;
    const expected = shown(allSync(fs.opendirSync(path, options)));
    expect(shown(allSync(ours.opendirSync(path, options)))).toEqual(expected);
    expect(shown(await all(await ours.promises.opendir(path, options)))).toEqual(expected);
    const dir = await new Promise<Dir>((resolve, reject) =>
      ours.opendir(path, options ?? {}, (error, opened) => (error ? reject(error) : resolve(opened))),
    );
    expect(dir).toBeInstanceOf(fs.Dir);
    expect(dir.path).toBe(path);
    expect(shown(await all(dir))).toEqual(expected);
  });

  test('gives names as bytes where it is asked to', () => {
    const entries = allSync(sides.ours.opendirSync('acme', { encoding: 'buffer' as BufferEncoding }));
    expect(entries.map(({ name }) => name)).toEqual([Buffer.from('billing'), Buffer.from('empty')]);
  });

  test.each(['missing', 'notes/large.txt', 'notes/large.txt/', ''])('fails for %j as node:fs does', async (path) => {
    const { ours } = sides;
    const theirs = await rejected(fs.promises.opendir(path));
    expect({ ...(await rejected(ours.promises.opendir(path))) }).toEqual({ ...theirs });
    // Node leaves the path out of what its synchronous form throws; all of our forms fail alike.
    expect({ ...thrown(() => ours.opendirSync(path)) }).toEqual({ ...theirs });
    expect(theirs).toMatchObject({ code: thrown(() => fs.opendirSync(path)).code });
  });

  test.each([{ bufferSize: 0 }, { bufferSize: 1.5 }, { bufferSize: 'x' }, { encoding: 'no-such-encoding' }, 7])(
    'checks its options as node:fs does: %j',
    (options) => {
      const failure = (side: typeof fs) => thrown(() => side.opendirSync('.', options as object));
      expect(failure(sides.ours)).toEqual(failure(fs));
    },
  );

  test('is over after close, in every form', async () => {
    for (const side of [sides.ours, fs]) {
      const dir = side.opendirSync('acme');
      dir.closeSync();
      const closed = { code: 'ERR_DIR_CLOSED', message: 'Directory handle was closed' };
      expect(thrown(() => dir.readSync())).toMatchObject(closed);
      expect(thrown(() => dir.closeSync())).toMatchObject(closed);
      expect(thrown(() => dir.read(() => {}))).toMatchObject(closed);
      expect(await rejected(dir.close())).toMatchObject(closed);
      expect(await new Promise((resolve) => dir.close(resolve))).toMatchObject(closed);
    }
  });

  test('takes no synchronous call while an asynchronous one is under way', async () => {
    for (const side of [sides.ours, fs]) {
      const dir = await side.promises.opendir('acme');
      const reading = dir.read();
      expect(thrown(() => dir.readSync())).toMatchObject({ code: 'ERR_DIR_CONCURRENT_OPERATION' });
      expect((await reading)?.name).toMatch(/billing|empty/);
      expect(dir.readSync()?.name).toMatch(/billing|empty/);
      expect(dir.readSync()).toBe(null);
      await dir.close();
    }
  });

  test('does the asynchronous calls one after the other, and ends with its iteration', async () => {
    const dir = await sides.ours.promises.opendir('acme');
    const entries = await Promise.all([dir.read(), dir.read(), dir.read()]);
    expect(entries.map((entry) => entry?.name)).toEqual(['billing', 'empty', undefined]);
    expect(await all(dir)).toEqual([]);
    expect(await rejected(dir.close())).toMatchObject({ code: 'ERR_DIR_CLOSED' });
    const left = await sides.ours.promises.opendir('acme');
    for await (const entry of left) {
      expect(entry.name).toBe('billing');
      break;
    }
    expect(await rejected(left.read())).toMatchObject({ code: 'ERR_DIR_CLOSED' });
  });

  test('checks callbacks as node:fs does', () => {
    const failure = (side: typeof fs) => thrown(() => side.opendirSync('acme').read('no function' as never));
    expect(failure(sides.ours)).toEqual(failure(fs));
  });
});

describe('readdir', () => {
  test('gives sorted names, and entries that know where they are', () => {
    const { ours, root } = sides;
    expect(ours.readdirSync(root)).toEqual(['acme', 'notes']);
    const entries = ours.readdirSync(`${root}/`, { withFileTypes: true, recursive: true });
    const paths = entries.map((entry) => join(entry.parentPath, entry.name));
    expect(paths.map((path) => ours.statSync(path).isFile())).toEqual(entries.map((entry) => entry.isFile()));
    expect(entries.every((entry) => entry instanceof fs.Dirent)).toBe(true);
  });

  test('gives a list of the caller’s own each time', () => {
    const names = sides.ours.readdirSync('acme');
    names.length = 0;
    expect(sides.ours.readdirSync('acme')).toEqual(['billing', 'empty']);
  });

  test('gives bytes for bytes, also below', () => {
    const { ours } = sides;
    const names = ours.readdirSync(Buffer.from('notes'), { recursive: true, encoding: 'buffer' });
    expect(names.map(String)).toEqual(['.hidden', 'large.txt', '.hidden/empty.txt']);
    expect(names.every(Buffer.isBuffer)).toBe(true);
    const [, , below] = ours.readdirSync(Buffer.from('notes'), { recursive: true, withFileTypes: true });
    expect(below?.parentPath).toEqual(Buffer.from('notes/.hidden'));
  });

  test('asks for no file (LAZY-1)', async () => {
    const { ours, requests } = fetching();
    expect(ours.readdirSync('/mcp/s', { recursive: true })).toHaveLength(14);
    expect(await ours.promises.readdir('/mcp/s/acme', { withFileTypes: true })).toHaveLength(2);
    expect(requests).toEqual([]);
  });
});
