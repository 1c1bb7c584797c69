import type { BigIntStats, Stats, StatsFs } from 'node:fs';
import type { Stat } from '../vfs/read-fs.ts';
import { native } from './native.ts';

/** Bytes of a block, as `stat` tells programs that want to read well. */
const BLOCK_SIZE = 4096;
/** Bytes of the unit `blocks` counts. */
const SECTOR = 512;
const FILE_MODE = 0o100444;
const DIRECTORY_MODE = 0o40555;

type Constructor<T> = new (stat: Stat, owner: Owner) => T;
type Times = Record<'atime' | 'mtime' | 'ctime' | 'birthtime', Date>;

/** What is the same for all files of a mount. */
export interface Owner {
  readonly dev: number;
  readonly uid: number;
  readonly gid: number;
}

const sample = native.statSync('/');
const bigintPrototype: object = Object.getPrototypeOf(native.statSync('/', { bigint: true }));
const statfsSample = native.statfsSync('/');
/** Where the prototype makes dates of the milliseconds when asked, they are not the object's own until then. */
const ownDates = Object.hasOwn(sample, 'mtime');
/** Node 26 keeps the part of each time below a millisecond under symbols of its own. */
const partials = Object.getOwnPropertySymbols(sample);

function DiskStats(this: Stats & Record<symbol, number>, stat: Stat, owner: Owner): void {
  const { size, mtimeMs, disk } = stat;
  this.dev = owner.dev;
  this.mode = disk?.mode ?? (stat.kind === 'file' ? FILE_MODE : DIRECTORY_MODE);
  this.nlink = disk?.nlink ?? 1;
  this.uid = disk?.uid ?? owner.uid;
  this.gid = disk?.gid ?? owner.gid;
  this.rdev = 0;
  this.blksize = BLOCK_SIZE;
  this.ino = stat.ino;
  this.size = size;
  this.blocks = Math.ceil(size / SECTOR);
  this.atimeMs = disk?.atimeMs ?? mtimeMs;
  this.mtimeMs = mtimeMs;
  this.ctimeMs = disk?.ctimeMs ?? mtimeMs;
  this.birthtimeMs = disk?.birthtimeMs ?? mtimeMs;
  if (ownDates) setDates(this);
  for (const partial of partials) this[partial] = 0;
}
DiskStats.prototype = native.Stats.prototype;

function DiskBigIntStats(this: BigIntStats & Times & Record<symbol, number>, stat: Stat, owner: Owner): void {
  const { disk, mtimeMs } = stat;
  this.dev = BigInt(owner.dev);
  this.mode = BigInt(disk?.mode ?? (stat.kind === 'file' ? FILE_MODE : DIRECTORY_MODE));
  this.nlink = BigInt(disk?.nlink ?? 1);
  this.uid = BigInt(disk?.uid ?? owner.uid);
  this.gid = BigInt(disk?.gid ?? owner.gid);
  this.rdev = 0n;
  this.blksize = BigInt(BLOCK_SIZE);
  this.ino = BigInt(stat.ino);
  this.size = BigInt(stat.size);
  this.blocks = BigInt(Math.ceil(stat.size / SECTOR));
  this.atimeMs = milliseconds(disk?.atimeMs ?? mtimeMs);
  this.mtimeMs = milliseconds(mtimeMs);
  this.ctimeMs = milliseconds(disk?.ctimeMs ?? mtimeMs);
  this.birthtimeMs = milliseconds(disk?.birthtimeMs ?? mtimeMs);
  this.atimeNs = nanoseconds(disk?.atimeMs ?? mtimeMs);
  this.mtimeNs = nanoseconds(mtimeMs);
  this.ctimeNs = nanoseconds(disk?.ctimeMs ?? mtimeMs);
  this.birthtimeNs = nanoseconds(disk?.birthtimeMs ?? mtimeMs);
  if (ownDates) setDates(this);
}

function milliseconds(ms: number): bigint {
  return BigInt(Math.trunc(ms));
}

function nanoseconds(ms: number): bigint {
  const whole = Math.trunc(ms);
  return BigInt(whole) * 1_000_000n + BigInt(Math.trunc((ms - whole) * 1_000_000));
}

function setDates(stats: Times & Record<`${keyof Times}Ms`, number | bigint>): void {
  stats.atime = new Date(Number(stats.atimeMs));
  stats.mtime = new Date(Number(stats.mtimeMs));
  stats.ctime = new Date(Number(stats.ctimeMs));
  stats.birthtime = new Date(Number(stats.birthtimeMs));
}
DiskBigIntStats.prototype = bigintPrototype;

const NumberStats = DiskStats as unknown as Constructor<Stats>;
const BigStats = DiskBigIntStats as unknown as Constructor<BigIntStats>;

/**
 * Node's own `Stats`, made without its constructor, which some versions warn about.
 *
 * All times are the modification time: nothing else is known, and it does not change while the content is the same.
 */
export function statsOf(stat: Stat, owner: Owner, bigint: boolean): Stats | BigIntStats {
  return bigint ? new BigStats(stat, owner) : new NumberStats(stat, owner);
}

/** A file system that is full, of unknown size: what a read-only one has to say. */
export function statfsOf(bigint: boolean): StatsFs {
  const zero = { bfree: 0, bavail: 0, files: 0, ffree: 0 };
  const sizes = { type: 0, bsize: BLOCK_SIZE, ...('frsize' in statfsSample && { frsize: BLOCK_SIZE }), blocks: 0 };
  const values = Object.entries({ ...sizes, ...zero }).map(([key, value]) => [key, bigint ? BigInt(value) : value]);
  return Object.assign(Object.create(Object.getPrototypeOf(statfsSample)), Object.fromEntries(values));
}

const NOTHING: Stat = { kind: 'file', ino: 0, size: 0, mtimeMs: 0 };

/** What watchers are shown of a file that is not there: nothing but zeros. */
export function absentStats(bigint: boolean): Stats | BigIntStats {
  const zero = bigint ? 0n : 0;
  const stats = statsOf(NOTHING, { dev: 0, uid: 0, gid: 0 }, bigint);
  return Object.assign(stats, { mode: zero, nlink: zero, blksize: zero });
}
