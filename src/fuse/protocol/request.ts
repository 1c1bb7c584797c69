import { HEADER, OPCODE } from './abi.ts';

/** What every request begins with (`struct fuse_in_header`). */
export interface RequestHeader {
  readonly opcode: number;
  /** Identifies the request until it is answered. */
  readonly unique: number;
  /** The node that is asked about. */
  readonly node: number;
}

/** A request with its arguments; those of no use to a read-only server are left out. */
export type Request =
  | {
      readonly kind: 'init';
      readonly major: number;
      readonly minor: number;
      readonly readahead: number;
      readonly flags: number;
    }
  | { readonly kind: 'lookup'; readonly name: string | undefined }
  | { readonly kind: 'forget'; readonly nodes: readonly { readonly node: number; readonly lookups: number }[] }
  | { readonly kind: 'getattr' | 'open' | 'opendir' | 'statfs' | 'destroy' }
  | ReadRequest
  | { readonly kind: 'release' | 'releasedir'; readonly handle: number }
  | { readonly kind: 'getxattr'; readonly size: number; readonly name: string | undefined }
  | { readonly kind: 'listxattr'; readonly size: number }
  | { readonly kind: 'interrupt'; readonly unique: number }
  | { readonly kind: 'other' };

/** A part of an opened file or directory, of `size` bytes at most. A directory's offsets are those its entries came with. */
export interface ReadRequest {
  readonly kind: 'read' | 'readdir' | 'readdirplus';
  readonly handle: number;
  readonly offset: number;
  readonly size: number;
}

export function decodeHeader(bytes: Buffer): RequestHeader {
  return { opcode: bytes.readUInt32LE(4), unique: readU64(bytes, 8), node: readU64(bytes, 16) };
}

/** Copies what it needs, so that `bytes` can be read into again. */
export function decodeRequest({ opcode, node }: RequestHeader, bytes: Buffer): Request {
  const body = bytes.subarray(HEADER.in, bytes.readUInt32LE(0));
  switch (opcode) {
    case OPCODE.init:
      return {
        kind: 'init',
        major: body.readUInt32LE(0),
        minor: body.readUInt32LE(4),
        readahead: body.length < 12 ? 0 : body.readUInt32LE(8),
        flags: body.length < 16 ? 0 : body.readUInt32LE(12),
      };
    case OPCODE.lookup:
      return { kind: 'lookup', name: decodeName(body) };
    case OPCODE.forget:
      return { kind: 'forget', nodes: [{ node, lookups: readU64(body, 0) }] };
    case OPCODE.batchForget:
      return { kind: 'forget', nodes: decodeForgets(body) };
    case OPCODE.getattr:
      return { kind: 'getattr' };
    case OPCODE.open:
      return { kind: 'open' };
    case OPCODE.opendir:
      return { kind: 'opendir' };
    case OPCODE.statfs:
      return { kind: 'statfs' };
    case OPCODE.destroy:
      return { kind: 'destroy' };
    case OPCODE.read:
      return { kind: 'read', ...decodeRead(body) };
    case OPCODE.readdir:
      return { kind: 'readdir', ...decodeRead(body) };
    case OPCODE.readdirplus:
      return { kind: 'readdirplus', ...decodeRead(body) };
    case OPCODE.release:
      return { kind: 'release', handle: readU64(body, 0) };
    case OPCODE.releasedir:
      return { kind: 'releasedir', handle: readU64(body, 0) };
    case OPCODE.getxattr:
      return { kind: 'getxattr', size: body.readUInt32LE(0), name: decodeName(body.subarray(8)) };
    case OPCODE.listxattr:
      return { kind: 'listxattr', size: body.readUInt32LE(0) };
    case OPCODE.interrupt:
      return { kind: 'interrupt', unique: readU64(body, 0) };
    default:
      return { kind: 'other' };
  }
}

/** Reads a number of 64 bits. Those the kernel counts itself, or was given by us, stay below 2^53. */
export function readU64(bytes: Buffer, offset: number): number {
  return bytes.readUInt32LE(offset) + bytes.readUInt32LE(offset + 4) * 2 ** 32;
}

function decodeRead(body: Buffer): { handle: number; offset: number; size: number } {
  return { handle: readU64(body, 0), offset: readU64(body, 8), size: body.readUInt32LE(16) };
}

function decodeForgets(body: Buffer): readonly { node: number; lookups: number }[] {
  return Array.from({ length: body.readUInt32LE(0) }, (_, index) => {
    const at = 8 + index * 16;
    return { node: readU64(body, at), lookups: readU64(body, at + 8) };
  });
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A name up to its zero byte; `undefined` when it is not UTF-8, and so the name of nothing. */
function decodeName(bytes: Buffer): string | undefined {
  const end = bytes.indexOf(0);
  try {
    return utf8.decode(end === -1 ? bytes : bytes.subarray(0, end));
  } catch {
    return undefined;
  }
}
