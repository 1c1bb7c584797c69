import * as nodeFs from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { memfs } from 'memfs';
import { afterAll, expect, test } from 'vitest';
import type { NodeFs } from '../../src/testing/check-fs/calls.ts';
import { assertFs, checkFs, type Finding } from '../../src/testing/check-fs.ts';
import { breaks, furtherBreaks } from './broken-file-systems.ts';
import { alter, readOnlyNodeFs, replace } from './read-only-node-fs.ts';

const files: Readonly<Record<string, string | Buffer>> = {
  'acme/billing/refunds/SKILL.md': '---\nname: refunds\ndescription: Pays back\n---\n\n# Rückzahlung\n',
  'acme/billing/refunds/references/a b.md': '100 %',
  'acme/logo.png': Buffer.of(0x89, 0x50, 0x4e, 0x47, 0, 0xff, 0xfe, 0x80),
  'acme/empty.txt': '',
};

const made: string[] = [];

/** A directory with the files, without links in its path. */
function makeTree(content = files): string {
  const root = nodeFs.realpathSync(nodeFs.mkdtempSync(join(tmpdir(), 'skillfs-check-')));
  made.push(root);
  for (const [path, bytes] of Object.entries(content)) {
    nodeFs.mkdirSync(join(root, dirname(path)), { recursive: true });
    nodeFs.writeFileSync(join(root, path), bytes);
  }
  return root;
}

afterAll(() => {
  for (const root of made) nodeFs.rmSync(root, { recursive: true });
});

const root = makeTree();

test('the disk has no findings, except that it can be written to', async () => {
  const options = { expected: files, oracle: { fs: nodeFs, root: makeTree() } };
  expect(await checkFs(nodeFs, root, { ...options, skip: ['read-only'] })).toEqual([]);
  expect(checksOf(await checkFs(nodeFs, root, options))).toEqual(['read-only']);
});

test('a disk that refuses every change has no findings', async () => {
  expect(await checkFs(readOnlyNodeFs(), root, { expected: files })).toEqual([]);
});

test('a tree that can be written to is left as it was', async () => {
  const writable = makeTree();
  await checkFs(nodeFs, writable);
  expect(await checkFs(nodeFs, writable, { expected: files, skip: ['read-only'] })).toEqual([]);
  expect(nodeFs.readdirSync(writable)).toEqual(['acme']);
});

test('read-only: nothing is tried where a first new file is refused for another reason', async () => {
  const tree = makeTree();
  const fs = { ...nodeFs };
  alter(fs, 'open', { before: ([, flags]) => (flags === 'wx' ? noAccess() : undefined) }, ['sync']);
  const noAccess = () => Object.assign(new Error('EACCES: permission denied, open'), { code: 'EACCES' });
  expect(await checkFs(fs, tree)).toEqual([
    { check: 'read-only', path: `${tree}/missing.txt`, message: 'openSync "wx": EACCES instead of EROFS' },
  ]);
  expect(await checkFs(nodeFs, tree, { expected: files, skip: ['read-only'] })).toEqual([]);
});

test('memfs is known to resolve ".." as text, to need flags to open, and not to sort names as buffers', async () => {
  const { fs } = memfs(Object.fromEntries(Object.entries(files).map(([path, bytes]) => [`/r/${path}`, bytes])));
  const findings = await checkFs(fs, '/r', { expected: files, skip: ['read-only'] });
  expect(checksOf(findings)).toEqual(['encodings', 'malformed', 'forms', 'callbacks', 'handles']);
  const of = (name: string) => findings.filter(({ check }) => check === name);
  expect(of('encodings').filter(({ message }) => !message.startsWith('readdirSync as buffer: '))).toEqual([]);
  expect(of('malformed').filter(({ path }) => !/(^|\/\.{0,2})$/.test(path))).toEqual([]);
  expect(of('forms').filter(({ message }) => !message.startsWith('open, '))).toEqual([]);
  expect(new Set(of('callbacks').map(({ message }) => message))).toEqual(new Set(['open calls back 0 times']));
  expect(new Set(of('handles').map(({ message }) => message))).toEqual(
    new Set(['readFile of a closed FileHandle: ERR_INVALID_ARG_TYPE instead of EBADF']),
  );
});

