/**
 * Verified bytes by key. A key names the server and the digest: a server that lists another one's digest gets nothing of
 * it.
 */
export interface BlobStore {
  get(key: string): Uint8Array | undefined;
  put(key: string, bytes: Uint8Array): void;
  delete(key: string): void;
}
