/** The revision of the FUSE kernel ABI that replies are written in: Linux 5.2 and later speak it, and older peers are told. */
export const VERSION = { major: 7, minor: 31 } as const;

/** The oldest minor revision whose replies have the sizes written here (Linux 3.15). */
export const OLDEST_MINOR = 23;

/** What the kernel asks for, by the header's `opcode`. */
export const OPCODE = {
  lookup: 1,
  forget: 2,
  getattr: 3,
  setattr: 4,
  symlink: 6,
  mknod: 8,
  mkdir: 9,
  unlink: 10,
  rmdir: 11,
  rename: 12,
  link: 13,
  open: 14,
  read: 15,
  write: 16,
  statfs: 17,
  release: 18,
  setxattr: 21,
  getxattr: 22,
  listxattr: 23,
  removexattr: 24,
  flush: 25,
  init: 26,
  opendir: 27,
  readdir: 28,
  releasedir: 29,
  access: 34,
  create: 35,
  interrupt: 36,
  destroy: 38,
  batchForget: 42,
  fallocate: 43,
  readdirplus: 44,
  rename2: 45,
  copyFileRange: 47,
  tmpfile: 51,
} as const;

export type Opcode = (typeof OPCODE)[keyof typeof OPCODE];

/** Requests that would change something. */
export const WRITING: ReadonlySet<number> = new Set([
  OPCODE.setattr,
  OPCODE.symlink,
  OPCODE.mknod,
  OPCODE.mkdir,
  OPCODE.unlink,
  OPCODE.rmdir,
  OPCODE.rename,
  OPCODE.link,
  OPCODE.write,
  OPCODE.setxattr,
  OPCODE.removexattr,
  OPCODE.create,
  OPCODE.fallocate,
  OPCODE.rename2,
  OPCODE.copyFileRange,
  OPCODE.tmpfile,
]);

/** Capabilities in the `flags` of INIT. */
export const INIT = {
  asyncRead: 1 << 0,
  doReaddirplus: 1 << 13,
  readdirplusAuto: 1 << 14,
  parallelDirops: 1 << 18,
  maxPages: 1 << 22,
  explicitInvalData: 1 << 25,
} as const;

/** How an opened file is read, in the `open_flags` of the reply to OPEN. */
export const FOPEN = { directIo: 1 << 0, keepCache: 1 << 1 } as const;

/** Bytes of what comes before each request and each reply. */
export const HEADER = { in: 40, out: 16 } as const;

/** The node that the mount's root is, from the start and without a lookup. */
export const ROOT_ID = 1;

/** Bytes of the largest write that would be accepted, if any were: the smallest the kernel allows. */
export const MAX_WRITE = 4096;

/** Bytes of a buffer that every request fits into. */
export const REQUEST_BYTES = 64 * 1024;
