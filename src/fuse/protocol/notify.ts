import { HEADER } from './abi.ts';
import { writeU64 } from './reply.ts';

const CODE = { invalidInode: 2, invalidEntry: 3 } as const;

/** Tells the kernel to forget a node's attributes and its cached content (`struct fuse_notify_inval_inode_out`). */
export function invalidInode(node: number): Buffer {
  const bytes = notification(CODE.invalidInode, 24);
  writeU64(bytes, node, HEADER.out);
  // From the first byte to the last: both are zero.
  return bytes;
}

/** Tells the kernel to forget what is, or is not, at a name (`struct fuse_notify_inval_entry_out`). */
export function invalidEntry(parent: number, name: string): Buffer {
  const length = Buffer.byteLength(name);
  const bytes = notification(CODE.invalidEntry, 16 + length + 1);
  writeU64(bytes, parent, HEADER.out);
  bytes.writeUInt32LE(length, HEADER.out + 8);
  bytes.write(name, HEADER.out + 16);
  return bytes;
}

/** A reply to no request, with the code where the error is. */
function notification(code: number, length: number): Buffer {
  const bytes = Buffer.alloc(HEADER.out + length);
  bytes.writeUInt32LE(bytes.length, 0);
  bytes.writeInt32LE(code, 4);
  return bytes;
}
