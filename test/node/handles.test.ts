import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { bothSides, rejected, thrown } from './facades.ts';

const sides = bothSides();
const SKILL = 'acme/billing/refunds/SKILL.md';
const LOGO = 'acme/billing/refunds/assets/logo.png';
const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY, O_WRONLY, O_RDWR, O_CREAT } = fs.constants;

describe('descriptors', () => {
  test('read what readFile reads, in pieces, from a position and in several buffers', () => {
    const fd = sides.ours.openSync(SKILL, 'r');
    const whole = fs.readFileSync(SKILL);
    const [first, second] = [Buffer.alloc(4), Buffer.alloc(60)];
    expect(sides.ours.readSync(fd, first)).toBe(4);
    expect(sides.ours.readSync(fd, second, { position: 4 })).toBe(whole.length - 4);
    expect(Buffer.concat([first, second.subarray(0, whole.length - 4)])).toEqual(whole);
    expect(sides.ours.readvSync(fd, [Buffer.alloc(10), Buffer.alloc(10)], 0)).toBe(20);
    expect(sides.ours.readFileSync(fd, 'latin1')).toBe(whole.toString('latin1').slice(4));
    sides.ours.closeSync(fd);
    expect(thrown(() => sides.ours.readSync(fd, first))).toMatchObject({ code: 'EBADF', syscall: 'read' });
  });

  test('know the inode of the path, as stat does, in every form', async () => {
    const { ours } = sides;
    const fd = ours.openSync(LOGO, 'r');
    const expected = ours.statSync(LOGO);
    expect(ours.fstatSync(fd)).toEqual(expected);
    expect(ours.fstatSync(fd, { bigint: true })).toEqual(ours.statSync(LOGO, { bigint: true }));
    expect(await new Promise((resolve) => ours.fstat(fd, (_, stats) => resolve(stats)))).toEqual(expected);
    ours.closeSync(fd);
    expect(thrown(() => ours.fstatSync(fd))).toMatchObject({ code: 'EBADF', syscall: 'fstat' });
  });

  test('are forgotten when Node closes them and gives the number to another file', () => {
    const { ours, root } = sides;
    const fd = ours.openSync(SKILL, 'r');
    fs.closeSync(fd);
    const another = fs.openSync(join(root, LOGO), 'r');
    expect(another).toBe(fd);
    expect(ours.fstatSync(another)).toEqual(fs.fstatSync(another));
    fs.closeSync(another);
  });

  test('of other files are as good as with node:fs', () => {
    const fd = fs.openSync(import.meta.filename, 'r');
    expect(sides.ours.fstatSync(fd)).toEqual(fs.fstatSync(fd));
    expect(sides.ours.readFileSync(fd, 'utf8')).toContain('as good as with node:fs');
    sides.ours.closeSync(fd);
  });

  test('of directories can be had, and only looked at', () => {
    const { ours } = sides;
    const fd = ours.openSync('acme', O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    expect(ours.fstatSync(fd)).toEqual(ours.statSync('acme'));
    expect(thrown(() => ours.readSync(fd, Buffer.alloc(1)))).toMatchObject({ code: 'EISDIR', syscall: 'read' });
    ours.closeSync(fd);
    expect(thrown(() => ours.openSync(SKILL, O_DIRECTORY))).toEqual(thrown(() => fs.openSync(SKILL, O_DIRECTORY)));
  });

  test('that are closed are what node:fs says of them, whatever they were', () => {
    const { ours } = sides;
    const fd = ours.openSync(SKILL, 'r');
    ours.closeSync(fd);
    for (const name of ['fchmodSync', 'ftruncateSync', 'fstatSync'] as const) {
      expect(thrown(() => ours[name](fd, 0 as never))).toMatchObject({ code: 'EBADF', syscall: name.slice(0, -4) });
    }
  });

  test('cannot be written to, nor their file be changed', () => {
    const { ours } = sides;
    const fd = ours.openSync(SKILL, 'r');
    expect(thrown(() => ours.writeSync(fd, 'x'))).toMatchObject({ code: 'EBADF', syscall: 'write' });
    expect(thrown(() => ours.ftruncateSync(fd))).toMatchObject({ syscall: 'ftruncate' });
    expect(thrown(() => ours.fchmodSync(fd, 0o777))).toMatchObject({ code: 'EROFS', syscall: 'fchmod' });
    expect(thrown(() => ours.fchownSync(fd, 1, 1))).toMatchObject({ code: 'EROFS', syscall: 'fchown' });
    expect(thrown(() => ours.futimesSync(fd, 1, 1))).toMatchObject({ code: 'EROFS', syscall: 'futime' });
    ours.closeSync(fd);
  });

  test.each(['w', 'a', 'r+', 'w+', 'wx', 'ax+', 'as', O_WRONLY, O_RDWR, O_CREAT])(
    'are refused for flags %s',
    (flags) => {
      const { ours, root } = sides;
      for (const path of [join(root, SKILL), join(root, 'missing'), '/elsewhere']) {
        const message = `EROFS: read-only file system, open '${path}'`;
        expect(thrown(() => ours.openSync(path, flags))).toMatchObject({
          code: 'EROFS',
          syscall: 'open',
          path,
          message,
        });
      }
    },
  );

  test('leave nothing behind on the disk', () => {
    const left = () => fs.readdirSync(tmpdir()).filter((name) => name.startsWith(`skillfs-${process.pid}-`));
    const fd = sides.ours.openSync(SKILL, 'r');
    expect(left()).toHaveLength(1);
    expect(fs.readdirSync(join(tmpdir(), left()[0] as string))).toEqual([]);
    expect(fs.statSync(join(tmpdir(), left()[0] as string)).mode & 0o777).toBe(0o700);
    sides.ours.closeSync(fd);
  });
});

describe('arguments', () => {
  test.each([
    ['open', [undefined]],
    ['open', [SKILL, 'no-such-flag']],
    ['open', [SKILL, 1.5]],
    ['open', [SKILL, 'r', 'no mode']],
    ['open', [SKILL, 'r', -1]],
    ['open', [SKILL, {}]],
    ['open', ['a\0b']],
    ['open', ['missing', null]],
    ['fstat', ['1']],
    ['fstat', [-1]],
    ['fstat', [1.5]],
    ['fstat', [999_999]],
    ['close', [undefined]],
    ['close', [999_999]],
  ] as const)('of %s are checked as node:fs checks them: %j', async (name, args) => {
    type Call = (...args: unknown[]) => unknown;
    const failure = (side: typeof fs) => thrown(() => (side[`${name}Sync`] as Call)(...args));
    expect(failure(sides.ours)).toEqual(failure(fs));
    expect({ ...failure(sides.ours) }).toEqual({ ...failure(fs) });
    if (name !== 'open') return;
    const callbackFailure = (side: typeof fs) =>
      new Promise((resolve) => {
        try {
          (side.open as Call)(...args, resolve);
        } catch (error) {
          resolve({ thrown: error });
        }
      });
    expect(await callbackFailure(sides.ours)).toEqual(await callbackFailure(fs));
  });
});

describe('file handles', () => {
  test('read, stat and close as those of node:fs', async () => {
    const { ours } = sides;
    const handle = await ours.promises.open(SKILL);
    expect(await handle.stat()).toEqual(ours.statSync(SKILL));
    expect(await handle.stat({ bigint: true })).toEqual(ours.statSync(SKILL, { bigint: true }));
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(7), 0, 7, 4);
    expect(buffer.toString('utf8', 0, bytesRead)).toBe('name: r');
    expect(await ours.promises.readFile(handle, 'utf8')).toBe(fs.readFileSync(SKILL, 'utf8'));
    await handle.close();
    expect(await rejected(handle.stat())).toMatchObject({ code: 'EBADF' });
    expect(await rejected(handle.read())).toMatchObject({ code: 'EBADF' });
  });

  test('give lines and streams', async () => {
    const { ours } = sides;
    const lines: string[] = [];
    for await (const line of (await ours.promises.open('notes/large.txt')).readLines()) lines.push(line);
    expect(lines).toHaveLength(5000);
    const handle = await ours.promises.open(SKILL);
    const pieces = await handle.createReadStream({ start: 4, end: 10, encoding: 'utf8' }).toArray();
    expect(pieces.join('')).toBe('name: r');
  });

  test('cannot change their file', async () => {
    const handle = await sides.ours.promises.open(SKILL);
    expect(await rejected(handle.writeFile('x'))).toMatchObject({ code: 'EBADF' });
    expect(await rejected(handle.chmod(0o777))).toMatchObject({ code: 'EROFS', syscall: 'fchmod' });
    expect(await rejected(handle.chown(1, 1))).toMatchObject({ code: 'EROFS', syscall: 'fchown' });
    expect(await rejected(handle.utimes(1, 1))).toMatchObject({ code: 'EROFS', syscall: 'futime' });
    await handle.close();
  });

  test('fail as those of node:fs where there is nothing, or one asks to write', async () => {
    const { ours, root } = sides;
    const missing = join(root, 'missing');
    expect({ ...(await rejected(ours.promises.open(missing))) }).toEqual({
      ...(await rejected(fs.promises.open(missing))),
    });
    expect(await rejected(ours.promises.open(SKILL, 'r+'))).toMatchObject({ code: 'EROFS', path: SKILL });
    expect(await rejected(ours.promises.open(SKILL, 'no-such-flag'))).toMatchObject({ code: 'ERR_INVALID_ARG_VALUE' });
  });

  test('never tell of the private file', async () => {
    const { ours } = sides;
    const handle = await ours.promises.open('acme');
    const error = await rejected(handle.readFile());
    expect(error).toMatchObject({ code: 'EISDIR' });
    expect(JSON.stringify([error, error.message, handle])).not.toContain(tmpdir());
    expect(error.stack).not.toContain(`skillfs-${process.pid}`);
    await handle.close();
  });
});
