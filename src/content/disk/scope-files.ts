import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { KeptListing, ServerCache } from '../server-cache.ts';
import { digestOf } from '../verify.ts';
import { markUsed, readWhole, UnfitFile, writeWhole } from './files.ts';
import { blobName, LISTING, ORIGIN } from './layout.ts';
import { decodeListing, encodeListing } from './listing-format.ts';
import { checkPrivate, isAbsent, makePrivate, type Uid } from './private-directory.ts';
import type { Scope } from './scope.ts';
import type { Space } from './space.ts';

/** Something about the cache that a person should be able to see. No read failed because of it. */
export interface CacheProblem {
  readonly label: string;
  readonly message: string;
  readonly cause?: unknown;
}

/** Bytes of a listing that is kept: room for the largest that is accepted from a server. */
const LISTING_BYTES = 64 * 1024 * 1024;

/** How often a file is tried to be written again whose directory another process removed in the middle. */
const ATTEMPTS = 3;

export interface ScopeFilesOptions {
  readonly directory: string;
  readonly scope: Scope;
  readonly uid: Uid;
  readonly space: Space;
  readonly maxBytes: number;
  /** A file was not what was put there, and was dropped. */
  readonly dropped: (problem: CacheProblem) => void;
  /** The cache could not be read or written. */
  readonly failed: (problem: CacheProblem) => void;
}

/** One server's part of a cache directory. */
export class ScopeFiles implements ServerCache {
  readonly #options: ScopeFilesOptions;
  readonly #directory: string;

  constructor(options: ScopeFilesOptions) {
    this.#options = options;
    this.#directory = join(options.directory, options.scope.id);
  }

  get({ digest, size }: { readonly digest: string; readonly size: number }): Uint8Array | undefined {
    return this.#read(blobName(digest), size, (bytes) => {
      if (bytes.byteLength !== size) throw new UnfitFile(`it has ${bytes.byteLength} bytes, ${size} were expected`);
      const found = digestOf(bytes);
      if (found !== digest) throw new UnfitFile(`its bytes have the digest ${found}`);
      return bytes;
    });
  }

  put(digest: string, bytes: Uint8Array): void {
    if (bytes.byteLength <= this.#options.maxBytes) this.#write(blobName(digest), bytes, 0o400);
  }

  delete(digest: string): void {
    this.#attempt(() => rmSync(join(this.#directory, blobName(digest)), { force: true }));
  }

  getListing(): KeptListing | undefined {
    return this.#read(LISTING, LISTING_BYTES, decodeListing);
  }

  putListing(kept: KeptListing): void {
    const bytes = encodeListing(kept);
    const limit = Math.min(LISTING_BYTES, this.#options.maxBytes);
    if (bytes.byteLength <= limit) {
      this.#write(LISTING, bytes, 0o600);
      return;
    }
    // An older listing must not outlive the one that is not kept.
    this.#attempt(() => rmSync(join(this.#directory, LISTING), { force: true }));
    const message = `the listing has ${bytes.byteLength} bytes, at most ${limit} are kept in the cache`;
    this.#options.failed({ label: this.#options.scope.label, message });
  }

  /** What `take` makes of a file that is there. One that is not what was put there is removed and reported. */
  #read<T>(name: string, limit: number, take: (bytes: Uint8Array) => T): T | undefined {
    const path = join(this.#directory, name);
    try {
      checkPrivate(this.#directory, this.#options.uid);
      const { bytes, usedAt } = readWhole(path, limit);
      const taken = take(bytes);
      markUsed(path, usedAt);
      return taken;
    } catch (error) {
      if (error instanceof UnfitFile) this.#drop(path, error);
      else if (!isAbsent(error)) this.#failed(error);
      return undefined;
    }
  }

  #drop(path: string, cause: UnfitFile): void {
    this.#attempt(() => rmSync(path, { force: true, recursive: true }));
    const message = `the cached file ${path} was dropped: ${cause.message}`;
    this.#options.dropped({ label: this.#options.scope.label, message, cause });
  }

  #write(name: string, bytes: Uint8Array, mode: number): void {
    this.#attempt(() => {
      for (let left = ATTEMPTS; ; left--) {
        try {
          this.#prepare();
          writeWhole(this.#directory, name, bytes, mode);
          break;
        } catch (error) {
          if (left === 0 || !isAbsent(error)) throw error;
        }
      }
      this.#options.space.wrote(bytes.byteLength);
    });
  }

  #prepare(): void {
    const { directory, scope, uid } = this.#options;
    makePrivate(directory, uid);
    makePrivate(this.#directory, uid);
    if (existsSync(join(this.#directory, ORIGIN))) return;
    writeWhole(this.#directory, ORIGIN, `${JSON.stringify({ label: scope.label })}\n`, 0o600);
  }

  #attempt(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.#failed(error);
    }
  }

  #failed(cause: unknown): void {
    const message = `the cache cannot be used: ${(cause as Error).message}`;
    this.#options.failed({ label: this.#options.scope.label, message, cause });
  }
}
