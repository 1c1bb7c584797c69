import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { bothSides, rejected, thrown } from './facades.ts';
import { MTIME_MS } from './memory-read-fs.ts';

const sides = bothSides();
const FILE = 'acme/billing/refunds/assets/logo.png';
let out: string;

beforeEach(() => {
  out = fs.mkdtempSync(join(fs.realpathSync(tmpdir()), 'copies-'));
});

afterEach(() => {
  fs.chmodSync(out, 0o755);
  fs.rmSync(out, { recursive: true });
});

/** Paths below a directory, with the content of files. */
function contentOf(directory: string): unknown {
  const paths = fs.readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort();
  return paths.map((path) => {
    const whole = join(directory, path);
    return [path, fs.statSync(whole).isFile() ? fs.readFileSync(whole, 'latin1') : undefined];
  });
}

describe('copyFile', () => {
  const forms: Readonly<Record<string, (from: string, to: string, mode?: number) => unknown>> = {
    sync: (...args) => sides.ours.copyFileSync(...args),
    promise: (...args) => sides.ours.promises.copyFile(...args),
    callback: (from, to, mode = 0) => promisify(sides.ours.copyFile)(from, to, mode),
  };

  test.each(Object.entries(forms))('(%s) copies content and mode to the disk', async (_, copyFile) => {
    const to = join(out, 'logo.png');
    await copyFile(FILE, to);
    expect(fs.readFileSync(to)).toEqual(fs.readFileSync(FILE));
    expect(fs.statSync(to).mode & 0o777).toBe(0o444);
  });

  test.each([
    ['missing', 'copy'],
    ['acme', 'copy'],
    [FILE, 'no/such/directory'],
    [FILE, '.'],
  ])('fails from %s to %s as node:fs does', (from, to) => {
    const failure = (side: typeof fs) => thrown(() => side.copyFileSync(from, join(out, to)));
    expect({ ...failure(sides.ours) }).toEqual({ ...failure(fs) });
    expect(failure(sides.ours).message).toBe(failure(fs).message);
  });

  test('does not overwrite what it must not', () => {
    const to = join(out, 'there');
    fs.writeFileSync(to, 'there');
    const exclusive = fs.constants.COPYFILE_EXCL;
    const failure = (side: typeof fs) => ({ ...thrown(() => side.copyFileSync(FILE, to, exclusive)) });
    expect(failure(sides.ours)).toEqual(failure(fs));
    sides.ours.copyFileSync(FILE, to);
    expect(fs.readFileSync(to)).toEqual(fs.readFileSync(FILE));
  });

  test('writes nothing into the mount', () => {
    const { ours, root } = sides;
    const dest = join(root, 'copy');
    expect(thrown(() => ours.copyFileSync(FILE, dest))).toMatchObject({ code: 'EROFS', syscall: 'copyfile', dest });
    expect(fs.existsSync(dest)).toBe(false);
  });

  test.each([
    [undefined, 'x'],
    ['x', undefined],
    ['x\0', 'y'],
    ['x', 'y', 'no mode'],
    ['x', 'y', 99],
  ] as const)('checks its arguments as node:fs does: %j, %j, %j', (...args) => {
    const failure = (side: typeof fs) => thrown(() => side.copyFileSync(...(args as unknown as [string, string])));
    expect(failure(sides.ours)).toEqual(failure(fs));
  });
});

