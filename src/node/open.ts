import type { BigIntStats, Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { Fault } from '../base/fault.ts';
import type { Op } from '../base/op.ts';
import type { Stat } from '../vfs/read-fs.ts';
import { callOn } from './changes.ts';
import { type Context, locate, type WriteTarget } from './context.ts';
import type { Descriptors } from './descriptors.ts';
import { nodeError, systemError } from './errors.ts';
import { assertReadable, readFlags, wantsDirectory } from './flags.ts';
import { type Forms, type FsPromises, forms } from './forms.ts';
import { checkedByNode, isNodes, NOWHERE, native } from './native.ts';
import { expectDirectory, spelledPath } from './paths.ts';
import { openPrivate, openPrivateHandle } from './private-files.ts';
import { statsOf } from './stats.ts';

interface Opened {
  readonly stat: Stat;
  /** A file's. */
  readonly bytes?: Uint8Array;
}

/** Descriptors and handles are Node's, of private files with the verified bytes; what `stat` says of them is ours. */
export function openForms(context: Context, descriptors: Descriptors) {
  const { core, driver, owner } = context;

  function* contentOf(path: string, flags: number | undefined): Op<Opened> {
    try {
      assertReadable(flags);
      const found = yield* locate(core, path);
      if (wantsDirectory(flags)) yield* expectDirectory(core, found);
      const stat = yield* core.stat(found);
      return stat.kind === 'directory' ? { stat } : yield* core.read(found);
    } catch (error) {
      throw nodeError(error, 'open', path);
    }
  }

  function* descriptorOf({ path, flags, given }: OpenArguments): Op<number> {
    if (flags === undefined) {
      const target = yield* writableTarget(path);
      if (target !== undefined) return (yield* callOn(target, 'open', [target.path, ...given], { path })) as number;
    }
    const { stat, bytes } = yield* contentOf(path, flags);
    try {
      const fd = openPrivate(bytes);
      descriptors.add(fd, stat);
      return fd;
    } catch (error) {
      throw withPath(error, path);
    }
  }

  async function handle(first: unknown, second?: unknown, third?: unknown): Promise<FileHandle> {
    const { path, flags, given } = openArguments(first, second, third);
    if (flags === undefined) {
      const target = await driver.async(writableTarget(path));
      if (target !== undefined) return openThere(target, path, given);
    }
    const { stat, bytes } = await driver.async(contentOf(path, flags));
    try {
      return withStat(await openPrivateHandle(bytes), stat);
    } catch (error) {
      throw withPath(error, path);
    }
  }

  /** Descriptors are the process's: those of another file system's own making would be taken for them. */
  function* writableTarget(path: string): Op<WriteTarget | undefined> {
    let target: WriteTarget | undefined;
    try {
      target = yield* context.writes(path);
    } catch (error) {
      throw nodeError(error, 'open', path);
    }
    if (target === undefined || isNodes(target.fs)) return target;
    const detail = 'this local layer is not on the disk: only functions that take a path can change it';
    throw systemError('EROFS', 'open', { path, detail });
  }

  async function openThere(target: WriteTarget, path: string, given: readonly unknown[]): Promise<FileHandle> {
    const op = callOn(target, 'open', [target.path, ...given], { path });
    return (await driver.async(op)) as FileHandle;
  }

  /** The handle of a file of ours: it knows its inode, and does not let it be changed. */
  function withStat(opened: FileHandle, stat: Stat): FileHandle {
    const nodes = opened.stat.bind(opened) as FileHandle['stat'];
    const refuse = (syscall: string) => async () => {
      await nodes();
      throw nodeError(new Fault('EROFS'), syscall);
    };
    const methods = {
      stat: async (options?: { bigint?: boolean }): Promise<Stats | BigIntStats> => {
        await nodes(options);
        return statsOf(stat, owner, options?.bigint === true);
      },
      chmod: refuse('fchmod'),
      chown: refuse('fchown'),
      utimes: refuse('futime'),
    };
    for (const [name, value] of Object.entries(methods)) {
      Object.defineProperty(opened, name, { value, configurable: true, writable: true });
    }
    return opened;
  }

  // biome-ignore lint/correctness/useYield: a descriptor's file is known already
  function* fstat(fd: number, options: { bigint?: boolean } | null | undefined): Op<Stats | BigIntStats> {
    const stat = descriptors.get(fd);
    if (stat === undefined) return native.fstatSync(fd, options ?? {});
    return statsOf(stat, owner, options?.bigint === true);
  }

  const opens = forms(driver, 'open', (...args) => descriptorOf(openArguments(...args)));
  return {
    open: { ...opens, promise: handle as FsPromises['open'] } satisfies Forms<'open'>,
    fstat: forms(driver, 'fstat', (fd, options) => {
      if (!isDescriptor(fd)) native.fstatSync(fd as number);
      return fstat(fd as number, options as { bigint?: boolean });
    }),
  };
}

interface OpenArguments {
  readonly path: string;
  /** Absent where they ask to write. */
  readonly flags: number | undefined;
  /** Flags and mode as they were given. */
  readonly given: readonly unknown[];
}

/** @throws what Node throws for arguments it does not take */
function openArguments(path: unknown, flags: unknown, mode: unknown): OpenArguments {
  const check = () => native.openSync(NOWHERE, flags as string, mode as number);
  const spelled = spelledPath(path, (bad) => native.openSync(bad, 'r'));
  if (mode !== undefined && mode !== null) checkedByNode(check);
  const given = [flags, mode].filter((argument) => argument !== undefined);
  return { path: spelled, flags: readFlags(flags, check), given };
}

function isDescriptor(fd: unknown): boolean {
  return typeof fd === 'number' && Number.isInteger(fd) && fd >= 0 && fd <= 0x7fffffff;
}

/** What failed on the real disk, told of the path the caller knows. */
function withPath(error: unknown, path: string): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  return syscall === undefined || code === undefined ? error : systemError(code, 'open', { path });
}
