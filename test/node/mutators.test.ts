import fs from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bothSides, rejected, thrown } from './facades.ts';
import { calledBack, promised, sync } from './outcomes.ts';

const sides = bothSides();
const FILE = 'notes/large.txt';
const DIRECTORY = 'acme/empty';

/** A call of each function that changes something, with the system call it is refused with. */
const CALLS: Readonly<Record<string, readonly [syscall: string, ...args: unknown[]]>> = {
  appendFile: ['open', FILE, 'x'],
  chmod: ['chmod', FILE, 0o777],
  chown: ['chown', FILE, 1, 1],
  copyFile: ['copyfile', FILE, 'copy.txt'],
  lchown: ['lchown', FILE, 1, 1],
  link: ['link', FILE, 'link.txt'],
  lutimes: ['lutime', FILE, 1, 1],
  mkdir: ['mkdir', 'made'],
  mkdtemp: ['mkdtemp', 'made-'],
  rename: ['rename', FILE, 'renamed.txt'],
  rm: ['rm', FILE],
  rmdir: ['rmdir', DIRECTORY],
  symlink: ['symlink', FILE, 'link.txt'],
  truncate: ['open', FILE],
  unlink: ['unlink', FILE],
  utimes: ['utime', FILE, 1, 1],
  writeFile: ['open', FILE, 'x'],
};

const SECOND_PATH = ['copyFile', 'link', 'rename', 'symlink'];

describe.each(Object.entries(CALLS))('%s', (name, [syscall, ...args]) => {
  test('is EROFS in every form, with the path as it was written', async () => {
    const { ours } = sides;
    const [path, second] = args as [string, unknown];
    const shown = name === 'mkdtemp' ? `${path}XXXXXX` : path;
    const dest = SECOND_PATH.includes(name) ? { dest: second } : {};
    const where = 'dest' in dest ? `'${shown}' -> '${dest.dest}'` : `'${shown}'`;
    const expected = { code: 'EROFS', errno: -30, syscall, path: shown, ...dest };
    const error = { ...expected, message: `EROFS: read-only file system, ${syscall} ${where}` };
    for (const form of [sync, promised, calledBack]) expect(await form(ours, name, args)).toMatchObject({ error });
  });

  test('checks its arguments as node:fs does', async () => {
    const { ours } = sides;
    const bad = [undefined, null, {}, 'nul\0'];
    const calls = args.flatMap((_, at) => bad.map((one) => args.map((arg, index) => (index === at ? one : arg))));
    // What node:fs takes, it would do.
    const refused = calls.filter((call) => isRefused(name, call));
    expect(refused.length).toBeGreaterThan(0);
    for (const call of refused) expect(sync(ours, name, call), JSON.stringify(call)).toEqual(sync(fs, name, call));
  });
});

/** Whether node:fs takes these arguments for a mistake; it is asked with paths below a file, where nothing can change. */
function isRefused(name: string, args: readonly unknown[]): boolean {
  const nowhere = args.map((arg) =>
    arg === FILE || arg === DIRECTORY || /\.txt$/.test(String(arg)) ? `${FILE}/x` : arg,
  );
  const { error } = sync(fs, name, nowhere) as { error?: { syscall?: string } };
  return error !== undefined && error.syscall === undefined;
}

test('nothing is changed by any of them', async () => {
  const { ours, root } = sides;
  const before = fs.readdirSync(root, { recursive: true });
  for (const [name, [, ...args]] of Object.entries(CALLS)) await promised(ours, name, args);
  expect(fs.readdirSync(root, { recursive: true })).toEqual(before);
  expect(fs.statSync(FILE).mode & 0o777).toBe(0o444);
});

test('what would cross from the mount to the disk is EXDEV', () => {
  const { ours } = sides;
  for (const name of ['renameSync', 'linkSync'] as const) {
    expect(thrown(() => ours[name](FILE, '/elsewhere'))).toMatchObject({
      code: 'EXDEV',
      path: FILE,
      dest: '/elsewhere',
      message: `EXDEV: cross-device link not permitted, ${name.slice(0, -4)} '${FILE}' -> '/elsewhere'`,
    });
    expect(thrown(() => ours[name]('/elsewhere', FILE))).toMatchObject({ code: 'EXDEV' });
  }
});

test('streams of data are refused as a whole is', async () => {
  async function* data(): AsyncGenerator<string> {
    yield 'x';
  }
  expect(await rejected(sides.ours.promises.writeFile(FILE, data()))).toMatchObject({ code: 'EROFS', path: FILE });
});

test('promises take no descriptor, and write to none', async () => {
  for (const name of ['writeFile', 'appendFile'] as const) {
    const failure = (side: typeof fs) => rejected(side.promises[name](1 as never, 'must not be seen'));
    expect(await failure(sides.ours)).toEqual(await failure(fs));
  }
});

test('descriptors that are open elsewhere are written to by Node', () => {
  const { ours } = sides;
  const directory = fs.mkdtempSync(join(fs.realpathSync('/tmp'), 'elsewhere-'));
  const fd = fs.openSync(join(directory, 'file'), 'w+');
  ours.writeSync(fd, 'text');
  ours.ftruncateSync(fd, 3);
  ours.fchmodSync(fd, 0o600);
  ours.fsyncSync(fd);
  ours.closeSync(fd);
  expect(fs.readFileSync(join(directory, 'file'), 'utf8')).toBe('tex');
  fs.rmSync(directory, { recursive: true });
});
