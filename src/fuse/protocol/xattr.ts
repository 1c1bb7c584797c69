/**
 * The reply to GETXATTR and LISTXATTR: the value, or its size (`struct fuse_getxattr_out`) when none was given.
 *
 * @returns `undefined` when the value does not fit into `size` bytes
 */
export function encodeXattr(value: Buffer, size: number): Buffer | undefined {
  if (size !== 0) return value.length <= size ? value : undefined;
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32LE(value.length, 0);
  return bytes;
}

/** Names one after the other, each with its zero byte. */
export function encodeNames(names: Iterable<string>): Buffer {
  return Buffer.from([...names].map((name) => `${name}\0`).join(''));
}
