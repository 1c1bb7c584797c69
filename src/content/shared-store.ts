/**
 * A store of files that many processes and machines share, so that what one of them fetched is there for the others.
 *
 * Nothing it gives is trusted: size and SHA-256 are checked on every read, as a server's answer is (VER-1). Nothing it fails
 * at fails a read: the server is asked then. It may forget whatever it wants, whenever it wants.
 *
 * Keys are 146 characters of `0-9`, `a-f` and `-`. They tell apart servers, labels, credentials and content, and hold none
 * of these: no address, no secret.
 */
export interface SharedStore {
  /** The bytes put under a key; `undefined` where there are none. */
  get(key: string): Promise<Uint8Array | undefined>;
  /** Keeps bytes. What is kept under a key never needs to be another. */
  put(key: string, bytes: Uint8Array): Promise<void>;
  delete(key: string): Promise<void>;
  /**
   * Announces that the caller is about to fetch what belongs under a key, so that others who miss it wait for a moment instead
   * of fetching it too. Optional: without it, agents that start together may each fetch the same file.
   *
   * @param milliseconds after which the announcement is void
   * @returns `false` when somebody else's announcement is in force
   */
  claim?(key: string, milliseconds: number): Promise<boolean>;
  /** Called when the mount is closed that opened the store. */
  close?(): Promise<void>;
}

/** A store in Redis, or in what speaks its protocol; needs the package `redis`. */
export interface RedisConfig {
  /** `redis://[[user]:password@]host[:port][/database]`, or `rediss://…` for TLS. */
  readonly redis: string;
  /** What all keys begin with. Default `skillfs:`. */
  readonly prefix?: string;
  /** Seconds after which Redis forgets an entry. Default 604,800: seven days. */
  readonly ttlSeconds?: number;
}

/** A store that a module makes. */
export interface ModuleConfig {
  /**
   * A file, relative to the working directory, or a package that is found from there. Its default export is a function
   * `(options) => SharedStore | Promise<SharedStore>`, called once in each thread that talks to servers.
   */
  readonly module: string | URL;
  /** Plain data for that function. */
  readonly options?: unknown;
}

/** A store as an object: for servers whose connections live in this thread, as it cannot be handed to another. */
export interface StoreObject {
  /** Stays the caller's: it is not closed with the mount. */
  readonly store: SharedStore;
}

/** How a store is had. */
export type SharedSource = RedisConfig | ModuleConfig | StoreObject;

interface Sharing {
  /**
   * By label, a name for the server and for whom it is asked. Needed for connected clients, which do not tell, and useful for
   * commands that are the same server on machines that differ: content is shared by those who give one name, and by no others.
   */
  readonly keys?: Readonly<Record<string, string>>;
}

/** A store that many processes share, as plain data: it can be used in any thread and process. */
export type SharedConfig = (RedisConfig | ModuleConfig) & Sharing;

/** A store that many processes share, and for whom. */
export type SharedOptions = SharedSource & Sharing;
