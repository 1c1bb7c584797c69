import type { SharedStore } from '../../src/content/shared-store.ts';

/** A store in memory that counts what it is asked, and in which a test can see and change everything. */
export interface OpenStore extends SharedStore {
  readonly content: Map<string, Uint8Array>;
  /** `get key`, `put key`, `delete key`, in order. */
  readonly calls: string[];
}

export function openStore(replaced: Partial<SharedStore> = {}): OpenStore {
  const content = new Map<string, Uint8Array>();
  const calls: string[] = [];
  const store: SharedStore = {
    get: async (key) => content.get(key),
    put: async (key, bytes) => void content.set(key, bytes),
    delete: async (key) => void content.delete(key),
    ...replaced,
  };
  const counted = (method: 'get' | 'delete') => (key: string) => {
    calls.push(`${method} ${key}`);
    return store[method](key) as Promise<undefined>;
  };
  return {
    content,
    calls,
    get: counted('get'),
    delete: counted('delete'),
    put(key, bytes) {
      calls.push(`put ${key}`);
      return store.put(key, bytes);
    },
    ...(replaced.claim !== undefined && { claim: replaced.claim }),
  };
}

/** Claims that end when they are taken back, or never. */
export function claims(): { claim: NonNullable<SharedStore['claim']>; taken: Set<string> } {
  const taken = new Set<string>();
  const claim = async (key: string) => {
    if (taken.has(key)) return false;
    taken.add(key);
    return true;
  };
  return { claim, taken };
}

/** Neither an answer nor an error. */
export const hang = () => new Promise<never>(() => {});
