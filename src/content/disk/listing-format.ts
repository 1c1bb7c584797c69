import type { KeptListing } from '../server-cache.ts';
import { digestOf } from '../verify.ts';
import { UnfitFile } from './files.ts';

/** Another number means another meaning of what follows; what has one is not read. */
const FORMAT = 1;

const NEWLINE = 0x0a;

/** Two lines of JSON: format and digest of the second line; the listing. */
export function encodeListing(kept: KeptListing): Uint8Array {
  const body = Buffer.from(JSON.stringify(kept));
  const header = JSON.stringify({ format: FORMAT, digest: digestOf(body) });
  return Buffer.concat([Buffer.from(`${header}\n`), body]);
}

/**
 * @returns `undefined` for a format of another version of this package
 * @throws UnfitFile when it is not what was written
 */
export function decodeListing(bytes: Uint8Array): KeptListing | undefined {
  const cut = bytes.indexOf(NEWLINE);
  const header = parsed(bytes.subarray(0, Math.max(0, cut))) as { format?: unknown; digest?: unknown } | null;
  if (header?.format !== FORMAT) {
    if (Number.isSafeInteger(header?.format)) return undefined;
    throw new UnfitFile('it has no format number');
  }
  const body = bytes.subarray(cut + 1);
  if (header.digest !== digestOf(body)) throw new UnfitFile('its bytes are not those that were written');
  const kept = parsed(body) as KeptListing;
  if (!isKept(kept)) throw new UnfitFile('it is no listing');
  return kept;
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
  } catch {
    throw new UnfitFile('it is not the JSON that was written');
  }
}

function isKept(value: Partial<KeptListing> | null): value is KeptListing {
  return (
    Array.isArray(value?.listing?.entries) &&
    Array.isArray(value.confirmed) &&
    typeof value.negotiated?.completes === 'boolean' &&
    typeof value.fetchedAt === 'number'
  );
}
