import { constants } from 'node:os';
import { beforeEach, expect, test } from 'vitest';
import { Fault } from '../../src/base/fault.ts';
import { known, type Op } from '../../src/base/op.ts';
import { errnoOf, Refusal } from '../../src/fuse/errno.ts';
import { invalidations } from '../../src/fuse/invalidation.ts';
import { NodeTable } from '../../src/fuse/nodes.ts';
import { type Answer, Operations } from '../../src/fuse/operations.ts';
import { FOPEN, ROOT_ID } from '../../src/fuse/protocol/abi.ts';
import { invalidEntry, invalidInode } from '../../src/fuse/protocol/notify.ts';
import { type Request, readU64 } from '../../src/fuse/protocol/request.ts';
import type { Stat } from '../../src/vfs/read-fs.ts';
import { driver, FetchingReadFs, MemoryReadFs } from '../node/memory-read-fs.ts';

let files: MemoryReadFs;
let core: FetchingReadFs;
let nodes: NodeTable;
let operations: Operations;
/** Digests by path; what has none is not verified. */
let digests: Map<string, string>;

beforeEach(() => {
  files = new MemoryReadFs('/mcp', { 's/a/SKILL.md': 'skill', 's/a/x.md': 'x', 's/dynamic/y.md': 'yy' });
  core = new FetchingReadFs(files);
  nodes = new NodeTable('/mcp');
  digests = new Map([
    ['/mcp/s/a/SKILL.md', 'one'],
    ['/mcp/s/a/x.md', 'x'],
  ]);
  const provenance = {
    digestOf: (path: string) => digests.get(path),
    xattrsOf: (path: string) => new Map([['user.path', () => known(path)]]),
  };
  operations = new Operations({ core, nodes, owner: { uid: 0, gid: 0 }, provenance });
});

const ask = (node: number, request: Request): Promise<Answer> => driver.async(operations.answer(node, request));

async function body(node: number, request: Request): Promise<Buffer> {
  return Buffer.from((await ask(node, request)).body);
}

/** The node at a path below the root, as the kernel finds it. */
async function lookup(path: string): Promise<number> {
  let node = ROOT_ID;
  for (const name of path.split('/')) node = readU64(await body(node, { kind: 'lookup', name }), 0);
  return node;
}

async function open(node: number): Promise<{ handle: number; flags: number }> {
  const reply = await body(node, { kind: 'open' });
  return { handle: readU64(reply, 0), flags: reply.readUInt32LE(8) };
}

async function read(node: number, handle: number, offset = 0, size = 4096): Promise<string> {
  return (await body(node, { kind: 'read', handle, offset, size })).toString();
}

test('a name that is not there is an answer, a failure is an error', async () => {
  const root = await lookup('s/a');
  expect(readU64(await body(root, { kind: 'lookup', name: 'none' }), 0)).toBe(0);
  expect(readU64(await body(root, { kind: 'lookup', name: undefined }), 0)).toBe(0);
  await expect(ask(root, { kind: 'lookup', name: 'é'.repeat(128) })).rejects.toMatchObject({ code: 'ENAMETOOLONG' });
  await expect(ask(4711, { kind: 'getattr' })).rejects.toMatchObject({ code: 'ESTALE' });
});

test('verified content is fetched once, and the kernel may keep it', async () => {
  const node = await lookup('s/a/SKILL.md');
  const first = await open(node);
  expect(first.flags).toBe(FOPEN.keepCache);
  expect(await read(node, first.handle)).toBe('skill');
  expect(await read(node, first.handle, 1, 2)).toBe('ki');
  expect(await read(node, first.handle, 100)).toBe('');
  const second = await open(node);
  expect(second.flags).toBe(FOPEN.keepCache);
  expect(await read(node, second.handle, 4)).toBe('l');
  expect(core.requests).toEqual(['/mcp/s/a/SKILL.md']);
});

test('content that cannot be verified is never kept by the kernel (VER-5)', async () => {
  const node = await lookup('s/dynamic/y.md');
  expect((await open(node)).flags).toBe(FOPEN.directIo);
});

test('other verified content is another node; what is open goes on with the old one', async () => {
  const before = await lookup('s/a/SKILL.md');
  const opened = await open(before);
  files.write('/mcp/s/a/SKILL.md', 'another');
  digests.set('/mcp/s/a/SKILL.md', 'two');
  expect(await read(before, opened.handle)).toBe('skill');
  await expect(open(before)).rejects.toMatchObject({ code: 'ESTALE' });
  const after = await lookup('s/a/SKILL.md');
  expect(after).not.toBe(before);
  expect(await read(after, (await open(after)).handle)).toBe('another');
  expect((await body(before, { kind: 'getattr' })).readUInt32LE(16 + 8)).toBe(5);
  expect((await body(after, { kind: 'getattr' })).readUInt32LE(16 + 8)).toBe(7);
});

