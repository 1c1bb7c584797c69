import type { CopyOptions, CopySyncOptions } from 'node:fs';
import { constants as system } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { isPromise } from 'node:util/types';
import type { Op } from '../base/op.ts';
import { type Context, locate, type WriteTarget } from './context.ts';
import { codedError, nodeError, systemError } from './errors.ts';
import { callbackIn, deliver, type Forms, type Fs, type FsPromises, forms } from './forms.ts';
import { checkedByNode, NOWHERE, native } from './native.ts';
import { spelledPath } from './paths.ts';

/** As in the mount. */
const FILE_MODE = 0o444;
/** Unlike in the mount: a directory on the real disk has to take its files. */
const DIRECTORY_MODE = 0o755;

/** Something to copy: from a path of the mount to one of the real disk. */
interface Copy {
  readonly from: string;
  readonly to: string;
}

interface CopyForms {
  readonly copyFile: Forms<'copyFile'>;
  readonly cp: Forms<'cp'>;
}

/** Copies out of the mount, to the real disk. Node's own functions would look for the source on the real disk as well. */
export function copyForms(context: Context): CopyForms {
  const { driver } = context;

  const copyFile = forms(driver, 'copyFile', (source, destination, mode) => {
    const copy = copyArguments(source, destination, native.copyFileSync);
    if (mode !== undefined) checkedByNode(() => native.copyFileSync(NOWHERE, NOWHERE, mode as number));
    return copyContent(context, copy, (Number(mode ?? 0) & native.constants.COPYFILE_EXCL) !== 0);
  });

  const cpSync = (source: unknown, destination: unknown, given?: unknown) => {
    const { filter, ...options } = copyOptions(given) as CopySyncOptions;
    const copies = [copyArguments(source, destination, native.cpSync)];
    for (let copy = copies.shift(); copy !== undefined; copy = copies.shift()) {
      const wanted = filter === undefined || filter(copy.from, copy.to);
      if (isPromise(wanted)) throw filterError();
      if (wanted) copies.unshift(...driver.sync(copyOne(context, copy, options)));
    }
  };

  const cpPromise = async (source: unknown, destination: unknown, given?: unknown) => {
    const { filter, ...options } = copyOptions(given);
    const copies = [copyArguments(source, destination, native.cpSync)];
    for (let copy = copies.shift(); copy !== undefined; copy = copies.shift()) {
      const wanted = filter === undefined || (await filter(copy.from, copy.to));
      if (wanted) copies.unshift(...(await driver.async(copyOne(context, copy, options))));
    }
  };

  const cpCallback = (...args: unknown[]) => {
    const { at, done } = callbackIn('cp', args);
    const [source, destination, options] = args.slice(0, at);
    copyArguments(source, destination, native.cpSync);
    copyOptions(options);
    deliver(cpPromise(source, destination, options), done);
  };

  const cp = { sync: cpSync as Fs['cpSync'], callback: cpCallback as Fs['cp'], promise: cpPromise as FsPromises['cp'] };
  return { copyFile, cp };
}

/** @throws what Node throws for what is no path */
function copyArguments(source: unknown, destination: unknown, nodes: (from: never, to: never) => void): Copy {
  const from = spelledPath(source, (bad) => nodes(bad, destination as never));
  return { from, to: spelledPath(destination, (bad) => nodes(NOWHERE as never, bad)) };
}

/** @throws what Node throws for options it does not take; the filter is not called */
function copyOptions(given: unknown): CopyOptions {
  if (given === undefined) return {};
  const quiet = typeof given === 'object' && given !== null && typeof (given as CopyOptions).filter === 'function';
  checkedByNode(() => native.cpSync(NOWHERE, NOWHERE, (quiet ? { ...given, filter: undefined } : given) as object));
  return given as CopyOptions;
}

function* copyContent(context: Context, { from, to }: Copy, exclusive: boolean): Op<void> {
  const { core } = context;
  try {
    const { bytes, stat } = yield* core.read(yield* locate(core, from));
    const { fs, path } = yield* destination(context, 'copyfile', from, to);
    const mode = stat.disk === undefined ? FILE_MODE : stat.disk.mode & 0o777;
    fs.writeFileSync(path, bytes, { flag: exclusive ? 'wx' : 'w', mode });
    fs.chmodSync(path, mode);
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === 'open' && code !== undefined) throw systemError(code, 'copyfile', { path: from, dest: to });
    throw nodeError(error, 'copyfile', from, to);
  }
}

