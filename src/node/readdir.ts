import type { Dirent } from 'node:fs';
import { join } from 'node:path';
import type { Op } from '../base/op.ts';
import type { DirEntry, ReadFs } from '../vfs/read-fs.ts';
import { type Context, locate } from './context.ts';
import { direntOf } from './dirents.ts';
import { encodeName, encodingOf, type NameEncoding } from './encodings.ts';
import { nodeError } from './errors.ts';
import { type Forms, forms } from './forms.ts';
import { NOWHERE, native } from './native.ts';
import { givenPath, spelledPath } from './paths.ts';

interface ReaddirOptions {
  readonly withFileTypes?: boolean;
  readonly recursive?: boolean;
}

/** A directory of a walk. */
export interface Listed {
  /** Where the core has it. */
  readonly at: string;
  /** Its path below the directory the walk began with, which is `''`. */
  readonly below: string;
}

export function readdir(context: Context): Forms<'readdir'> {
  const { core, driver } = context;

  function* names(path: string, encoding: NameEncoding, recursive: boolean): Op<(string | Buffer)[]> {
    const found: (string | Buffer)[] = [];
    for (const [{ below }, entries] of yield* walked(core, path, recursive)) {
      for (const { name } of entries) found.push(encodeName(childOf(below, name), encoding));
    }
    return found;
  }

  function* dirents(path: string, given: string | Buffer, encoding: NameEncoding, recursive: boolean): Op<Dirent[]> {
    const found: Dirent[] = [];
    for (const [{ below }, entries] of yield* walked(core, path, recursive)) {
      const parent = parentPath(given, below, encoding);
      for (const entry of entries) found.push(entryOf(entry, parent, encoding));
    }
    return found;
  }

  return forms(driver, 'readdir', (path, given) => {
    const encoding = encodingOf(given, (bad) => native.readdirSync(NOWHERE, bad));
    const options: ReaddirOptions = typeof given === 'object' && given !== null ? given : {};
    const spelled = spelledPath(path, native.readdirSync);
    const recursive = options.recursive === true;
    if (options.withFileTypes !== true) return names(spelled, encoding, recursive);
    return dirents(spelled, givenPath(path, spelled), encoding, recursive);
  });
}

/** The directories of a walk with their entries, breadth first, as Node's synchronous walk goes. */
function* walked(
  core: ReadFs,
  path: string,
  recursive: boolean,
): Op<readonly (readonly [Listed, readonly DirEntry[]])[]> {
  try {
    return yield* walk(core, yield* locate(core, path), recursive);
  } catch (error) {
    throw nodeError(error, 'scandir', path);
  }
}

/** @throws `Fault` */
export function* walk(
  core: ReadFs,
  root: string,
  recursive: boolean,
): Op<readonly (readonly [Listed, readonly DirEntry[]])[]> {
  const found: [Listed, readonly DirEntry[]][] = [];
  const queue: Listed[] = [{ at: root, below: '' }];
  for (let dir = queue.shift(); dir !== undefined; dir = queue.shift()) {
    const entries = yield* core.readdir(dir.at);
    found.push([dir, entries]);
    if (!recursive) break;
    for (const { kind, name } of entries) {
      if (kind === 'directory') queue.push({ at: childOf(dir.at, name), below: childOf(dir.below, name) });
    }
  }
  return found;
}

export function childOf(directory: string, name: string): string {
  return directory === '' ? name : directory === '/' ? `/${name}` : `${directory}/${name}`;
}

export function entryOf({ kind, name }: DirEntry, parent: string | Buffer, encoding: NameEncoding): Dirent {
  return direntOf(kind, encodeName(name, encoding), parent);
}

/** The directory an entry says it is in: the path as it was given, and what of the walk lies below it. */
export function parentPath(given: string | Buffer, below: string, encoding: NameEncoding): string | Buffer {
  if (below === '') return given;
  const path = join(given.toString(), below);
  return Buffer.isBuffer(given) && encoding === 'buffer' ? Buffer.from(path) : path;
}
