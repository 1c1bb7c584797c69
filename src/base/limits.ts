/** Bounds on what one listing may bring (LST-1). A walk that reaches one ends there, and the listing is marked partial. */
export const LISTING_LIMITS = {
  pages: 2_000,
  entries: 100_000,
  /** Path segments of all entries together: each may be a directory, of which a short path can have thousands. */
  segments: 500_000,
} as const;

/** Bounds on one directory listing of a server. */
export const DIRECTORY_LIMITS = {
  pages: 200,
  children: 20_000,
} as const;

/** The skill URIs that are taken from a server's instructions at most (GET-3). */
export const INSTRUCTION_URIS = 32;

/** Default deadlines in milliseconds. */
export const DEADLINES = {
  connect: 30_000,
  request: 30_000,
  list: 120_000,
  shared: 1_000,
} as const;

/** How long, in milliseconds, a failed connection is not tried again by an access (an explicit refresh does). */
export const RETRY_AFTER = 10_000;

/** How long, in milliseconds, `skills/get` is not asked again for a skill that the server did not have. */
export const MISS_TTL = 30_000;

/** Requests under way at once. */
export const CONCURRENCY = { perServer: 8, total: 32 } as const;

/** Bytes of verified content kept in memory. */
export const MEMORY_BYTES = 64 * 1024 * 1024;

/** The largest message accepted from a stdio server, in bytes: a 16 MiB file in base64, with room around it. */
export const STDIO_MESSAGE_BYTES = 64 * 1024 * 1024;

/** The largest answer accepted over HTTP, of an event stream the largest event, in bytes. */
export const HTTP_ANSWER_BYTES = STDIO_MESSAGE_BYTES;

/** Milliseconds after which a request, or the opening of a connection, gives its place among those under way to others. */
export const PATIENCE = 2_000;

/** How long to leave a failing server alone: `free` failures in a row cost nothing, then the wait doubles. Milliseconds. */
export const BACKOFF = { free: 2, first: 1_000, most: 60_000 } as const;

/** Milliseconds at most that failed listings are not tried again by an access, however often they failed. */
export const RETRY_AFTER_MOST = 300_000;

/** When a server that says it changed is listed again: once it is silent for a moment, and not without end. Milliseconds. */
export const CHANGES = { silence: 250, most: 2_000, apart: 1_000 } as const;

/** Milliseconds before a subscription that ended is opened again; the wait doubles while it keeps failing. */
export const LISTEN_AGAIN = { first: 1_000, most: 60_000 } as const;

/**
 * What a shared store may cost: `first` to `most` milliseconds for which one that failed is left alone, `pendingBytes` held at
 * once for what is still to be put there, and every `poll` milliseconds a look for what another agent is fetching.
 */
export const SHARED_STORE = { first: 1_000, most: 60_000, pendingBytes: 64 * 1024 * 1024, poll: 25 } as const;

/** Milliseconds before an event stream that ended is opened again, whatever the server asks for. */
export const STREAM_AGAIN = { least: 1_000, most: 60_000 } as const;

/** Bounds on walking everything that a server lists of its resources. */
export const RESOURCE_LIMITS = {
  pages: 200,
  resources: 20_000,
  /** Path segments of all of them together. */
  segments: 200_000,
} as const;

/** The resource templates that are taken from one server at most. */
export const TEMPLATES = 500;

/** Requests that a dialect has under way at once while it puts one listing together. */
export const LISTING_REQUESTS = 8;

/** Levels of an entry that are taken from a server; one that has more is refused by its check, which allows for less. */
export const ENTRY_DEPTH = 64;
