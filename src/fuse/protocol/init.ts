import { INIT, MAX_WRITE, OLDEST_MINOR, VERSION } from './abi.ts';
import type { Request } from './request.ts';

/** What is used of what the kernel offers. */
const WANTED =
  INIT.asyncRead |
  INIT.doReaddirplus |
  INIT.readdirplusAuto |
  INIT.parallelDirops |
  INIT.maxPages |
  INIT.explicitInvalData;

/** Requests that the kernel makes ahead of need at once, and from how many on it calls itself busy. */
const BACKGROUND = { max: 64, congested: 48 } as const;

/** Pages of one READ: 1 MiB. */
const MAX_PAGES = 256;

/** Nanoseconds that times are multiples of. */
const TIME_GRANULARITY = 1;

/** The reply to INIT (`struct fuse_init_out`); `undefined` when the kernel is too old to be understood. */
export function encodeInit(init: Extract<Request, { kind: 'init' }>): Buffer | undefined {
  if (init.major < VERSION.major || (init.major === VERSION.major && init.minor < OLDEST_MINOR)) return undefined;
  const bytes = Buffer.alloc(64);
  bytes.writeUInt32LE(VERSION.major, 0);
  bytes.writeUInt32LE(VERSION.minor, 4);
  // A newer major is told ours, and asks again.
  if (init.major > VERSION.major) return bytes;
  bytes.writeUInt32LE(init.readahead, 8);
  bytes.writeUInt32LE((init.flags & WANTED) >>> 0, 12);
  bytes.writeUInt16LE(BACKGROUND.max, 16);
  bytes.writeUInt16LE(BACKGROUND.congested, 18);
  bytes.writeUInt32LE(MAX_WRITE, 20);
  bytes.writeUInt32LE(TIME_GRANULARITY, 24);
  bytes.writeUInt16LE(MAX_PAGES, 28);
  return bytes;
}
