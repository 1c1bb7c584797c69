import type { FileHandle } from 'node:fs/promises';
import { difference, factsOf } from './facts.ts';
import type { Check, Subject } from './subject.ts';

/** Every way of reading gives the bytes that were read first. */
export const bytes: Check = {
  needs: ['readFileSync', 'readFile', 'promises.readFile', 'promises.open', 'openSync', 'readSync', 'createReadStream'],
  each: 'file',
  async run(subject, path, say) {
    const expected = contentOf(subject, path);
    for (const [way, read] of Object.entries(ways)) {
      try {
        const got = await read(subject, path);
        if (!expected.equals(got))
          say(`${way} gives ${got.byteLength} bytes that are not the ${expected.length} of the first reading`);
      } catch (error) {
        say(`${way} fails: ${String(error)}`);
      }
    }
  },
};

type Way = (subject: Subject, path: string) => Uint8Array | Promise<Uint8Array>;

const ways: Readonly<Record<string, Way>> = {
  'readFileSync(path)': ({ fs }, path) => fs.readFileSync(path),
  'readFileSync(fd)': (subject, path) => withDescriptor(subject, path, (fd) => subject.fs.readFileSync(fd)),
  'readFile(path)': (subject, path) => calledBack(subject, 'readFile', [path]),
  'readFile(fd)': (subject, path) => withDescriptor(subject, path, (fd) => calledBack(subject, 'readFile', [fd])),
  'promises.readFile(path)': ({ fs }, path) => fs.promises.readFile(path),
  'promises.readFile(FileHandle)': (subject, path) =>
    withHandle(subject, path, (handle) => subject.fs.promises.readFile(handle)),
  'FileHandle.readFile': (subject, path) => withHandle(subject, path, (handle) => handle.readFile()),
  'FileHandle.read': (subject, path) =>
    withHandle(subject, path, (handle) =>
      inPieces(async (buffer) => (await handle.read(buffer, 0, 7, null)).bytesRead),
    ),
  'FileHandle.createReadStream': (subject, path) =>
    withHandle(subject, path, (handle) => collect(handle.createReadStream({ autoClose: false }))),
  'FileHandle.readableWebStream': (subject, path) =>
    withHandle(subject, path, (handle) => collect(handle.readableWebStream() as AsyncIterable<ArrayBuffer>)),
  readSync: (subject, path) =>
    withDescriptor(subject, path, (fd) => inPieces((buffer) => subject.fs.readSync(fd, buffer, 0, 5, null))),
  readvSync: (subject, path) =>
    withDescriptor(subject, path, (fd) =>
      inPieces((buffer) => subject.fs.readvSync(fd, [buffer.subarray(0, 2), buffer.subarray(2, 6)])),
    ),
  read: (subject, path) =>
    withDescriptor(subject, path, (fd) =>
      inPieces((buffer) => calledBack(subject, 'read', [fd, buffer, 0, 6, null]) as Promise<number>),
    ),
  'createReadStream(path)': ({ fs }, path) => collect(fs.createReadStream(path)),
  'createReadStream(fd)': ({ fs }, path) => collect(fs.createReadStream('', { fd: fs.openSync(path, 'r') })),
};

/** Reading from any position into any part of a buffer, and streams of a part of a file, give that part. */
export const ranges: Check = {
  needs: ['openSync', 'closeSync', 'readSync', 'promises.open', 'createReadStream'],
  each: 'file',
  async run(subject, path, say) {
    const { fs } = subject;
    const whole = contentOf(subject, path);
    const { length } = whole;
    const compare = (way: string, got: Uint8Array, start: number, end: number) => {
      if (!whole.subarray(start, end).equals(got)) say(`${way} does not give bytes ${start} to ${end}`);
    };
    const starts = [...new Set([0, 1, length >> 1, Math.max(length - 1, 0), length, length + 5])];
    await withDescriptor(subject, path, (fd) => {
      for (const start of starts) {
        for (const size of [1, 7, length + 3]) {
          const buffer = Buffer.alloc(size + 2, 0xee);
          const read = fs.readSync(fd, buffer, 1, size, start);
          const way = `readSync of ${size} bytes at ${start}`;
          compare(way, buffer.subarray(1, 1 + read), start, start + size);
          if (buffer[0] !== 0xee || buffer[size + 1] !== 0xee) say(`${way} writes outside its part of the buffer`);
        }
      }
    });
    await withHandle(subject, path, async (handle) => {
      for (const position of starts) {
        const { bytesRead, buffer } = await handle.read({ buffer: Buffer.alloc(7), position });
        compare(`FileHandle.read at ${position}`, buffer.subarray(0, bytesRead), position, position + 7);
      }
    });
    for (const start of starts) {
      const end = start + 4;
      const part = await collect(fs.createReadStream(path, { start, end, highWaterMark: 3 }));
      compare(`createReadStream {start: ${start}, end: ${end}}`, part, start, end + 1);
    }
  },
};

