import { resolve } from 'node:path';
import type { Op } from '../base/op.ts';
import { Call } from '../vfs/driver.ts';
import { type Context, locate, type WriteTarget } from './context.ts';
import { nodeError, systemError } from './errors.ts';
import { native } from './native.ts';

type Functions = Readonly<Record<string, ((...args: unknown[]) => unknown) | undefined>>;

/** A change of one path. */
export interface Change {
  readonly name: string;
  readonly syscall: string;
  /** As the program spells it. */
  readonly path: string;
  /** As errors show it: where the name is completed, the whole of it. */
  readonly shown: string;
  readonly rest: readonly unknown[];
}

/**
 * Makes a change where it belongs.
 *
 * @throws what the other file system gives, about the path as it was spelled; EROFS where nothing can be changed
 */
export function* change(context: Context, { name, syscall, path, shown, rest }: Change): Op<unknown> {
  // What is only the beginning of a name says no more than the whole name where it belongs.
  const target = yield* writable(context, syscall, shown, { path: shown });
  const at = target.path.slice(0, target.path.length - (shown.length - path.length));
  const given = rest.filter((argument) => argument !== undefined);
  return translated(yield* callOn(target, name, [at, ...given], { path: shown }), target);
}

/** Moves or links something, within one file system. */
export function* between(context: Context, name: 'rename' | 'link', path: string, dest: string): Op<unknown> {
  const source = yield* anywhere(context, name, path, { path, dest });
  const target = yield* anywhere(context, name, dest, { path, dest });
  const across = context.owns(resolve(path)) !== context.owns(resolve(dest));
  if (source !== undefined && source.fs === target?.fs) {
    return yield* callOn(source, name, [source.path, target.path], { path, dest });
  }
  throw systemError(across || (source !== undefined && target !== undefined) ? 'EXDEV' : 'EROFS', name, { path, dest });
}

/** Makes a symbolic link at `dest`; what it says is not looked at. */
export function* linkTo(context: Context, says: string, dest: string, type: unknown): Op<unknown> {
  const target = yield* writable(context, 'symlink', dest, { path: says, dest });
  const rest = type === undefined ? [] : [type];
  return yield* callOn(target, 'symlink', [says, target.path, ...rest], { path: says, dest });
}

type Spelled = { readonly path: string; readonly dest?: string };

/** @throws EROFS where nothing can be changed, and whatever failure says where that is */
function* writable(context: Context, syscall: string, path: string, spelled: Spelled): Op<WriteTarget> {
  const target = yield* anywhere(context, syscall, path, spelled);
  if (target === undefined && syscall === 'mkdir') yield* expectAbsent(context, path, spelled);
  if (target === undefined || !context.owns(resolve(path))) throw systemError('EROFS', syscall, spelled);
  return target;
}

/** What is there already counts before what must not be changed, as it does for the kernel. @throws EEXIST */
function* expectAbsent({ core }: Context, path: string, spelled: Spelled): Op<void> {
  try {
    yield* core.stat(yield* locate(core, path));
  } catch {
    return;
  }
  throw systemError('EEXIST', 'mkdir', spelled);
}

/** Where a change is made, on the real disk for a path that is not the mount's. */
function* anywhere(context: Context, syscall: string, path: string, spelled: Spelled): Op<WriteTarget | undefined> {
  if (!context.owns(resolve(path))) return { fs: native, path, back: (back) => back };
  try {
    return yield* context.writes(path);
  } catch (error) {
    throw nodeError(error, syscall, spelled.path, spelled.dest);
  }
}

/** Calls a function of the file system a change is made in. */
export function* callOn(target: WriteTarget, name: string, args: readonly unknown[], spelled: Spelled): Op<unknown> {
  const sync = (target.fs as unknown as Functions)[`${name}Sync`];
  const promise = (target.fs.promises as unknown as Functions)[name];
  const missing = () => systemError('ENOSYS', name, spelled);
  try {
    return yield new Call(
      true,
      () => {
        if (sync === undefined) throw missing();
        return sync.apply(target.fs, [...args]);
      },
      async () => {
        if (promise === undefined) throw missing();
        return promise.apply(target.fs.promises, [...args]);
      },
    );
  } catch (error) {
    throw respelled(error, spelled);
  }
}

/** A directory that was made is told of by its path. */
function translated(result: unknown, target: WriteTarget): unknown {
  if (typeof result === 'string') return target.back(result);
  const path = (result as { path?: unknown } | undefined)?.path;
  return typeof path === 'string' ? { ...(result as object), path: target.back(path) } : result;
}

function respelled(error: unknown, spelled: Spelled): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (code === undefined || syscall === undefined) return error;
  return systemError(code, syscall, { ...spelled, cause: error });
}