/** Copies a file, or makes a directory. @returns what is to be copied into it */
function* copyOne(context: Context, copy: Copy, options: Omit<CopyOptions, 'filter'>): Op<Copy[]> {
  const { core } = context;
  const { from, to } = copy;
  try {
    const at = yield* locate(core, from);
    const { kind, mtimeMs } = yield* core.stat(at);
    const { fs, path } = yield* destination(context, 'cp', from, to);
    if (kind === 'directory' && options.recursive !== true) throw cpError('ERR_FS_EISDIR', copy);
    const there = fs.lstatSync(path, { throwIfNoEntry: false });
    if (there !== undefined && there.isDirectory() !== (kind === 'directory')) {
      throw cpError(kind === 'directory' ? 'ERR_FS_CP_DIR_TO_NON_DIR' : 'ERR_FS_CP_NON_DIR_TO_DIR', copy);
    }
    if (kind === 'directory') {
      fs.mkdirSync(path, { recursive: true, mode: DIRECTORY_MODE });
      const entries = yield* core.readdir(at);
      return entries.map(({ name }) => ({ from: join(from, name), to: join(to, name) }));
    }
    if (there !== undefined && options.force === false) {
      if (options.errorOnExist === true) throw cpError('ERR_FS_CP_EEXIST', copy);
      return [];
    }
    fs.mkdirSync(dirname(path), { recursive: true });
    if (there !== undefined) fs.unlinkSync(path);
    yield* copyContent(context, copy, true);
    if (options.preserveTimestamps === true) fs.utimesSync(path, mtimeMs / 1000, mtimeMs / 1000);
    return [];
  } catch (error) {
    throw nodeError(error, 'lstat', from);
  }
}

/** Where a copy goes: to the real disk, or where a change at the path is made. @throws EROFS where nothing can be changed */
function* destination(context: Context, syscall: string, from: string, to: string): Op<Omit<WriteTarget, 'back'>> {
  if (!context.owns(resolve(to))) return { fs: native, path: to };
  const target = yield* context.writes(to);
  if (target === undefined) throw systemError('EROFS', syscall, { path: from, dest: to });
  return target;
}

/** Node's own refusals of `cp`: what they begin with, the code they stand for, and what they say. */
const CP_ERRORS = {
  ERR_FS_EISDIR: ['Path is a directory', 'EISDIR', ({ from }: Copy) => `${from} is a directory (not copied)`],
  ERR_FS_CP_DIR_TO_NON_DIR: [
    'Cannot overwrite non-directory with directory',
    'EISDIR',
    ({ from, to }: Copy) => `cannot overwrite non-directory ${to} with directory ${from}`,
  ],
  ERR_FS_CP_NON_DIR_TO_DIR: [
    'Cannot overwrite directory with non-directory',
    'ENOTDIR',
    ({ from, to }: Copy) => `cannot overwrite directory ${to} with non-directory ${from}`,
  ],
  ERR_FS_CP_EEXIST: ['Target already exists', 'EEXIST', ({ to }: Copy) => `${to} already exists`],
} as const;

function cpError(code: keyof typeof CP_ERRORS, copy: Copy): Error {
  const [prefix, means, say] = CP_ERRORS[code];
  const message = say(copy);
  const path = code === 'ERR_FS_EISDIR' ? copy.from : copy.to;
  const info = { message, path, syscall: 'cp', errno: system.errno[means], code: means };
  const error = codedError(code, `${prefix}: cp returned ${means} (${message}) ${path}`);
  Object.defineProperty(error, 'name', { value: 'SystemError', configurable: true, writable: true });
  return Object.assign(error, { info, errno: info.errno, syscall: 'cp', path });
}

function filterError(): Error {
  const message = 'Expected boolean to be returned from the "filter" function but got an instance of Promise.';
  return Object.assign(new TypeError(message), { code: 'ERR_INVALID_RETURN_VALUE' });
}
