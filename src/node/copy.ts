import type { CopyOptions, CopySyncOptions } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { isPromise } from 'node:util/types';
import type { Op } from '../base/op.ts';
import type { Content, Stat } from '../vfs/read-fs.ts';
import { callOn } from './changes.ts';
import { type Context, locate, type WriteTarget } from './context.ts';
import { type Copy, cpError, filterError } from './copy-errors.ts';
import { nodeError, systemError } from './errors.ts';
import { callbackIn, deliver, type Forms, type Fs, type FsPromises, forms } from './forms.ts';
import { checkedByNode, isNodes, NOWHERE, native } from './native.ts';
import { spelledPath } from './paths.ts';

/** As in the mount. */
const FILE_MODE = 0o444;
/** Unlike in the mount: a directory on the real disk has to take its files. */
const DIRECTORY_MODE = 0o755;

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
    return copyFileThere(context, copy, Number(mode ?? 0));
  });

  const cpSync = (source: unknown, destination: unknown, given?: unknown) => {
    const { filter, ...options } = copyOptions(given) as CopySyncOptions;
    const whole = copyArguments(source, destination, native.cpSync);
    if (driver.sync(copiedFromDisk(context, whole, given))) return;
    const copies = [whole];
    for (let copy = copies.shift(); copy !== undefined; copy = copies.shift()) {
      const wanted = filter === undefined || filter(copy.from, copy.to);
      if (isPromise(wanted)) throw filterError();
      if (wanted) copies.unshift(...driver.sync(copyOne(context, copy, options)));
    }
  };

  const cpPromise = async (source: unknown, destination: unknown, given?: unknown) => {
    const { filter, ...options } = copyOptions(given);
    const whole = copyArguments(source, destination, native.cpSync);
    if (await driver.async(copiedFromDisk(context, whole, given))) return;
    const copies = [whole];
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

function* copyFileThere(context: Context, copy: Copy, mode: number): Op<unknown> {
  const { core } = context;
  const { from, to } = copy;
  const target = yield* fromDisk(context, 'copyfile', copy);
  if (target !== undefined) return yield* callOn(target, 'copyFile', [from, target.path, mode], spelledOf(copy));
  try {
    const content = yield* core.read(yield* locate(core, from));
    const { fs, path } = yield* destination(context, 'copyfile', copy);
    return put(content, fs, path, (mode & native.constants.COPYFILE_EXCL) !== 0);
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === 'open' && code !== undefined) throw systemError(code, 'copyfile', { path: from, dest: to });
    throw nodeError(error, 'copyfile', from, to);
  }
}

function put({ bytes, stat }: Content, fs: WriteTarget['fs'], path: string, exclusive: boolean): void {
  const mode = stat.disk === undefined ? FILE_MODE : stat.disk.mode & 0o777;
  fs.writeFileSync(path, bytes, { flag: exclusive ? 'wx' : 'w', mode });
  fs.chmodSync(path, mode);
}

/** Copies a file, or makes a directory. @returns what is to be copied into it */
function* copyOne(context: Context, copy: Copy, options: Omit<CopyOptions, 'filter'>): Op<Copy[]> {
  const { core } = context;
  const { from, to } = copy;
  try {
    const at = yield* locate(core, from);
    const { kind, mtimeMs } = yield* core.stat(at);
    const { fs, path } = yield* destination(context, 'cp', copy);
    if (kind === 'directory' && options.recursive !== true) throw cpError('ERR_FS_EISDIR', copy);
    const there = fs.lstatSync(path, { throwIfNoEntry: false });
    if (there !== undefined && there.isDirectory() !== (kind === 'directory')) {
      throw cpError(kind === 'directory' ? 'ERR_FS_CP_DIR_TO_NON_DIR' : 'ERR_FS_CP_NON_DIR_TO_DIR', copy);
    }
    if (there !== undefined || kind === 'directory') yield* assertElsewhere(context, copy, kind, { fs, path });
    if (kind === 'directory') {
      fs.mkdirSync(path, { recursive: true, mode: DIRECTORY_MODE });
      const entries = yield* core.readdir(at);
      return entries.map(({ name }) => ({ from: join(from, name), to: join(to, name) }));
    }
    if (there !== undefined && options.force === false) {
      if (options.errorOnExist === true) throw cpError('ERR_FS_CP_EEXIST', copy);
      return [];
    }
    // What cannot be read must not cost what is there.
    const content = yield* core.read(at);
    fs.mkdirSync(dirname(path), { recursive: true });
    if (there !== undefined) fs.unlinkSync(path);
    put(content, fs, path, true);
    if (options.preserveTimestamps === true) fs.utimesSync(path, mtimeMs / 1000, mtimeMs / 1000);
    return [];
  } catch (error) {
    throw nodeError(error, 'lstat', from);
  }
}

/** @throws what Node throws for a copy of something onto or into itself, by whatever links */
function* assertElsewhere(context: Context, copy: Copy, kind: Stat['kind'], to: Place): Op<void> {
  const source = yield* context.writes(copy.from);
  const same = resolve(copy.from) === resolve(copy.to);
  const inside = resolve(copy.to).startsWith(`${resolve(copy.from)}/`);
  if (!same && !inside && source?.fs !== to.fs) return;
  const [from, dest] = source === undefined ? [copy.from, copy.to] : [realPath(source), realPath(to)];
  if (same || from === dest) throw cpError('ERR_FS_CP_EINVAL', copy);
  if (kind === 'directory' && (inside || dest.startsWith(`${from}/`))) throw cpError('ERR_FS_CP_EINVAL', copy);
}

/** Of what is not there yet, the real path it will have. */
function realPath({ fs, path }: Place): string {
  try {
    return fs.realpathSync(path);
  } catch (error) {
    const parent = dirname(path);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === path) throw error;
    return join(realPath({ fs, path: parent }), basename(path));
  }
}

/**
 * Where something of the real disk is copied to; `undefined` for what is not of the disk, or does not go into a view.
 *
 * @throws EROFS where nothing can be changed, EXDEV where that is not the disk
 */
function* fromDisk(context: Context, syscall: string, copy: Copy): Op<WriteTarget | undefined> {
  const { from, to } = copy;
  if (context.owns(resolve(from)) || !context.owns(resolve(to))) return undefined;
  try {
    const target = yield* destination(context, syscall, copy);
    if (!isNodes(target.fs)) throw systemError('EXDEV', syscall, { path: from, dest: to });
    return target;
  } catch (error) {
    throw nodeError(error, syscall, from, to);
  }
}

/** Lets Node copy what goes from the real disk into a view. @returns whether it did */
function* copiedFromDisk(context: Context, copy: Copy, options: unknown): Op<boolean> {
  const target = yield* fromDisk(context, 'cp', copy);
  if (target === undefined) return false;
  yield* callOn(target, 'cp', [copy.from, target.path, options], spelledOf(copy));
  return true;
}

type Place = Pick<WriteTarget, 'fs' | 'path'>;

/** Where a copy goes: to the real disk, or where a change at the path is made. @throws EROFS where nothing can be changed */
function* destination(context: Context, syscall: string, { from, to }: Copy): Op<WriteTarget> {
  if (!context.owns(resolve(to))) return { fs: native, path: to, back: (path) => path };
  const target = yield* context.writes(to);
  if (target === undefined) throw systemError('EROFS', syscall, { path: from, dest: to });
  return target;
}

function spelledOf({ from, to }: Copy) {
  return { path: from, dest: to };
}
