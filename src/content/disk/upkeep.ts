import { join } from 'node:path';
import { digestOf } from '../verify.ts';
import { readWhole, UnfitFile } from './files.ts';
import { type CacheFile, filesIn, ORIGIN, removeScope, scopesIn, sweepRemoved } from './layout.ts';
import { decodeListing } from './listing-format.ts';
import { isAbsent, type Uid } from './private-directory.ts';
import { labelPrefix } from './scope.ts';
import { type Freed, removeFiles, type Space, sizeOf } from './space.ts';

/** What is kept of one server under one set of credentials. */
export interface ScopeUsage {
  /** Absent when the file that holds it is gone; {@link Upkeep.remove} finds the scope all the same. */
  readonly label?: string;
  readonly scope: string;
  readonly files: number;
  readonly bytes: number;
  /** When the kept listing was fetched, milliseconds since the epoch. */
  readonly listedAt?: number;
}

/** What {@link Upkeep.prune} removed, by reason. */
export interface Pruned {
  /** Left by processes that ended while they wrote. */
  readonly leftovers: Freed;
  /** Not what was put there. */
  readonly corrupt: Freed;
  /** Over the bound. */
  readonly evicted: Freed;
}

/** What a person does with a cache directory. Other processes may use it meanwhile. */
export interface Upkeep {
  /** By label. */
  usage(): readonly ScopeUsage[];
  /** Checks every file, removes those that are not what was put there, and keeps the bound. */
  prune(): Pruned;
  /** Removes everything of a label, whatever the credentials (CACHE-2). */
  remove(label: string): Freed;
}

export function upkeepOf(directory: string, uid: Uid, space: Space): Upkeep {
  const scopes = () => scopesIn(directory, uid).map((scope) => ({ scope, path: join(directory, scope) }));
  return {
    usage() {
      const usage = scopes().map(({ scope, path }) => usageOf(scope, path));
      return usage.sort((a, b) => ((a.label ?? '') < (b.label ?? '') ? -1 : 1));
    },
    prune() {
      const corrupt = removeFiles(scopes().flatMap(({ path }) => filesIn(path).filter(isCorrupt)));
      const pruned = { corrupt, ...space.makeRoom() };
      for (const { scope, path } of scopes()) if (filesIn(path).length === 0) removeScope(directory, scope);
      sweepRemoved(directory);
      return pruned;
    },
    remove(label) {
      const own = scopes().filter(({ scope }) => scope.startsWith(labelPrefix(label)));
      const freed = sizeOf(own.flatMap(({ path }) => filesIn(path)));
      for (const { scope } of own) removeScope(directory, scope);
      return freed;
    },
  };
}

function usageOf(scope: string, path: string): ScopeUsage {
  const kept = filesIn(path).filter(({ kind }) => kind !== 'temporary');
  const label = read(join(path, ORIGIN), Number.POSITIVE_INFINITY, labelOf);
  const listing = kept.find(({ kind }) => kind === 'listing');
  const listedAt = listing && read(listing.path, listing.bytes, (bytes) => decodeListing(bytes)?.fetchedAt);
  return {
    ...(label !== undefined && { label }),
    scope,
    ...sizeOf(kept),
    ...(listedAt !== undefined && { listedAt }),
  };
}

function labelOf(bytes: Uint8Array): string | undefined {
  const { label } = JSON.parse(Buffer.from(bytes).toString('utf8')) as { readonly label?: unknown };
  return typeof label === 'string' ? label : undefined;
}

function isCorrupt({ path, name, kind, bytes }: CacheFile): boolean {
  if (kind === 'temporary') return false;
  try {
    const { bytes: found } = readWhole(path, bytes);
    if (kind === 'blob') return digestOf(found) !== `sha256:${name}`;
    decodeListing(found);
    return false;
  } catch (error) {
    if (error instanceof UnfitFile) return true;
    if (isAbsent(error)) return false;
    throw error;
  }
}

/** What is found in a file that may be gone, or not be what was put there. */
function read<T>(path: string, limit: number, take: (bytes: Uint8Array) => T): T | undefined {
  try {
    return take(readWhole(path, limit).bytes);
  } catch {
    return undefined;
  }
}
