import type { Dirent } from 'node:fs';
import { join } from 'node:path';
import type { Op } from '../base/op.ts';
import type { DirEntry } from '../vfs/read-fs.ts';
import { type Context, locate } from './context.ts';
import { direntOf } from './dirents.ts';
import { encodeName, encodingOf, type NameEncoding } from './encodings.ts';
import { nodeError } from './errors.ts';
import { type Forms, forms } from './forms.ts';
import { checkedByNode, NOWHERE, native } from './native.ts';
import { asBuffer, givenPath, type Name, spelledPath } from './paths.ts';

interface ListOptions {
  readonly withFileTypes?: unknown;
  readonly recursive?: unknown;
}

/** A directory of a walk. */
export interface Listed {
  /** Where the core has it. */
  readonly at: string;
  /** Its path below the directory the walk began with, which is `''`. */
  readonly below: string;
}

/** Listings; recursive ones are breadth first. */
export function readdirForms(context: Context): Forms<'readdir'> {
  return forms(context.driver, 'readdir', (path, options) => {
    const encoding = encodingOf(options, (bad) => native.readdirSync(NOWHERE, bad));
    const { withFileTypes, recursive } = (
      typeof options === 'object' && options !== null ? options : {}
    ) as ListOptions;
    const spelled = spelledPath(path, native.readdirSync);
    if (recursive !== undefined && typeof recursive !== 'boolean') {
      checkedByNode(() => native.readdirSync(NOWHERE, options as object));
    }
    const show = withFileTypes ? showDirents(givenPath(path, spelled), encoding) : showNames(encoding);
    return list(context, spelled, Boolean(recursive), show);
  });
}

/** What is shown of a directory's entries. */
type Show = (entries: readonly DirEntry[], below: string) => unknown[];

function showNames(encoding: NameEncoding): Show {
  return (entries, below) => entries.map(({ name }) => encodeName(childOf(below, name), encoding));
}

function showDirents(given: Name, encoding: NameEncoding): Show {
  return (entries, below) => {
    const parent = parentPath(given, below, encoding);
    return entries.map((entry) => entryOf(entry, parent, encoding));
  };
}

function* list({ core }: Context, path: string, recursive: boolean, show: Show): Op<unknown[]> {
  let below = '';
  try {
    const at = yield* locate(core, path);
    const entries = yield* core.readdir(at);
    const found = show(entries, '');
    if (!recursive) return found;
    const queue = directoriesIn({ at, below }, entries);
    for (let dir = queue.shift(); dir !== undefined; dir = queue.shift()) {
      below = dir.below;
      const inside = yield* core.readdir(dir.at);
      found.push(...show(inside, below));
      queue.push(...directoriesIn(dir, inside));
    }
    return found;
  } catch (error) {
    throw nodeError(error, 'scandir', below === '' ? path : join(path, below));
  }
}

export function directoriesIn({ at, below }: Listed, entries: readonly DirEntry[]): Listed[] {
  return entries
    .filter(({ kind }) => kind === 'directory')
    .map(({ name }) => ({ at: childOf(at, name), below: childOf(below, name) }));
}

export function childOf(directory: string, name: string): string {
  return directory === '' || directory === '/' ? `${directory}${name}` : `${directory}/${name}`;
}

export function entryOf({ kind, name }: DirEntry, parent: Name, encoding: NameEncoding): Dirent {
  return direntOf(kind, encodeName(name, encoding), parent);
}

/** The directory an entry says it is in: the path as it was given, and what of the walk lies below it. */
export function parentPath(given: Name, below: string, encoding: NameEncoding): Name {
  if (below === '') return given;
  if (typeof given !== 'string') return Buffer.from(join(asBuffer(given).toString(), below));
  return encoding === 'buffer' ? Buffer.from(join(given, below)) : join(given, below);
}
