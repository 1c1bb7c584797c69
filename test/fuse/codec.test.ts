import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HEADER } from '../../src/fuse/protocol/abi.ts';
import { encodeAbsence, encodeAttributes, encodeEntry, type Shown } from '../../src/fuse/protocol/attributes.ts';
import { DirectoryEntries } from '../../src/fuse/protocol/directory-entries.ts';
import { encodeInit } from '../../src/fuse/protocol/init.ts';
import { invalidEntry, invalidInode } from '../../src/fuse/protocol/notify.ts';
import { encodeOpen, replyHeader, writeU64 } from '../../src/fuse/protocol/reply.ts';
import { decodeHeader, decodeRequest, type Request, readU64 } from '../../src/fuse/protocol/request.ts';
import { encodeStatfs } from '../../src/fuse/protocol/statfs.ts';
import { encodeNames, encodeXattr } from '../../src/fuse/protocol/xattr.ts';
import { FIXTURES } from './fixtures.ts';

const owner = { uid: 1000, gid: 1001 };
const NODE = 0x2_0000_0003;
const shown: Shown = {
  node: NODE,
  stat: { kind: 'file', ino: 42, size: 2 ** 32 + 513, mtimeMs: 1_700_000_000_123.75 },
  nameTtl: 5_250,
  attributesTtl: 3_600_000,
};

function decoded(name: keyof typeof FIXTURES): Request {
  const bytes = Buffer.from(FIXTURES[name], 'hex');
  return decodeRequest(decodeHeader(bytes), bytes);
}

const hex = (bytes: Buffer | undefined) => bytes?.toString('hex');

test('a header tells what is asked, by which request, of which node', () => {
  const header = decodeHeader(Buffer.from(FIXTURES.lookupIn, 'hex'));
  expect(header).toEqual({ opcode: 1, unique: 0x1_0000_0004, node: NODE });
});

test.each<[keyof typeof FIXTURES, Request]>([
  ['initIn', { kind: 'init', major: 7, minor: 41, readahead: 131_072, flags: 0xf3fffffb }],
  ['lookupIn', { kind: 'lookup', name: 'hé llo.md' }],
  ['lookupBadIn', { kind: 'lookup', name: undefined }],
  ['forgetIn', { kind: 'forget', nodes: [{ node: 77, lookups: 5 }] }],
  [
    'batchForgetIn',
    {
      kind: 'forget',
      nodes: [
        { node: 10, lookups: 1 },
        { node: 0x3_0000_0001, lookups: 7 },
      ],
    },
  ],
  ['readIn', { kind: 'read', handle: 9, offset: 2 ** 32 + 4096, size: 131_072 }],
  ['readdirplusIn', { kind: 'readdirplus', handle: 9, offset: 2 ** 32 + 4096, size: 131_072 }],
  ['releaseIn', { kind: 'release', handle: 9 }],
  ['getxattrIn', { kind: 'getxattr', size: 255, name: 'user.skillfs.origin' }],
  ['interruptIn', { kind: 'interrupt', unique: 12 }],
])('%s is understood', (name, request) => {
  expect(decoded(name)).toEqual(request);
});

test('a request can be read over another without changing what was decoded', () => {
  const bytes = Buffer.from(FIXTURES.lookupIn, 'hex');
  const request = decodeRequest(decodeHeader(bytes), bytes);
  bytes.fill(0);
  expect(request).toEqual({ kind: 'lookup', name: 'hé llo.md' });
});

test('replies are written as the kernel reads them', () => {
  const init = decoded('initIn') as Extract<Request, { kind: 'init' }>;
  expect(hex(encodeInit(init))).toBe(FIXTURES.initOut);
  expect(hex(replyHeader(0x1_0000_0004, 4))).toBe(FIXTURES.outHeader);
  expect(hex(replyHeader(6, 0, 2))).toBe(FIXTURES.errorHeader);
  expect(hex(encodeEntry(shown, owner))).toBe(FIXTURES.entryOut);
  expect(hex(encodeAbsence(1_500))).toBe(FIXTURES.absenceOut);
  const directory = { kind: 'directory', ino: 7, size: 4096, mtimeMs: 1_700_000_000_123 } as const;
  expect(hex(encodeAttributes(directory, 1_500, owner))).toBe(FIXTURES.attrOut);
  expect(hex(encodeOpen(0x1_0000_0009, 2))).toBe(FIXTURES.openOut);
  expect(hex(encodeStatfs())).toBe(FIXTURES.statfsOut);
  expect(hex(invalidInode(NODE))).toBe(FIXTURES.invalInode);
  expect(hex(invalidEntry(3, 'SKILL.md'))).toBe(FIXTURES.invalEntry);
});

test.each([
  ['READDIR', false, FIXTURES.readdirOut],
  ['READDIRPLUS', true, FIXTURES.readdirplusOut],
])('%s is filled entry by entry', (_, plus, expected) => {
  const entries = new DirectoryEntries(expected.length / 2, plus);
  expect(entries.isFull('.')).toBe(false);
  entries.add({ name: '.', kind: 'directory', ino: 7 }, 1);
  expect(entries.isFull('SKILL.md')).toBe(false);
  entries.add({ name: 'SKILL.md', kind: 'file', ino: 42 }, 2, plus ? shown : undefined, owner);
  expect(entries.isFull('a')).toBe(true);
  expect(hex(entries.encoded)).toBe(expected);
});

test('a kernel that is too old is not answered, and a newer protocol is told ours', () => {
  const init = decoded('initIn') as Extract<Request, { kind: 'init' }>;
  expect(encodeInit({ ...init, minor: 22 })).toBeUndefined();
  expect(encodeInit({ ...init, major: 6 })).toBeUndefined();
  const newer = encodeInit({ ...init, major: 8 });
  expect([newer?.readUInt32LE(0), newer?.readUInt32LE(4), newer?.readUInt32LE(12)]).toEqual([7, 31, 0]);
});

test('only what the kernel offers is asked for', () => {
  const init = decoded('initIn') as Extract<Request, { kind: 'init' }>;
  expect(encodeInit({ ...init, flags: 1 })?.readUInt32LE(12)).toBe(1);
});

test('an attribute is given when it fits, and its size when that is asked', () => {
  expect(hex(encodeXattr(Buffer.from('origin'), 0))).toBe(FIXTURES.getxattrOut);
  expect(encodeXattr(Buffer.from('origin'), 6)?.toString()).toBe('origin');
  expect(encodeXattr(Buffer.from('origin'), 5)).toBeUndefined();
  expect(encodeNames(['user.a', 'user.b']).toString()).toBe('user.a\0user.b\0');
});

test('numbers of 64 bits come back as they were written', () => {
  fc.assert(
    fc.property(fc.nat({ max: Number.MAX_SAFE_INTEGER }), (value) => {
      const bytes = Buffer.alloc(8);
      writeU64(bytes, value, 0);
      expect(bytes.readBigUInt64LE()).toBe(BigInt(value));
      expect(readU64(bytes, 0)).toBe(value);
    }),
  );
});

test('names come back as they were written, whatever follows them', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 80 }), (text) => {
      const name = Buffer.from(text.replaceAll('\0', '')).toString();
      const body = Buffer.from(`${name}\0rest`);
      const bytes = Buffer.concat([Buffer.alloc(HEADER.in), body]);
      bytes.writeUInt32LE(bytes.length, 0);
      bytes.writeUInt32LE(1, 4);
      expect(decodeRequest(decodeHeader(bytes), bytes)).toEqual({ kind: 'lookup', name });
    }),
  );
});