describe('cp', () => {
  const forms: Readonly<Record<string, (from: string, to: string, options: fs.CopySyncOptions) => unknown>> = {
    sync: (...args) => sides.ours.cpSync(...args),
    promise: (...args) => sides.ours.promises.cp(...args),
    callback: (...args) =>
      new Promise<void>((resolve, reject) => sides.ours.cp(...args, (error) => (error ? reject(error) : resolve()))),
  };

  test.each(Object.entries(forms))('(%s) copies a tree, into which more can be written', async (_, cp) => {
    const to = join(out, 'new/acme');
    await cp('acme', to, { recursive: true });
    expect(contentOf(to)).toEqual(contentOf('acme'));
    fs.writeFileSync(join(to, 'billing/more.md'), 'more');
    expect(fs.statSync(join(to, 'billing')).mode & 0o200).toBe(0o200);
  });

  test.each(Object.entries(forms))('(%s) asks its filter for each, and leaves out what is below', async (_, cp) => {
    const filter = vi.fn((from: string) => !from.endsWith('refunds'));
    await cp('acme', join(out, 'acme'), { recursive: true, filter });
    expect(contentOf(out)).toEqual([['acme'], ['acme/billing'], ['acme/empty']].map(([path]) => [path, undefined]));
    expect(filter.mock.calls.map(([from]) => from)).toEqual([
      'acme',
      'acme/billing',
      'acme/billing/refunds',
      'acme/empty',
    ]);
    expect(filter.mock.calls[1]?.slice(0, 2)).toEqual(['acme/billing', join(out, 'acme/billing')]);
  });

  test('takes a filter that has to wait, where it can wait', async () => {
    const filter = async (from: string) => !from.endsWith('billing');
    await sides.ours.promises.cp('acme', join(out, 'acme'), { recursive: true, filter });
    expect(contentOf(out)).toEqual([
      ['acme', undefined],
      ['acme/empty', undefined],
    ]);
    const failure = (side: typeof fs) =>
      thrown(() => side.cpSync('acme', join(out, 'b'), { recursive: true, filter: filter as never }));
    expect(failure(sides.ours)).toEqual(failure(fs));
  });

  test('keeps times where it is asked to', () => {
    sides.ours.cpSync(FILE, join(out, 'logo.png'), { preserveTimestamps: true });
    expect(fs.statSync(join(out, 'logo.png')).mtimeMs).toBe(MTIME_MS);
  });

  test('overwrites, keeps or refuses what is there', () => {
    const to = join(out, 'there');
    fs.writeFileSync(to, 'there');
    sides.ours.cpSync(FILE, to, { force: false });
    expect(fs.readFileSync(to, 'utf8')).toBe('there');
    const failure = (side: typeof fs) => thrown(() => side.cpSync(FILE, to, { force: false, errorOnExist: true }));
    expect(failure(sides.ours)).toMatchObject({ ...failure(fs) });
    expect(failure(sides.ours).message).toBe(failure(fs).message);
    sides.ours.cpSync(FILE, to);
    expect(fs.readFileSync(to)).toEqual(fs.readFileSync(FILE));
  });

  test('refuses a file over a directory, a directory over a file, and a directory without `recursive`', async () => {
    fs.mkdirSync(join(out, 'directory'));
    fs.writeFileSync(join(out, 'file'), '');
    for (const [from, to, options] of [
      [FILE, 'directory', {}],
      ['acme', 'file', { recursive: true }],
      ['acme', 'copy', {}],
      ['missing', 'copy', {}],
    ] as const) {
      const failure = (side: typeof fs) => rejected(side.promises.cp(from, join(out, to), options));
      expect({ ...(await failure(sides.ours)) }).toEqual({ ...(await failure(fs)) });
      expect((await failure(sides.ours)).message).toBe((await failure(fs)).message);
    }
  });

  test('copies nothing into the mount', () => {
    const { ours, root } = sides;
    expect(thrown(() => ours.cpSync(FILE, join(root, 'copy')))).toMatchObject({ code: 'EROFS', syscall: 'cp' });
    expect(fs.existsSync(join(root, 'copy'))).toBe(false);
  });

  test.each([
    [{}, 'x'],
    ['x', 7],
    ['x', 'y', { mode: 'no mode' }],
    ['x', 'y', { filter: 7 }],
    ['x', 'y', 7],
  ] as const)('checks its arguments as node:fs does: %j, %j, %j', (...args) => {
    const failure = (side: typeof fs) => thrown(() => side.cpSync(...(args as unknown as [string, string])));
    expect(failure(sides.ours)).toEqual(failure(fs));
  });
});
