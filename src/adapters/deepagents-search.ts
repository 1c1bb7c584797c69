import { posix } from 'node:path';
import picomatch from 'picomatch';
import { textOf } from '../base/mime-types.ts';
import type { View } from './view.ts';
import { walk } from './walk.ts';

/** Files found below a directory; `truncated` when a part of it could not be looked at. */
export interface Found {
  readonly files: readonly string[];
  readonly truncated: boolean;
}

/**
 * The files below a directory whose path relative to it matches a pattern.
 *
 * @throws the error of the directory itself
 */
export async function findFiles(view: View, directory: string, pattern: string): Promise<Found> {
  const isMatch = picomatch(pattern.replace(/^\/+/, ''), { dot: true });
  const { files, errors } = await walk(view, directory);
  const matching = files.filter((file) => isMatch(posix.relative(directory, file)));
  return { files: matching, truncated: errors.length > 0 };
}

export interface GrepOptions {
  /** Of the files to look into; without a slash it is matched against names alone. */
  readonly glob: string | undefined;
  /** Matches after which to stop. */
  readonly maxCount: number | undefined;
}

export interface Match {
  readonly file: string;
  /** Counted from 1. */
  readonly line: number;
  readonly text: string;
}

export interface Grepped {
  readonly matches: readonly Match[];
  /** When a file or directory could not be looked at, or the search stopped at its bound. */
  readonly truncated: boolean;
  /** Why the first one could not. */
  readonly error: Error | undefined;
}

/**
 * Looks for text, not for a pattern, in the text files at or below a path. Files are read in order, one by one: reading is
 * what costs requests, and a search with a bound ends early.
 *
 * @throws the error of the path itself
 */
export async function grepFiles(view: View, path: string, text: string, options: GrepOptions): Promise<Grepped> {
  const { glob, maxCount = Number.POSITIVE_INFINITY } = options;
  const isMatch = glob === undefined ? () => true : picomatch(glob, { dot: true, basename: !glob.includes('/') });
  const { files, errors } = await walk(view, path);
  const matches: Match[] = [];
  let error = errors[0];
  for (const file of files.filter((one) => isMatch(posix.relative(path, one) || posix.basename(one)))) {
    try {
      matches.push(...linesWith(text, file, await view.promises.readFile(file)));
    } catch (failed) {
      error ??= failed as Error;
    }
    if (matches.length > maxCount) return { matches: matches.slice(0, maxCount), truncated: true, error };
  }
  return { matches, truncated: error !== undefined, error };
}

function linesWith(text: string, file: string, bytes: Uint8Array): Match[] {
  const content = textOf(bytes);
  if (content === undefined || !content.includes(text)) return [];
  return content
    .split('\n')
    .flatMap((line, index) => (line.includes(text) ? [{ file, line: index + 1, text: line }] : []));
}
