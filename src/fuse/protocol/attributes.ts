import type { Stat } from '../../vfs/read-fs.ts';
import { writeU64 } from './reply.ts';

/** Who the files belong to. */
export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

/** A node as it is shown to the kernel. */
export interface Shown {
  readonly node: number;
  readonly stat: Stat;
  /** Milliseconds for which the kernel need not ask again whether the name is there. */
  readonly nameTtl: number;
  /** Milliseconds for which the kernel need not ask again for the attributes. */
  readonly attributesTtl: number;
}

/** Bytes of the structures below. */
export const ENTRY_BYTES = 128;
const ATTR_OUT_BYTES = 104;

const FILE_MODE = 0o100444;
const DIRECTORY_MODE = 0o40555;
const BLOCK_SIZE = 4096;
/** Bytes of the unit that `blocks` counts. */
const SECTOR = 512;

/** The reply to LOOKUP (`struct fuse_entry_out`). */
export function encodeEntry(shown: Shown, owner: Owner): Buffer {
  const bytes = Buffer.alloc(ENTRY_BYTES);
  writeEntry(bytes, 0, shown, owner);
  return bytes;
}

/** The reply to LOOKUP of a name that is not there, which the kernel remembers for `ttl` milliseconds. */
export function encodeAbsence(ttl: number): Buffer {
  const bytes = Buffer.alloc(ENTRY_BYTES);
  writeTtl(bytes, ttl, 16, 32);
  return bytes;
}

/** The reply to GETATTR (`struct fuse_attr_out`). */
export function encodeAttributes(stat: Stat, ttl: number, owner: Owner): Buffer {
  const bytes = Buffer.alloc(ATTR_OUT_BYTES);
  writeTtl(bytes, ttl, 0, 8);
  writeAttributes(bytes, 16, stat, owner);
  return bytes;
}

/** Node numbers are never used again, so that the generation stays 0. `bytes` is zeros from `at` on. */
export function writeEntry(bytes: Buffer, at: number, shown: Shown, owner: Owner): void {
  writeU64(bytes, shown.node, at);
  writeTtl(bytes, shown.nameTtl, at + 16, at + 32);
  writeTtl(bytes, shown.attributesTtl, at + 24, at + 36);
  writeAttributes(bytes, at + 40, shown.stat, owner);
}

/** `struct fuse_attr`. All times are the modification time: nothing else is known. */
function writeAttributes(bytes: Buffer, at: number, stat: Stat, { uid, gid }: Owner): void {
  const ms = Math.trunc(stat.mtimeMs);
  const [seconds, nanoseconds] = [Math.floor(ms / 1000), (ms % 1000) * 1_000_000];
  writeU64(bytes, stat.ino, at);
  writeU64(bytes, stat.size, at + 8);
  writeU64(bytes, Math.ceil(stat.size / SECTOR), at + 16);
  for (const time of [24, 32, 40]) writeU64(bytes, seconds, at + time);
  for (const part of [48, 52, 56]) bytes.writeUInt32LE(nanoseconds, at + part);
  bytes.writeUInt32LE(stat.kind === 'file' ? FILE_MODE : DIRECTORY_MODE, at + 60);
  bytes.writeUInt32LE(1, at + 64);
  bytes.writeUInt32LE(uid, at + 68);
  bytes.writeUInt32LE(gid, at + 72);
  bytes.writeUInt32LE(BLOCK_SIZE, at + 80);
}

function writeTtl(bytes: Buffer, ms: number, seconds: number, nanoseconds: number): void {
  writeU64(bytes, Math.floor(ms / 1000), seconds);
  bytes.writeUInt32LE((ms % 1000) * 1_000_000, nanoseconds);
}
