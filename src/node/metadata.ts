import type { BigIntStats, Stats } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { Fault, isFault } from '../base/fault.ts';
import type { Op } from '../base/op.ts';
import type { ReadFs, Stat } from '../vfs/read-fs.ts';
import { callOn } from './changes.ts';
import { type Context, locate } from './context.ts';
import { encodeName, encodingOf, type NameEncoding } from './encodings.ts';
import { nodeError, systemError } from './errors.ts';
import { callbackIn, type Forms, type Fs, forms } from './forms.ts';
import { checkedByNode, NOWHERE, native } from './native.ts';
import { isNormal, isUrl, resolvePath, spelledPath } from './paths.ts';
import { statfsOf, statsOf } from './stats.ts';

const { W_OK, X_OK } = native.constants;

interface StatOptions {
  readonly bigint?: boolean;
  readonly throwIfNoEntry?: boolean;
}

/** What `throwIfNoEntry: false` takes for no entry: in some versions of Node, a path below a file too. */
function quietCodes(name: 'stat' | 'lstat'): readonly string[] {
  try {
    native[`${name}Sync`](NOWHERE, { throwIfNoEntry: false });
    return ['ENOENT', 'ENOTDIR'];
  } catch {
    return ['ENOENT'];
  }
}

/** There are no links: `lstat` is `stat` under its own name. */
export function statForms<Name extends 'stat' | 'lstat'>(context: Context, name: Name): Forms<Name> {
  const refuse = native[`${name}Sync`] as (path: never) => unknown;
  const codes = quietCodes(name);
  const made = (takesQuiet: boolean) =>
    forms(context.driver, name, (path, options: StatOptions = {}) => {
      const quiet = takesQuiet && options.throwIfNoEntry === false ? codes : [];
      return stat(context, name, spelledPath(path, refuse), options.bigint === true, quiet);
    });
  // Later versions of Node take `throwIfNoEntry` in asynchronous calls too; only its source tells.
  const { callback, promise } = made(String(native[name]).includes('throwIfNoEntry'));
  return { sync: made(true).sync, callback, promise };
}

function* stat(
  { core, owner }: Context,
  syscall: string,
  path: string,
  bigint: boolean,
  quiet: readonly string[],
): Op<Stats | BigIntStats | undefined> {
  try {
    const at = isNormal(path) ? path : yield* resolvePath(core, path);
    const seen = yield* core.stat(at);
    return statsOf(seen.sizeUnknown === true ? yield* measured(core, at, seen) : seen, owner, bigint);
  } catch (error) {
    if (isFault(error) && quiet.includes(error.code)) return undefined;
    throw nodeError(error, syscall, path);
  }
}

/**
 * Programs skip a file of size 0, or read no further than its size: where nobody said how large a file is, it is fetched
 * to be told. Only a synchronous call that cannot wait for it does with what is known.
 */
function* measured(core: ReadFs, path: string, seen: Stat): Op<Stat> {
  try {
    return (yield* core.read(path)).stat;
  } catch (error) {
    if (isFault(error) && error.code === 'EAGAIN') return seen;
    throw error;
  }
}

export function statfsForms(context: Context): Forms<'statfs'> {
  return forms(context.driver, 'statfs', (path, options: StatOptions = {}) => {
    const spelled = spelledPath(path, native.statfsSync);
    return found(context, 'statfs', spelled, () => statfsOf(options.bigint === true));
  });
}

export function readlinkForms(context: Context): Forms<'readlink'> {
  return forms(context.driver, 'readlink', (path, options) => {
    encodingOf(options, (bad) => native.readlinkSync(NOWHERE, bad));
    return found(context, 'readlink', spelledPath(path, native.readlinkSync), () => {
      throw new Fault('EINVAL');
    });
  });
}

/** As on a file system that is mounted read-only: nobody may write, and no file may be executed (SEC-1). */
export function accessForms(context: Context): Forms<'access'> {
  return forms(context.driver, 'access', (path, mode) => {
    const spelled = spelledPath(path, native.accessSync);
    if (mode !== undefined) checkedByNode(() => native.accessSync(NOWHERE, mode as number));
    const asked = (mode ?? 0) as number;
    return access(context, spelled, asked);
  });
}

