import type { Dirent } from 'node:fs';
import { join } from 'node:path';
import type { Op } from '../base/op.ts';
import { type Context, locate } from './context.ts';
import { Dir } from './dir.ts';
import { encodingOf, type NameEncoding } from './encodings.ts';
import { nodeError } from './errors.ts';
import { type Forms, forms } from './forms.ts';
import { NOWHERE, native } from './native.ts';
import { givenPath, type Name, spelledPath } from './paths.ts';
import { directoriesIn, entryOf, type Listed, parentPath } from './readdir.ts';

interface DirOptions {
  readonly encoding: NameEncoding;
  readonly recursive: boolean;
}

export function opendirForms(context: Context): Forms<'opendir'> {
  const { core, driver } = context;

  function* open(path: string, given: Name, options: DirOptions): Op<Dir> {
    const { encoding, recursive } = options;
    const queue: Listed[] = [];

    /** The entries of the next directory of the walk; `undefined` after the last one. */
    function* next(syscall: string): Op<Dirent[] | undefined> {
      const dir = queue.shift();
      if (dir === undefined) return undefined;
      try {
        const entries = yield* core.readdir(dir.at);
        if (recursive) queue.push(...directoriesIn(dir, entries));
        const parent = parentPath(given, dir.below, encoding);
        return entries.map((entry) => entryOf(entry, parent, encoding));
      } catch (error) {
        throw nodeError(error, syscall, dir.below === '' ? path : join(path, dir.below));
      }
    }

    try {
      queue.push({ at: yield* locate(core, path), below: '' });
    } catch (error) {
      throw nodeError(error, 'opendir', path);
    }
    // An open directory goes on with the entries it had when it was opened.
    const entries = (yield* next('opendir')) ?? [];
    return new Dir(given, entries, driver, () => next('scandir'));
  }

  return forms(driver, 'opendir', (path, options) => {
    const spelled = spelledPath(path, native.opendirSync);
    return open(spelled, givenPath(path, spelled), dirOptions(options));
  });
}

/** @throws what Node throws for options it does not take */
function dirOptions(options: unknown): DirOptions {
  const encoding = encodingOf(options, (bad) => native.opendirSync(NOWHERE, bad));
  if (typeof options !== 'object' || options === null) return { encoding, recursive: false };
  const { bufferSize, recursive } = options as { bufferSize?: unknown; recursive?: unknown };
  if (bufferSize !== undefined) checkBufferSize(bufferSize);
  return { encoding, recursive: Boolean(recursive) };
}

/** Node looks at it only when there is a directory. */
function checkBufferSize(bufferSize: unknown): void {
  if (typeof bufferSize === 'number' && Number.isInteger(bufferSize) && bufferSize > 0) return;
  native.opendirSync('/', { bufferSize: bufferSize as number }).closeSync();
}
