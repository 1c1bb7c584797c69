import { loadRedis } from './shared/redis-package.ts';
import type { RedisConfig, SharedStore } from './shared-store.ts';

export type { SharedStore } from './shared-store.ts';

export interface RedisStoreOptions extends Omit<RedisConfig, 'redis'> {
  /** `redis://[[user]:password@]host[:port][/database]`, or `rediss://…` for TLS. */
  readonly url: string;
}

const TTL_SECONDS = 7 * 24 * 60 * 60;

/** Milliseconds that connecting may take. Whoever waits has a deadline of their own. */
const CONNECT = 5_000;

/**
 * A store in Redis, over the package `redis` (node-redis 5 or 6), an optional peer of this one. It connects when first used,
 * and again when used after the connection was lost; in between it does nothing, and an idle connection does not keep the
 * process alive.
 */
export function redisStore({ url, prefix = 'skillfs:', ttlSeconds = TTL_SECONDS }: RedisStoreOptions): SharedStore {
  let current: Promise<Connection> | undefined;
  const connection = (): Promise<Connection> => {
    if (current === undefined) {
      const forget = () => {
        if (current === connecting) current = undefined;
      };
      const connecting = Connection.open(url, forget);
      connecting.catch(forget);
      current = connecting;
    }
    return current;
  };
  const ask = async <T>(question: (client: Client) => Promise<T>) => (await connection()).ask(question);
  return {
    get: (key) => ask(async (client) => (await client.get(prefix + key)) ?? undefined),
    put(key, bytes) {
      const value = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const options = { expiration: { type: 'EX', value: ttlSeconds } } as const;
      return ask(async (client) => void (await client.set(prefix + key, value, options)));
    },
    delete: (key) => ask(async (client) => void (await client.del(prefix + key))),
    claim(key, milliseconds) {
      const options = { condition: 'NX', expiration: { type: 'PX', value: Math.ceil(milliseconds) } } as const;
      return ask(async (client) => (await client.set(`${prefix}${key}:claim`, '', options)) !== null);
    },
    async close() {
      const open = await current?.catch(() => undefined);
      current = undefined;
      await open?.close();
    },
  };
}

type Client = Awaited<ReturnType<typeof connect>>;

/** A connection that keeps the process alive while an answer is due. */
class Connection {
  readonly #client: Client;
  #due = 0;

  private constructor(client: Client) {
    this.#client = client;
    client.unref();
  }

  /**
   * @param lost called when it is of no use any more
   * @throws Error saying what to install, or why there is no connection
   */
  static async open(url: string, lost: () => void): Promise<Connection> {
    return new Connection(await connect(url, lost));
  }

  async ask<T>(question: (client: Client) => Promise<T>): Promise<T> {
    if (this.#due++ === 0) this.#client.ref();
    try {
      return await question(this.#client);
    } finally {
      if (--this.#due === 0) this.#client.unref();
    }
  }

  async close(): Promise<void> {
    await this.#client.close();
  }
}

async function connect(url: string, lost: () => void) {
  const { createClient, RESP_TYPES } = await loadRedis();
  const socket = { reconnectStrategy: false, connectTimeout: CONNECT } as const;
  const client = createClient({ url, socket, disableOfflineQueue: true });
  // Without a listener an error would end the process; whoever waits for an answer is told of it in any case.
  client.on('error', lost);
  client.on('end', lost);
  await client.connect();
  return client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
}