function* access(context: Context, path: string, asked: number): Op<unknown> {
  const { disk, kind } = yield* found(context, 'access', path, (stat) => stat);
  const target = disk === undefined ? undefined : yield* context.writes(path);
  if (target !== undefined) return yield* callOn(target, 'access', [target.path, asked], { path });
  if ((asked & W_OK) !== 0) throw systemError('EROFS', 'access', { path });
  if ((asked & X_OK) !== 0 && kind === 'file') throw systemError('EACCES', 'access', { path });
  return undefined;
}

/** Looks a path up, and then does what no more request is needed for. */
function* found<T>({ core }: Context, syscall: string, path: string, then: (stat: Stat) => T): Op<T> {
  try {
    return then(yield* core.stat(isNormal(path) ? path : yield* resolvePath(core, path)));
  } catch (error) {
    throw nodeError(error, syscall, path);
  }
}

export interface ExistsForms {
  readonly callback: Fs['exists'];
  readonly sync: Fs['existsSync'];
}

/** Whether something is there. A failure is not absence, but this function has no way to tell of it other than `false`. */
export function existsForms({ core, driver }: Context): ExistsForms {
  function* exists(path: string): Op<boolean> {
    try {
      yield* core.stat(isNormal(path) ? path : yield* resolvePath(core, path));
      return true;
    } catch {
      return false;
    }
  }

  /** `undefined` for what is no path, which is nowhere. */
  const spelled = (path: unknown): string | undefined => {
    try {
      return spelledPath(path, native.accessSync);
    } catch {
      return undefined;
    }
  };

  const sync = (path: unknown): boolean => {
    const text = spelled(path);
    return text !== undefined && driver.sync(exists(text));
  };

  const promise = async (path: unknown): Promise<boolean> => {
    const text = spelled(path);
    return text !== undefined && driver.async(exists(text));
  };

  const callback = (...args: unknown[]): void => {
    const { done } = callbackIn('exists', args);
    void promise(args[0]).then((is) => process.nextTick(done, is));
  };

  Object.defineProperty(callback, promisify.custom, { value: promise });
  return { sync, callback: callback as ExistsForms['callback'] };
}

/** There are no links, so that a path that is there is its own real path. */
export function realpathForms(context: Context): Forms<'realpath'> {
  const direct = forms(context.driver, 'realpath', (path, options) => {
    const encoding = encodingOf(options, (bad) => native.realpathSync.native(NOWHERE, bad));
    return realpath(context, spelledPath(path, native.realpathSync.native), encoding);
  });
  // Node's own walk goes by the text of whatever it is given.
  const walked = forms(context.driver, 'realpath', (path, options) => {
    const encoding = encodingOf(options, (bad) => native.realpathSync(NOWHERE, bad));
    const text = isUrl(path) ? spelledPath(path, native.realpathSync) : String(path);
    return walk(context, spelledPath(resolve(text), native.realpathSync), encoding);
  });
  return {
    promise: direct.promise,
    sync: Object.assign(walked.sync, { native: direct.sync }),
    callback: Object.assign(walked.callback, { native: direct.callback }),
  };
}

function* realpath({ core }: Context, path: string, encoding: NameEncoding): Op<string | Buffer> {
  try {
    const at = yield* locate(core, path);
    yield* core.stat(at);
    return encodeName(at, encoding);
  } catch (error) {
    throw nodeError(error, 'realpath', path);
  }
}

/** `..` was taken out of the text already; what fails is the first component that cannot be looked at. */
function* walk({ core }: Context, path: string, encoding: NameEncoding): Op<string | Buffer> {
  try {
    yield* core.stat(yield* locate(core, path));
    return encodeName(path, encoding);
  } catch (error) {
    for (let end = path.indexOf('/', 1); end !== -1; end = path.indexOf('/', end + 1)) {
      const component = path.slice(0, end);
      try {
        yield* core.stat(yield* locate(core, component));
      } catch (first) {
        throw nodeError(first, 'lstat', component);
      }
    }
    throw nodeError(error, 'lstat', path);
  }
}
