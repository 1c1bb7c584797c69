import { createHash } from 'node:crypto';
import { quoted } from '../base/quote.ts';

/** What a manifest says of one file. */
export interface Expected {
  /** Bytes. */
  readonly size: number;
  /** `sha256:` and 64 lowercase hexadecimal digits. */
  readonly digest: string;
}

export type VerificationReason =
  /** The held manifest does not list the file (VER-3). */
  | 'unlisted'
  /** The server no longer has a file that the held manifest lists. */
  | 'gone'
  /** More or other content items than the one asked for (RD-1). */
  | 'contents'
  | 'size'
  | 'digest'
  /** SKILL.md says something else than the entry (VER-4), or cannot be read as a SKILL.md. */
  | 'frontmatter';

/**
 * Content that is not what the server's entry says. It is the `cause` of the `EIO` (or, for `unlisted`, `ENOENT`) that a
 * caller sees. A match is consistency, not trust (VER-6).
 */
export class VerificationError extends Error {
  override readonly name = 'VerificationError';
  readonly reason: VerificationReason;
  readonly uri: string;

  constructor(reason: VerificationReason, uri: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
    this.uri = uri;
  }
}

/**
 * The bytes of a `resources/read` result: exactly one content item, for the URI asked, with `text` as UTF-8 or `blob` as
 * base64 (RD-1).
 *
 * @throws VerificationError `contents`
 */
export function bytesOf(result: unknown, uri: string): Uint8Array {
  const contents = (result as { contents?: unknown } | null)?.contents;
  if (!Array.isArray(contents)) throw wrongContents(uri, 'the answer has no contents array');
  if (contents.length !== 1) throw wrongContents(uri, `${contents.length} content items came instead of one`);
  const item = contents[0] as { uri?: unknown; text?: unknown; blob?: unknown } | null;
  if (item?.uri !== uri) throw wrongContents(uri, `the content item is for ${quoted(item?.uri)}`);
  if (typeof item.text === 'string' && item.blob === undefined) return Buffer.from(item.text, 'utf8');
  if (typeof item.blob === 'string' && item.text === undefined) {
    if (!BASE64.test(item.blob)) throw wrongContents(uri, 'the blob is not base64');
    return Buffer.from(item.blob, 'base64');
  }
  throw wrongContents(uri, 'the content item has not exactly one of text and blob');
}

const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;

function wrongContents(uri: string, what: string): VerificationError {
  return new VerificationError('contents', uri, `${uri}: ${what}`);
}

/**
 * Checks size and SHA-256 (VER-1).
 *
 * @throws VerificationError `size` or `digest`
 */
export function verifyBytes(bytes: Uint8Array, expected: Expected, uri: string): void {
  if (bytes.byteLength !== expected.size) {
    const message = `${uri} has ${bytes.byteLength} bytes, its entry says ${expected.size}${explain(bytes, expected)}`;
    throw new VerificationError('size', uri, message);
  }
  const digest = digestOf(bytes);
  if (digest !== expected.digest) {
    const message = `${uri} has digest ${digest}, its entry says ${expected.digest}${explain(bytes, expected)}`;
    throw new VerificationError('digest', uri, message);
  }
}

/** `sha256:` and the lowercase hexadecimal SHA-256 of `bytes`. */
export function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

/** Line ends are never normalised; other line ends are only tried to tell the publisher what went wrong. */
function explain(bytes: Uint8Array, expected: Expected): string {
  if (bytes.byteLength > 1024 * 1024) return '';
  const text = Buffer.from(bytes).toString('latin1');
  const lf = text.replaceAll('\r\n', '\n');
  const variants = { LF: lf, CRLF: lf.replaceAll('\n', '\r\n') };
  for (const [name, variant] of Object.entries(variants)) {
    if (variant !== text && digestOf(Buffer.from(variant, 'latin1')) === expected.digest) {
      return ` (the digest is of the same text with ${name} line ends)`;
    }
  }
  return '';
}
