import { LRUCache } from 'lru-cache';
import type { BlobStore } from './blob-store.ts';

/** The least recently used bytes are let go when more than `maxBytes` are held. */
export function memoryStore(maxBytes: number): BlobStore {
  const cache = new LRUCache<string, Uint8Array>({
    maxSize: Math.max(1, maxBytes),
    sizeCalculation: (bytes) => Math.max(1, bytes.byteLength),
  });
  return {
    get: (key) => cache.get(key),
    put(key, bytes) {
      cache.set(key, bytes);
    },
    delete(key) {
      cache.delete(key);
    },
  };
}
