import { homedir } from 'node:os';
import type { ServerCache } from '../server-cache.ts';
import { cacheDirectory } from './location.ts';
import { settleDirectory } from './private-directory.ts';
import { scopeOf } from './scope.ts';
import { type CacheProblem, ScopeFiles } from './scope-files.ts';
import { spaceOf } from './space.ts';
import { type Upkeep, upkeepOf } from './upkeep.ts';

export interface DiskStoreOptions {
  /** An absolute path. Default: `skillfs` in the user's cache directory, as the operating system has it. */
  readonly directory?: string;
  /** Bytes kept at most; what was not used for longest goes first. Default 512 MiB. */
  readonly maxBytes?: number;
  /** Told of files that were not what was put there, and, once, of a directory that cannot be read or written. */
  readonly report?: (problem: CacheProblem) => void;
}

/**
 * A private cache on this disk (CACHE-1, CACHE-2). Files are named by their digest, never modified, and apart for each
 * server and its credentials: what one server lists is never answered with another's bytes. Any number of processes may
 * use one directory, and may end at any moment.
 */
export interface DiskStore extends Upkeep {
  readonly directory: string;
  /**
   * The part of one server (see {@link scopeOf}).
   *
   * @param key a name for the server and for whom it is asked, where `source` does not tell: a connected client
   * @returns `undefined` when neither tells; nothing is kept of such a server
   */
  server(label: string, source: object, key?: string): ServerCache | undefined;
}

const MAX_BYTES = 512 * 1024 * 1024;

/**
 * Nothing is written before there is something to keep.
 *
 * @throws CacheDirectoryError when the directory is a link, another user's, writable for others, or a place where agents
 * look for skills
 */
export function diskStore(options: DiskStoreOptions = {}): DiskStore {
  const { maxBytes = MAX_BYTES, report = () => undefined } = options;
  const uid = process.getuid?.();
  const { platform, env } = process;
  const given = options.directory ?? cacheDirectory({ platform, env, home: homedir() });
  const directory = settleDirectory(given, uid);
  const space = spaceOf(directory, maxBytes, uid);
  let failing = false;
  const failed = (problem: CacheProblem) => {
    if (!failing) report(problem);
    failing = true;
  };
  return {
    directory,
    server(label, source, key) {
      const scope = scopeOf(label, source, key);
      return scope && new ScopeFiles({ directory, scope, uid, space, maxBytes, dropped: report, failed });
    },
    ...upkeepOf(directory, uid, space),
  };
}
