import type { CallOptions, McpClient } from './client.ts';

/** A listing as the server gave it: nothing about its entries is checked yet. */
export interface Listing {
  readonly entries: readonly unknown[];
  /** Why the listing is cut, where it is (LST-1). */
  readonly partial?: string;
  /** Freshness hint in milliseconds (LST-3); absent on 2025-era connections. */
  readonly ttlMs?: number;
  /** Whom the server lets share the listing (LST-3); absent on 2025-era connections. */
  readonly cacheScope?: 'public' | 'private';
}

/** A direct child that a server shows of a directory (DIR-1). */
export interface DirectoryChild {
  readonly uri: string;
  readonly kind: 'file' | 'directory';
}

/** One way of speaking about skills. Absence (-32602) is `undefined`; every failure is thrown as it came. */
export interface Dialect {
  /** Shown in `status()`. */
  readonly name: string;
  list(options: CallOptions): Promise<Listing>;
  /** The entry for a SKILL.md URI, unchecked (GET-1). */
  get(uri: string, options: CallOptions): Promise<unknown>;
  /** The content items of one resource, unchecked (RD-1). */
  read(uri: string, options: CallOptions): Promise<unknown>;
  /** Present only where the server declared it (NEG-2). */
  readonly readDirectory?: (uri: string, options: CallOptions) => Promise<readonly DirectoryChild[] | undefined>;
}

/** A dialect, if the connected server speaks it. */
export type DialectFactory = (client: McpClient) => Dialect | undefined;
