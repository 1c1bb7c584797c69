import type { Dirent } from 'node:fs';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Op } from '../base/op.ts';
import type { DirEntry, ReadFs } from '../vfs/read-fs.ts';
import type { Context } from './context.ts';
import { direntOf } from './dirents.ts';
import { isAbsence, nodeError } from './errors.ts';
import { callbackIn, deliver } from './forms.ts';
import { native } from './native.ts';
import { splitPattern } from './patterns.ts';

interface GlobOptions {
  readonly cwd?: string | URL;
  readonly withFileTypes?: boolean;
  /** Told of every entry on the way, by name and by path, so that nothing below what it takes out is looked at. */
  readonly exclude?: ((entry: string | Dirent) => boolean) | readonly string[];
}

type Patterns = string | readonly string[];
type Match = string | Dirent;

export interface GlobForms {
  readonly callback: (patterns: Patterns, ...rest: unknown[]) => void;
  readonly sync: (patterns: Patterns, options?: GlobOptions) => Match[];
  readonly promise: (patterns: Patterns, options?: GlobOptions) => AsyncGenerator<Match>;
}

/** What the running Node has of globs; types of older versions know none of it. */
const nodes = { ...path, ...native } as unknown as {
  readonly globSync?: (patterns: unknown, options: unknown) => unknown;
  readonly matchesGlob: (name: string, pattern: string) => boolean;
};

/** Only of use where Node has `glob`: each part of a pattern means what it means to Node. */
export function globForms(context: Context): GlobForms {
  const { core, driver } = context;

  /** @throws what Node throws for arguments it does not take */
  const prepare = (patterns: Patterns, options: GlobOptions = {}): Op<Match[]> => {
    const all = [patterns].flat();
    const areTexts = all.every((pattern) => typeof pattern === 'string');
    nodes.globSync?.(areTexts ? [] : patterns, options);
    return new Glob(core, options).find(all);
  };

  const callback = (...args: unknown[]): void => {
    const { at, done } = callbackIn('glob', args);
    const [patterns, options] = args.slice(0, at);
    deliver(driver.async(prepare(patterns as Patterns, options as GlobOptions)), done);
  };

  return {
    callback,
    sync: (patterns, options) => driver.sync(prepare(patterns, options)),
    promise: async function* (patterns, options) {
      yield* await driver.async(prepare(patterns, options));
    },
  };
}

/** Something on the way of a search. */
interface Place extends DirEntry {
  /** Absolute. */
  readonly at: string;
  /** As it is given out: relative to the working directory when the pattern is. */
  readonly text: string;
}

class Glob {
  readonly #core: ReadFs;
  readonly #cwd: string;
  readonly #withFileTypes: boolean;
  readonly #exclude: GlobOptions['exclude'];
  readonly #found = new Map<string, Match>();

  constructor(core: ReadFs, { cwd = '.', withFileTypes = false, exclude }: GlobOptions) {
    this.#core = core;
    this.#cwd = path.resolve(cwd instanceof URL ? fileURLToPath(cwd) : cwd);
    this.#withFileTypes = withFileTypes;
    this.#exclude = exclude;
  }

  *find(patterns: readonly string[]): Op<Match[]> {
    for (const pattern of patterns) {
      for (const { parts, absolute, directories } of splitPattern(pattern)) {
        const at = absolute ? '/' : this.#cwd;
        yield* this.#expand({ kind: 'directory', name: '.', at, text: absolute ? '/' : '' }, parts, directories);
      }
    }
    return [...this.#found.values()];
  }

  /** Follows the rest of a pattern from a place. */
  *#expand(place: Place, parts: readonly string[], directories: boolean): Op<void> {
    const [part, ...rest] = parts;
    if (part === undefined) {
      if (!directories || place.kind === 'directory') this.#add(place);
    } else if (part === '**') {
      yield* this.#expand(place, rest, directories);
      for (const child of yield* this.#children(place)) {
        if (child.name.startsWith('.')) continue;
        if (child.kind === 'directory') yield* this.#expand(child, parts, directories);
        else if (rest.length === 0) yield* this.#expand(child, rest, directories);
      }
    } else if (isPlain(part)) {
      const child = yield* this.#child(place, part);
      if (child !== undefined) yield* this.#expand(child, rest, directories);
    } else {
      for (const child of yield* this.#children(place)) {
        if (nodes.matchesGlob(child.name, part)) yield* this.#expand(child, rest, directories);
      }
    }
  }

  *#child(place: Place, name: string): Op<Place | undefined> {
    const child = below(place, name, 'directory');
    try {
      const { kind } = yield* this.#core.stat(child.at);
      return this.#isExcluded(child) ? undefined : { ...child, kind };
    } catch (error) {
      if (isAbsence(error)) return undefined;
      throw nodeError(error, 'lstat', child.at);
    }
  }

  *#children(place: Place): Op<Place[]> {
    if (place.kind === 'file') return [];
    try {
      const entries = yield* this.#core.readdir(place.at);
      return entries.map(({ name, kind }) => below(place, name, kind)).filter((child) => !this.#isExcluded(child));
    } catch (error) {
      if (isAbsence(error)) return [];
      throw nodeError(error, 'scandir', place.at);
    }
  }

  #isExcluded(place: Place): boolean {
    const exclude = this.#exclude;
    if (exclude === undefined) return false;
    if (typeof exclude === 'function') {
      return this.#withFileTypes ? exclude(direntAt(place)) : exclude(place.name) || exclude(place.text);
    }
    const text = path.relative(this.#cwd, place.at);
    return exclude.some((pattern) => {
      const whole = path.isAbsolute(pattern) ? path.relative(this.#cwd, pattern) : path.normalize(pattern);
      // What takes out all that is below a directory takes out the directory.
      const top = whole.replace(/(\/\*\*)?\/?$/, '');
      return nodes.matchesGlob(text, whole) || nodes.matchesGlob(text, top);
    });
  }

  #add(place: Place): void {
    // Node finds no directory by the name its child has for it.
    if (place.name === '..') return;
    const text = place.text === '' ? '.' : place.text;
    if (!this.#found.has(text)) this.#found.set(text, this.#withFileTypes ? direntAt(place) : text);
  }
}

function below(place: Place, name: string, kind: DirEntry['kind']): Place {
  return { kind, name, at: path.join(place.at, name), text: path.join(place.text, name) };
}

function direntAt({ kind, name, at }: Place): Dirent {
  return direntOf(kind, name, path.dirname(at));
}

function isPlain(part: string): boolean {
  return !/[*?[\]{}()!+@\\]/.test(part);
}