/** The size that `stat` and `fstat` tell is the number of bytes there are. */
export const size: Check = {
  needs: ['statSync'],
  each: 'file',
  run(subject, path, say) {
    const { length } = contentOf(subject, path);
    const told = subject.fs.statSync(path).size;
    if (told !== length) say(`statSync tells a size of ${told}, and ${length} bytes are read`);
  },
};

/** Who changes the bytes of one reading changes no other reading. */
export const fresh: Check = {
  needs: ['readFileSync', 'readFile', 'promises.readFile'],
  each: 'file',
  async run(subject, path, say) {
    const { fs } = subject;
    const expected = contentOf(subject, path);
    const readings: Readonly<Record<string, () => Uint8Array | Promise<Uint8Array>>> = {
      readFileSync: () => fs.readFileSync(path),
      readFile: () => calledBack(subject, 'readFile', [path]),
      'promises.readFile': () => fs.promises.readFile(path),
    };
    for (const [way, read] of Object.entries(readings)) {
      const mine = await read();
      const before = Uint8Array.from(mine);
      for (const [index, byte] of mine.entries()) mine[index] = byte ^ 0xff;
      const again = await read();
      if (expected.length > 0 && !expected.equals(again))
        say(`${way} hands out bytes that an earlier reader has changed`);
      mine.set(before);
    }
  },
};

const TEXT = ['utf8', 'utf-8', 'utf16le', 'ucs2', 'latin1', 'binary', 'ascii', 'base64', 'base64url', 'hex'] as const;

/** Text in an encoding is the bytes in that encoding, for contents, names and real paths. */
export const encodings: Check = {
  needs: ['readFileSync', 'readFile', 'promises.readFile', 'readdirSync', 'realpathSync'],
  each: 'entry',
  async run(subject, path, say) {
    const { fs } = subject;
    const compare = (way: string, got: unknown, expected: unknown) => {
      const unlike = difference(factsOf(got), factsOf(expected));
      if (unlike !== undefined) say(`${way}: ${unlike}`);
    };
    const content = subject.bytes.get(path);
    if (content !== undefined) {
      for (const encoding of TEXT) {
        const expected = content.toString(encoding);
        compare(`readFileSync as ${encoding}`, fs.readFileSync(path, encoding), expected);
        compare(`readFile as ${encoding}`, await calledBack(subject, 'readFile', [path, { encoding }]), expected);
        compare(`promises.readFile as ${encoding}`, await fs.promises.readFile(path, encoding), expected);
      }
    } else {
      const names = fs.readdirSync(path).map((name) => Buffer.from(name));
      compare('readdirSync as buffer', fs.readdirSync(path, 'buffer'), names);
      for (const encoding of ['latin1', 'hex', 'base64'] as const) {
        const expected = names.map((name) => name.toString(encoding));
        compare(`readdirSync as ${encoding}`, fs.readdirSync(path, { encoding }), expected);
      }
    }
    const real = Buffer.from(fs.realpathSync(path));
    compare('realpathSync as buffer', fs.realpathSync(path, 'buffer'), real);
    compare('realpathSync as hex', fs.realpathSync(path, 'hex'), real.toString('hex'));
  },
};

function contentOf({ bytes }: Subject, path: string): Buffer {
  return bytes.get(path) ?? Buffer.alloc(0);
}

async function calledBack<T = Buffer>({ call }: Subject, name: string, args: readonly unknown[]): Promise<T> {
  const outcome = await call.callback(name, args);
  if ('error' in outcome) throw outcome.error;
  return outcome.value as T;
}

async function withDescriptor<T>({ fs }: Subject, path: string, use: (fd: number) => T | Promise<T>): Promise<T> {
  const fd = fs.openSync(path, 'r');
  try {
    return await use(fd);
  } finally {
    fs.closeSync(fd);
  }
}

async function withHandle<T>({ fs }: Subject, path: string, use: (handle: FileHandle) => Promise<T>): Promise<T> {
  const handle = await fs.promises.open(path, 'r');
  try {
    return await use(handle);
  } finally {
    await handle.close();
  }
}

/** Reads until a piece is empty. */
async function inPieces(read: (buffer: Buffer) => number | Promise<number>): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (;;) {
    const buffer = Buffer.alloc(7);
    const length = await read(buffer);
    if (length === 0) return Buffer.concat(pieces);
    pieces.push(buffer.subarray(0, length));
  }
}

async function collect(stream: AsyncIterable<unknown>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(new Uint8Array(chunk as ArrayBuffer | Uint8Array));
  return Buffer.concat(chunks);
}
