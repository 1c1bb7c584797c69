import type { Expected } from './verify.ts';

/** Whatever else goes with it: plain data, given back as it was taken. */
interface Kept {
  readonly [field: string]: unknown;
}

/** The last listing of a server, and what was negotiated when it was fetched: enough to show its tree without asking. */
export interface KeptListing {
  /** As the server gave it. Nothing about its entries is trusted when it is read back: they are checked again. */
  readonly listing: Kept & {
    readonly entries: readonly unknown[];
    readonly partial?: string;
    readonly ttlMs?: number;
  };
  /** Entries that the server confirmed although its listing does not name them (GET-2). */
  readonly confirmed: readonly unknown[];
  readonly negotiated: Kept & { readonly completes: boolean; readonly tookMs: number };
  /** When the server was asked, milliseconds since the epoch. */
  readonly fetchedAt: number;
}

/**
 * What is kept of one server, under one set of credentials, from one start to the next. Nothing here throws: what cannot be
 * read is not there, what cannot be written is not kept, and either is reported where the cache was made.
 */
export interface ServerCache {
  /** Bytes whose size and digest were computed from these very bytes, now (CACHE-1). */
  get(expected: Expected): Uint8Array | undefined;
  /** Keeps verified bytes. The caller answers for their digest. */
  put(digest: string, bytes: Uint8Array): void;
  delete(digest: string): void;
  getListing(): KeptListing | undefined;
  putListing(kept: KeptListing): void;
}
