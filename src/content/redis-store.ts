import type { RedisConfig, SharedStore } from './shared-store.ts';

export type { SharedStore } from './shared-store.ts';

export interface RedisStoreOptions extends Omit<RedisConfig, 'redis'> {
  /** `redis://[[user]:password@]host[:port][/database]`, or `rediss://…` for TLS. */
  readonly url: string;
}

const TTL_SECONDS = 7 * 24 * 60 * 60;

/** Milliseconds that connecting may take. Whoever waits has a deadline of their own. */
const CONNECT = 5_000;

type Client = Awaited<ReturnType<typeof connect>>;

/**
 * A store in Redis, over the package `redis` (node-redis 5 or 6), an optional peer of this one. It connects when first used,
 * and again when used after the connection was lost; in between it does nothing, and an idle connection does not keep the
 * process alive.
 */
export function redisStore({ url, prefix = 'skillfs:', ttlSeconds = TTL_SECONDS }: RedisStoreOptions): SharedStore {
  let current: Promise<Client> | undefined;
  const client = (): Promise<Client> => {
    if (current === undefined) {
      const connecting = connect(url, () => {
        if (current === connecting) current = undefined;
      });
      current = connecting;
      connecting.catch(() => {
        if (current === connecting) current = undefined;
      });
    }
    return current;
  };
  return {
    async get(key) {
      return (await (await client()).get(prefix + key)) ?? undefined;
    },
    async put(key, bytes) {
      const value = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      await (await client()).set(prefix + key, value, { expiration: { type: 'EX', value: ttlSeconds } });
    },
    async delete(key) {
      await (await client()).del(prefix + key);
    },
    async claim(key, milliseconds) {
      const options = { condition: 'NX', expiration: { type: 'PX', value: milliseconds } } as const;
      return (await (await client()).set(`${prefix}${key}:claim`, '', options)) !== null;
    },
    async close() {
      const open = await current?.catch(() => undefined);
      current = undefined;
      await open?.close();
    },
  };
}

/**
 * @param lost called when the connection is of no use any more
 * @throws Error saying what to install, or why there is no connection
 */
async function connect(url: string, lost: () => void) {
  const { createClient, RESP_TYPES } = await import('redis').catch((cause: unknown) => {
    throw new Error('the package "redis" cannot be loaded; install it: npm install redis', { cause });
  });
  const socket = { reconnectStrategy: false, connectTimeout: CONNECT } as const;
  const client = createClient({ url, socket, disableOfflineQueue: true });
  // Without a listener an error would end the process; whoever waits for an answer is told of it in any case.
  client.on('error', lost);
  client.on('end', lost);
  client.unref();
  await client.connect();
  return client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
}
