import type { Dirent } from 'node:fs';
import path from 'node:path';
import type { Op } from '../base/op.ts';
import type { DirEntry } from '../vfs/read-fs.ts';
import type { Context } from './context.ts';
import { direntOf } from './dirents.ts';
import { isAbsence } from './errors.ts';
import { deliver } from './forms.ts';
import { native } from './native.ts';
import { childOf, walk } from './readdir.ts';

interface GlobOptions {
  readonly cwd?: string | URL;
  readonly withFileTypes?: boolean;
  readonly exclude?: ((entry: string | Dirent) => boolean) | readonly string[];
}

type Match = string | Dirent;
type MatchesGlob = (path: string, pattern: string) => boolean;

/** `glob` in its forms, where this Node has it; patterns mean what they mean to Node. */
export function globs(
  context: Context,
): Record<'callback' | 'sync' | 'promise', (...args: never[]) => unknown> | undefined {
  const matches = (path as unknown as { matchesGlob?: MatchesGlob }).matchesGlob;
  if (!('glob' in native) || matches === undefined) return undefined;
  const { driver } = context;
  const find = (pattern: string | readonly string[], options: GlobOptions = {}) =>
    glob(context, matches, [pattern].flat(), options);
  return {
    sync: (pattern: string | readonly string[], options?: GlobOptions) => driver.sync(find(pattern, options)),
    callback: (pattern: string | readonly string[], ...rest: unknown[]) => {
      const done = rest.at(-1) as (error: unknown, matches?: unknown) => void;
      deliver(driver.async(find(pattern, rest.length > 1 ? (rest[0] as GlobOptions) : {})), done);
    },
    promise: async function* (pattern: string | readonly string[], options?: GlobOptions) {
      yield* await driver.async(find(pattern, options));
    },
  };
}

function* glob(
  { core }: Context,
  matches: MatchesGlob,
  patterns: readonly string[],
  options: GlobOptions,
): Op<readonly Match[]> {
  const cwd =
    options.cwd === undefined
      ? process.cwd()
      : path.resolve(options.cwd instanceof URL ? options.cwd.pathname : options.cwd);
  const { exclude, withFileTypes = false } = options;
  const excluded = (entry: Match, text: string) =>
    typeof exclude === 'function' ? exclude(entry) : (exclude ?? []).some((pattern) => matches(text, pattern));
  const found = new Map<string, Match>();
  for (const pattern of patterns) {
    const root = path.isAbsolute(pattern) ? '/' : cwd;
    // Only what lies below the pattern's fixed part can match.
    const fixed = pattern.split('/').slice(
      0,
      pattern.split('/').findIndex((part) => /[*?[\]{}()!+@]/.test(part)),
    );
    const start = path.join(root, ...(/[*?[\]{}()!+@]/.test(pattern) ? fixed : [path.dirname(pattern)]));
    for (const entry of yield* below(core, start)) {
      const absolute = path.join(start, entry.below);
      const text = path.isAbsolute(pattern) ? absolute : path.relative(cwd, absolute);
      if (found.has(text) || !matches(text, path.normalize(pattern))) continue;
      const match: Match = withFileTypes ? direntOf(entry.kind, entry.name, path.dirname(absolute)) : text;
      if (!excluded(match, text)) found.set(text, match);
    }
  }
  return [...found.values()];
}

interface Below extends DirEntry {
  /** Its path below where the walk began. */
  readonly below: string;
}

function* below(core: Context['core'], start: string): Op<readonly Below[]> {
  try {
    const walked = yield* walk(core, start, true);
    return walked.flatMap(([dir, entries]) =>
      entries.map(({ kind, name }) => ({ kind, name, below: childOf(dir.below, name) })),
    );
  } catch (error) {
    if (isAbsence(error)) return [];
    throw error;
  }
}