test('content that changed between two reads of an open file is never mixed into it', async () => {
  const node = await lookup('s/a/SKILL.md');
  await open(node);
  const { handle } = await open(node);
  files.write('/mcp/s/a/SKILL.md', 'another');
  digests.set('/mcp/s/a/SKILL.md', 'two');
  await expect(read(node, handle)).rejects.toMatchObject({ code: 'EIO' });
});

test('a node is forgotten when the kernel says so as often as it was told of it', async () => {
  const node = await lookup('s');
  await lookup('s');
  nodes.forget(node, 1);
  expect(nodes.get(node)?.path).toBe('/mcp/s');
  nodes.forget(node, 1);
  expect(nodes.get(node)).toBeUndefined();
  expect(await lookup('s')).not.toBe(node);
  nodes.forget(ROOT_ID, 1);
  expect(nodes.get(ROOT_ID)?.path).toBe('/mcp');
});

test('an answer that nobody waits for any more leaves no node and no handle', async () => {
  const { body: entry, unsent } = await ask(ROOT_ID, { kind: 'lookup', name: 's' });
  unsent?.();
  expect(nodes.get(readU64(Buffer.from(entry), 0))).toBeUndefined();
  const node = await lookup('s/a/x.md');
  const opened = await ask(node, { kind: 'open' });
  opened.unsent?.();
  const handle = readU64(Buffer.from(opened.body), 0);
  await expect(read(node, handle)).rejects.toMatchObject({ code: 'EBADF' });
});

test('a directory is read in parts, from any offset, and its nodes are told of', async () => {
  const node = await lookup('s/a');
  const handle = readU64(await body(node, { kind: 'opendir' }), 0);
  const names: string[] = [];
  for (let offset = 0, part: Buffer = Buffer.alloc(1); part.length > 0; offset++) {
    part = await body(node, { kind: 'readdirplus', handle, offset, size: 200 });
    if (part.length > 0) names.push(part.toString('utf8', 152, 152 + part.readUInt32LE(128 + 16)));
  }
  expect(names).toEqual(['.', '..', 'SKILL.md', 'x.md']);
  expect(nodes.at('/mcp/s/a/x.md')?.lookups).toBe(1);
  expect(core.requests).toEqual([]);
});

test('attributes are given by name; other kinds are not there at all', async () => {
  const node = await lookup('s/a');
  const get = (name: string, size = 100) => body(node, { kind: 'getxattr', name, size });
  expect((await get('user.path')).toString()).toBe('/mcp/s/a');
  expect((await body(node, { kind: 'listxattr', size: 100 })).toString()).toBe('user.path\0');
  await expect(get('user.other')).rejects.toMatchObject({ code: 'ENODATA' });
  await expect(get('security.selinux')).rejects.toMatchObject({ code: 'EOPNOTSUPP' });
  await expect(get('user.path', 3)).rejects.toMatchObject({ code: 'ERANGE' });
});

test('a change makes the kernel look names up again, and keeps directories that stay', async () => {
  const directory = await lookup('s/a');
  await lookup('s/a/x.md');
  const changed = (path: string) => invalidations(path, files, nodes).map((bytes) => bytes.toString('hex'));
  expect(changed('/mcp/s/a')).toEqual([invalidInode(directory).toString('hex')]);
  expect(changed('/mcp/s/a/x.md')).toEqual([invalidEntry(directory, 'x.md').toString('hex')]);
  expect(changed('/mcp/s/a/new.md')).toEqual([invalidEntry(directory, 'new.md').toString('hex')]);
  expect(changed('/mcp/s/unseen/new.md')).toEqual([]);
});

test('errors have the numbers of their codes, and what is unexpected is EIO', () => {
  expect(errnoOf(new Fault('ETIMEDOUT'))).toBe(constants.errno.ETIMEDOUT);
  expect(errnoOf(new Fault('EHOSTUNREACH'))).toBe(constants.errno.EHOSTUNREACH);
  expect(errnoOf(new Refusal('ESTALE'))).toBe(constants.errno.ESTALE);
  expect(errnoOf(new TypeError('a bug'))).toBe(constants.errno.EIO);
});

test('of content without manifest the size is known once it is read; until then a listing leaves it out', async () => {
  const sizes = { '/mcp/s/dynamic/y.md': 0 };
  const unknown = {
    *stat(path: string): Op<Stat> {
      const stat = yield* files.stat(path);
      return path in sizes ? { ...stat, size: 0 } : stat;
    },
    readdir: (path: string) => files.readdir(path),
    read: (path: string) => core.read(path),
  };
  const provenance = { digestOf: () => undefined, xattrsOf: () => new Map() };
  operations = new Operations({ core: unknown, nodes, owner: { uid: 0, gid: 0 }, provenance });
  const directory = await lookup('s/dynamic');
  const handle = readU64(await body(directory, { kind: 'opendir' }), 0);
  const listed = await body(directory, { kind: 'readdirplus', handle, offset: 2, size: 4096 });
  expect(readU64(listed, 0)).toBe(0);
  expect(core.requests).toEqual([]);
  const entry = await body(directory, { kind: 'lookup', name: 'y.md' });
  expect(readU64(entry, 40 + 8)).toBe(2);
});
