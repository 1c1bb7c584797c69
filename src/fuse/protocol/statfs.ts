const BLOCK_SIZE = 4096;
/** Bytes of a name at most. */
export const NAME_MAX = 255;

/** The reply to STATFS (`struct fuse_kstatfs`): full, of unknown size, as a read-only file system has to say. */
export function encodeStatfs(): Buffer {
  const bytes = Buffer.alloc(80);
  bytes.writeUInt32LE(BLOCK_SIZE, 40);
  bytes.writeUInt32LE(NAME_MAX, 44);
  bytes.writeUInt32LE(BLOCK_SIZE, 48);
  return bytes;
}