test.each(Object.entries(breaks))(
  '%s: what is broken is found out by this check, and by no other',
  async (check, breakIt) => {
    const fs = readOnlyNodeFs();
    const options = breakIt(fs, root);
    expect(checksOf(await checkFs(fs, root, options))).toEqual([check]);
  },
);

test.each(furtherBreaks)(
  '%s: a file system that %s is found out by this check, and by no other',
  async (check, _, breakIt) => {
    const fs = readOnlyNodeFs();
    breakIt(fs, root);
    expect(checksOf(await checkFs(fs, root))).toEqual([check]);
  },
);

test('expected: files that are missing or hold something else are found out', async () => {
  const expected = { ...files, 'acme/logo.png': 'no picture', 'acme/missing.md': true } as const;
  expect(await checkFs(readOnlyNodeFs(), root, { expected })).toEqual([
    { check: 'expected', path: `${root}/acme/logo.png`, message: 'does not hold what is expected' },
    { check: 'expected', path: `${root}/acme/missing.md`, message: 'is expected, and is not there' },
  ]);
});

test('oracle: another tree, and another wording of an error, are found out', async () => {
  const other = { fs: nodeFs, root: makeTree({ ...files, 'acme/empty.txt': 'not empty' }) };
  const unlike = await checkFs(readOnlyNodeFs(), root, { oracle: other });
  expect(checksOf(unlike)).toEqual(['oracle']);
  expect(new Set(unlike.map(({ path }) => path))).toEqual(new Set([`${root}/acme/empty.txt`]));

  const fs = readOnlyNodeFs();
  alter(fs, 'lstat', {
    error: (error) => Object.assign(error, { message: error.message.replace('no such file', 'nothing') }),
  });
  expect(checksOf(await checkFs(fs, root, { oracle: { fs: nodeFs, root: makeTree() } }))).toEqual(['oracle']);
});

test('read-only: a change that is made although it is refused is found out', async () => {
  const tree = makeTree();
  const fs = readOnlyNodeFs();
  const before = ([path]: readonly unknown[]) => {
    nodeFs.writeFileSync(path as string, 'changed');
    return undefined;
  };
  const refused = Object.assign(new Error('EROFS: read-only file system, truncate'), {
    code: 'EROFS',
    errno: -30,
    syscall: 'truncate',
  });
  alter(fs, 'truncate', { before, error: () => refused, args: () => ['/missing'] });
  const findings = await checkFs(fs, tree);
  expect(checksOf(findings)).toEqual(['read-only']);
  expect(findings.map(({ path }) => path)).toEqual([`${tree}/acme/billing/refunds/SKILL.md`]);
  expect(findings[0]?.message).toMatch(/^has changed: size 61 and 7, .*content "bytes ---.*" and "bytes changed"$/);
});

test('a call that is never answered is reported as such', async () => {
  const fs = readOnlyNodeFs();
  replace(fs, 'promises.statfs', () => () => new Promise(() => undefined));
  const findings = await checkFs(fs, root, { patience: 500, skip: ['forms'] });
  expect(findings.map(({ check, message }) => `${check}: ${message}`)).toContain(
    'statfs: promises.statfs: Error: fs.promises.statfs did not settle within 500 ms instead of ENOENT',
  );
});

test('a function that is missing is reported by the checks that need it, unless they are skipped', async () => {
  const { statfsSync: _, ...fs }: Partial<NodeFs> = readOnlyNodeFs();
  expect(await checkFs(fs, root)).toEqual([
    { check: 'statfs', path: root, message: 'fs.statfsSync is missing' },
    { check: 'forms', path: root, message: 'fs.statfsSync is missing' },
  ]);
  expect(await checkFs(fs, root, { skip: ['forms', 'statfs'] })).toEqual([]);
});

test('all findings can be thrown in one error', async () => {
  const expected = ['a.md', 'b.md'];
  await expect(assertFs(readOnlyNodeFs(), root, { expected })).rejects.toThrow(
    [
      `2 findings in ${root}:`,
      `  expected: ${root}/a.md: is expected, and is not there`,
      `  expected: ${root}/b.md: is expected, and is not there`,
    ].join('\n'),
  );
  await expect(assertFs(readOnlyNodeFs(), root, { expected: Object.keys(files) })).resolves.toBeUndefined();
});

function checksOf(findings: readonly Finding[]): readonly string[] {
  return [...new Set(findings.map(({ check }) => check))];
}
