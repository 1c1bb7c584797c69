import fs from 'node:fs';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { bothSides, rejected, thrown } from './facades.ts';

const sides = bothSides();
const SKILL = 'acme/billing/refunds/SKILL.md';
const LARGE = 'notes/large.txt';

function failureOf(stream: { on(event: 'error', listener: (error: Error) => void): unknown }): Promise<Error> {
  return new Promise((resolve) => stream.on('error', resolve));
}

describe('read streams', () => {
  test.each([
    [undefined],
    ['utf8'],
    [{ start: 3 }],
    [{ start: 3, end: 12 }],
    [{ end: 0 }],
    [{ start: 1_000_000 }],
    [{ highWaterMark: 7, end: 200, encoding: 'hex' }],
    [{ encoding: 'base64', start: 1, end: 100 }],
    [Object.create({ start: 2, end: 5 })],
  ])('give what node:fs gives for %j', async (options) => {
    const all = async (side: typeof fs) => side.createReadStream(LARGE, options).toArray();
    expect(await all(sides.ours)).toEqual(await all(fs));
  });

  test('are streams of the path the caller wrote', async () => {
    const { ours } = sides;
    const stream = ours.createReadStream(`./${SKILL}`);
    expect(stream).toBeInstanceOf(ours.ReadStream);
    expect(stream).toBeInstanceOf(fs.ReadStream);
    expect(stream.path).toBe(`./${SKILL}`);
    expect(await text(stream)).toBe(fs.readFileSync(SKILL, 'utf8'));
    expect(stream).toMatchObject({ bytesRead: 63, closed: true, destroyed: true });
  });

  test('are made by their class too, with `new` and without, and can be extended', async () => {
    type StreamClass = (new (path: string) => fs.ReadStream) & ((path: string) => fs.ReadStream);
    const ReadStream = sides.ours.ReadStream as unknown as StreamClass;
    class Loud extends ReadStream {
      override toString(): string {
        return 'loud';
      }
    }
    expect(await text(new ReadStream(SKILL))).toBe(fs.readFileSync(SKILL, 'utf8'));
    expect(await text(ReadStream(SKILL))).toBe(fs.readFileSync(SKILL, 'utf8'));
    const loud = new Loud(SKILL);
    expect(`${loud}`).toBe('loud');
    expect(await text(loud)).toBe(fs.readFileSync(SKILL, 'utf8'));
  });

  test('take a descriptor or a handle of ours', async () => {
    const { ours } = sides;
    expect(await text(ours.createReadStream('', { fd: ours.openSync(SKILL, 'r'), start: 4, end: 7 }))).toBe('name');
    const handle = await ours.promises.open(SKILL);
    expect(await text(ours.createReadStream('', { fd: handle, start: 4, end: 7 }))).toBe('name');
  });

  test('leave a descriptor open where they are asked to', async () => {
    const { ours } = sides;
    const fd = ours.openSync(SKILL, 'r');
    await text(ours.createReadStream('', { fd, autoClose: false }));
    expect(ours.fstatSync(fd).size).toBe(63);
    ours.closeSync(fd);
  });

  test('end when their signal aborts', async () => {
    const failure = async (side: typeof fs) => {
      const stop = new AbortController();
      const stream = side.createReadStream(LARGE, { signal: stop.signal, highWaterMark: 16 });
      stream.once('data', () => stop.abort());
      return rejected(text(stream));
    };
    expect(await failure(sides.ours)).toMatchObject({ name: 'AbortError', code: 'ABORT_ERR' });
    expect((await failure(sides.ours)).message).toBe((await failure(fs)).message);
  });

  test.each(['missing', 'notes/large.txt/below', 'acme', ''])('fail for %j as node:fs fails', async (path) => {
    const [here, there] = [sides.ours.createReadStream(path), fs.createReadStream(path)];
    here.resume();
    there.resume();
    const [ours, nodes] = await Promise.all([failureOf(here), failureOf(there)]);
    expect(ours).toEqual(nodes);
    expect({ ...ours }).toEqual({ ...nodes });
  });

  test.each([
    [SKILL, 7],
    [SKILL, { start: 5, end: 1 }],
    [SKILL, { start: 'x' }],
    [SKILL, { encoding: 'no-such-encoding' }],
    [SKILL, { fs: {} }],
    [{}, undefined],
  ])('check their arguments as node:fs does: %j %j', (path, options) => {
    const failure = (side: typeof fs) => thrown(() => side.createReadStream(path as string, options as object));
    expect(failure(sides.ours)).toEqual(failure(fs));
  });
});

describe('write streams', () => {
  test.each([SKILL, 'new.md', '/elsewhere'])('fail for %s before anything is written', async (path) => {
    const stream = sides.ours.createWriteStream(path);
    stream.write('x', () => {});
    expect(await failureOf(stream)).toMatchObject({ code: 'EROFS', syscall: 'open', path });
    expect(stream).toBeInstanceOf(fs.WriteStream);
    expect(stream.destroyed).toBe(true);
  });
});
