import { HEADER } from './abi.ts';

/**
 * The header of a reply (`struct fuse_out_header`).
 *
 * @param length bytes of what follows
 * @param errno positive; 0 for success
 */
export function replyHeader(unique: number, length: number, errno = 0): Buffer {
  const bytes = Buffer.allocUnsafe(HEADER.out);
  bytes.writeUInt32LE(HEADER.out + length, 0);
  bytes.writeInt32LE(-errno, 4);
  writeU64(bytes, unique, 8);
  return bytes;
}

/** The reply to OPEN and OPENDIR (`struct fuse_open_out`). */
export function encodeOpen(handle: number, flags: number): Buffer {
  const bytes = Buffer.alloc(16);
  writeU64(bytes, handle, 0);
  bytes.writeUInt32LE(flags, 8);
  return bytes;
}

export function writeU64(bytes: Buffer, value: number, offset: number): void {
  bytes.writeUInt32LE(value % 2 ** 32, offset);
  bytes.writeUInt32LE(Math.floor(value / 2 ** 32), offset + 4);
}
