import { promisify } from 'node:util';
import { Fault } from '../base/fault.ts';
import type { Op } from '../base/op.ts';
import { type Context, locate } from './context.ts';
import { encodeName, encodingOf } from './encodings.ts';
import { isAbsence, nodeError } from './errors.ts';
import { type Forms, forms } from './forms.ts';
import { checkedByNode, NOWHERE, native } from './native.ts';
import { isNormal, spelledPath } from './paths.ts';
import { statfsOf, statsOf } from './stats.ts';

interface StatOptions {
  readonly bigint?: boolean;
  readonly throwIfNoEntry?: boolean;
}

/** Whether this Node's `throwIfNoEntry: false` also covers a path below a file. */
const quietBelowFiles = (() => {
  try {
    return native.statSync(NOWHERE, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
})();

/** There are no links: `lstat` is `stat` under its own name. */
export function statForms<Name extends 'stat' | 'lstat'>(context: Context, name: Name): Forms<Name> {
  const refuse = native[`${name}Sync`] as (path: never) => unknown;
  const prepare = (path: unknown, options: unknown): Op<unknown> => {
    const { bigint = false } = (options ?? {}) as StatOptions;
    return stat(context, name, spelledPath(path, refuse), bigint);
  };
  const made = forms(context.driver, name, prepare);
  const sync = (path: unknown, options?: StatOptions) => {
    if (options?.throwIfNoEntry !== false) return (made.sync as (...args: unknown[]) => unknown)(path, options);
    try {
      return (made.sync as (...args: unknown[]) => unknown)(path, options);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT' || (code === 'ENOTDIR' && quietBelowFiles)) return undefined;
      throw error;
    }
  };
  return { ...made, sync } as Forms<Name>;
}

function* stat({ core, owner }: Context, syscall: string, path: string, bigint: boolean): Op<unknown> {
  try {
    return statsOf(yield* core.stat(isNormal(path) ? path : yield* locate(core, path)), owner, bigint);
  } catch (error) {
    throw nodeError(error, syscall, path);
  }
}

export function statfsForms(context: Context): Forms<'statfs'> {
  return forms(context.driver, 'statfs', (path, options) => {
    const spelled = spelledPath(path, native.statfsSync);
    return exists(context, 'statfs', spelled, () => statfsOf((options as StatOptions | undefined)?.bigint === true));
  });
}

export function readlinkForms(context: Context): Forms<'readlink'> {
  return forms(context.driver, 'readlink', (path, options) => {
    const spelled = spelledPath(path, native.readlinkSync);
    encodingOf(options, (bad) => native.readlinkSync(NOWHERE, bad));
    return exists(context, 'readlink', spelled, () => {
      throw new Fault('EINVAL');
    });
  });
}

/** Looks a path up, and then does what no more request is needed for. */
function* exists<T>({ core }: Context, syscall: string, path: string, then: () => T): Op<T> {
  try {
    yield* core.stat(isNormal(path) ? path : yield* locate(core, path));
    return then();
  } catch (error) {
    throw nodeError(error, syscall, path);
  }
}

const { W_OK, X_OK } = native.constants;

/** As on a file system that is mounted read-only: nobody may write, and no file may be executed (SEC-1). */
export function accessForms(context: Context): Forms<'access'> {
  return forms(context.driver, 'access', (path, mode) => {
    const spelled = spelledPath(path, native.accessSync);
    if (mode !== undefined) checkedByNode(() => native.accessSync(NOWHERE, mode as number));
    return access(context, spelled, (mode ?? 0) as number);
  });
}

function* access({ core }: Context, path: string, mode: number): Op<void> {
  try {
    const { kind } = yield* core.stat(isNormal(path) ? path : yield* locate(core, path));
    if ((mode & W_OK) !== 0) throw new Fault('EROFS');
    if ((mode & X_OK) !== 0 && kind === 'file') throw new Fault('EACCES');
  } catch (error) {
    throw nodeError(error, 'access', path);
  }
}

export interface ExistsForms {
  readonly callback: typeof native.exists;
  readonly sync: typeof native.existsSync;
}

/** Whether something is there. A failure is not absence, but this function has no way to tell of it other than `false`. */
export function existsForms(context: Context): ExistsForms {
  const { core, driver } = context;
  function* found(path: string): Op<boolean> {
    try {
      yield* core.stat(isNormal(path) ? path : yield* locate(core, path));
      return true;
    } catch (error) {
      if (isAbsence(error)) return false;
      throw error;
    }
  }
  const spelled = (path: unknown): string | undefined => {
    try {
      return spelledPath(path, native.accessSync);
    } catch {
      return undefined;
    }
  };
  const answer = async (path: unknown): Promise<boolean> => {
    const text = spelled(path);
    return text !== undefined && driver.async(found(text)).catch(() => false);
  };
  const callback = (path: unknown, done: (found: boolean) => void) => {
    if (typeof done !== 'function') native.exists(NOWHERE, done);
    answer(path).then((is) => process.nextTick(done, is));
  };
  Object.defineProperty(callback, 'name', { value: 'exists' });
  Object.defineProperty(callback, promisify.custom, { value: answer });
  const sync = (path: unknown): boolean => {
    const text = spelled(path);
    if (text === undefined) return false;
    try {
      return driver.sync(found(text));
    } catch {
      return false;
    }
  };
  Object.defineProperty(sync, 'name', { value: 'existsSync' });
  return { callback, sync } as unknown as ExistsForms;
}

/** There are no links, so that a path that is there is its own real path. */
export function realpathForms(context: Context): Forms<'realpath'> {
  const direct = forms(context.driver, 'realpath', (path, options) => {
    const spelled = spelledPath(path, native.realpathSync.native);
    const encoding = encodingOf(options, (bad) => native.realpathSync.native(NOWHERE, bad));
    return realpath(context, spelled, encoding);
  });
  // Node's own walk: the path is resolved as text first, and an error is of the component that is not there.
  const walked = forms(context.driver, 'realpath', (path, options) => {
    const spelled = spelledPath(path, native.realpathSync);
    const encoding = encodingOf(options, (bad) => native.realpathSync(NOWHERE, bad));
    return walk(context, spelled, encoding);
  });
  return {
    promise: direct.promise,
    sync: Object.assign(walked.sync, { native: direct.sync }),
    callback: Object.assign(walked.callback, { native: direct.callback }),
  } as unknown as Forms<'realpath'>;
}

function* realpath({ core }: Context, path: string, encoding: ReturnType<typeof encodingOf>): Op<string | Buffer> {
  try {
    const found = yield* locate(core, path);
    yield* core.stat(found);
    return encodeName(found, encoding);
  } catch (error) {
    throw nodeError(error, 'realpath', path);
  }
}

function* walk({ core }: Context, path: string, encoding: ReturnType<typeof encodingOf>): Op<string | Buffer> {
  const absolute = resolveText(path);
  try {
    yield* core.stat(absolute);
    return encodeName(absolute, encoding);
  } catch (error) {
    const names = absolute.split('/').slice(1);
    for (let depth = 1; depth <= names.length; depth++) {
      const component = `/${names.slice(0, depth).join('/')}`;
      try {
        yield* core.stat(component);
      } catch (cause) {
        throw nodeError(cause, 'lstat', component);
      }
    }
    throw nodeError(error, 'lstat', absolute);
  }
}

function resolveText(path: string): string {
  const names: string[] = path.startsWith('/') ? [] : process.cwd().split('/').filter(Boolean);
  for (const name of path.split('/')) {
    if (name === '..') names.pop();
    else if (name !== '' && name !== '.') names.push(name);
  }
  return `/${names.join('/')}`;
}
