import type { CallOptions, McpClient } from './client.ts';
import type { ResourceWalk } from './resources.ts';

/** A listing as the server gave it: nothing about its entries is checked yet. */
export interface Listing {
  readonly entries: readonly unknown[];
  /** Why the listing is cut, where it is (LST-1). */
  readonly partial?: string;
  /** Freshness hint in milliseconds (LST-3); absent on 2025-era connections. */
  readonly ttlMs?: number;
  /** Whom the server lets share the listing (LST-3); absent on 2025-era connections. */
  readonly cacheScope?: 'public' | 'private';
  /** What an operator should know of how it came about; sentences. */
  readonly notes?: readonly string[];
  /** Templates that the listing itself names (DRAFT-1). */
  readonly templates?: readonly ResourceTemplate[];
  /** The dialect it is in, where that is another one than was found when connecting. */
  readonly spoken?: Spoken;
}

/** A direct child that a server shows of a directory (DIR-1). */
export interface DirectoryChild {
  readonly uri: string;
  readonly kind: 'file' | 'directory';
}

/** URIs that a server can make content for, by RFC 6570 (DRAFT-3). */
export interface ResourceTemplate {
  readonly uriTemplate: string;
  readonly description?: string;
}

/** What to know of a dialect to make sense of its answers. Plain data: it crosses the thread. */
export interface Spoken {
  /** Its name, shown in `status()`. */
  readonly dialect: string;
  /** Whether directories can be asked for, so that a child they do not show is absent (NEG-2). */
  readonly directoryRead: boolean;
  /** Whether children are known from other listings of the server, which prove no absence (DRAFT-2). */
  readonly findsChildren: boolean;
  /** Whether an entry carries all of its SKILL.md's frontmatter; else it names in `compared` what it carries. */
  readonly verbatim: boolean;
}

/** One way of speaking about skills. Absence (-32602) is `undefined`; every failure is thrown as it came. */
export interface Dialect {
  readonly name: string;
  readonly verbatim: boolean;
  list(options: CallOptions): Promise<Listing>;
  /** The entry for a SKILL.md URI, unchecked (GET-1). */
  get(uri: string, options: CallOptions): Promise<unknown>;
  /** The content items of one resource, unchecked (RD-1). */
  read(uri: string, options: CallOptions): Promise<unknown>;
  /** Present only where the server declared it (NEG-2). */
  readonly readDirectory?: (uri: string, options: CallOptions) => Promise<readonly DirectoryChild[] | undefined>;
  /** What is known of a directory from what the server lists of its resources; more may be there (DRAFT-2). */
  readonly findChildren?: (uri: string, options: CallOptions) => Promise<readonly DirectoryChild[]>;
}

/**
 * Finds out whether a connected server speaks a dialect. `undefined` means that it does not; a failure is thrown.
 *
 * @param walk the server's resources, walked once for all dialects that look at them
 */
export type DialectFactory = (
  client: McpClient,
  options: CallOptions,
  walk: ResourceWalk,
) => Promise<Dialect | undefined> | Dialect | undefined;

/**
 * An entry made here, of what a server without `skills/list` tells of a skill. Checked like the entries of a server, and
 * two fields more are believed, which no server's own entry can set.
 */
export interface MadeEntry {
  readonly uri: string;
  readonly frontmatter: { readonly name: unknown; readonly description: unknown };
  readonly resources: unknown;
  /** The fields of `frontmatter` that the server said, and that SKILL.md is held against (DRAFT-2). */
  readonly compared: readonly string[];
  /** What SKILL.md is read by, where the server has it under another URI than `uri`. */
  readonly source?: string;
}
