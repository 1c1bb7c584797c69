import type { Op } from '../base/op.ts';
import { between, change, linkTo } from './changes.ts';
import { type Context, locate } from './context.ts';
import type { Descriptors } from './descriptors.ts';
import { systemError } from './errors.ts';
import { type Fs, type FsPromises, forms } from './forms.ts';
import { checkedByNode, NOWHERE, native, nativePromises } from './native.ts';
import { spelledPath } from './paths.ts';
import { isOpen } from './read-file.ts';

/** What changes one path, and the system call that is refused. */
const ONE_PATH = {
  appendFile: 'open',
  chmod: 'chmod',
  chown: 'chown',
  lchmod: 'lchmod',
  lchown: 'lchown',
  lutimes: 'lutime',
  mkdir: 'mkdir',
  mkdtemp: 'mkdtemp',
  mkdtempDisposable: 'mkdtemp',
  rm: 'rm',
  rmdir: 'rmdir',
  truncate: 'open',
  unlink: 'unlink',
  utimes: 'utime',
  writeFile: 'open',
} as const;

/** What involves two paths. */
const TWO_PATHS = ['link', 'rename', 'symlink'] as const;

/** What changes an open file's inode. */
const DESCRIPTOR = { fchmod: 'fchmod', fchown: 'fchown', futimes: 'futime' } as const;

type Call = (...args: unknown[]) => unknown;

/** Every function that would change something, by its name in `node:fs` and in its `promises`. */
export interface Mutators {
  readonly functions: Partial<Fs>;
  readonly promises: Partial<FsPromises>;
}

/**
 * All of them check their arguments as Node does. Then the change is made where it belongs, or fails with EROFS; with EXDEV
 * where something would be moved or linked between two file systems.
 */
export function mutators(context: Context, descriptors: Descriptors): Mutators {
  const functions: Record<string, Call> = {};
  const promises: Record<string, Call> = {};

  for (const [name, syscall] of Object.entries(ONE_PATH)) {
    const nodes = nodesFunction(`${name}Sync`);
    if (nodes === undefined) continue;
    const refused = forms(context.driver, name, (path, second, third) => {
      const spelled = spelledPath(path, (bad) => nodes(bad, second, third));
      checkedByNode(() => nodes(NOWHERE, isIterable(second) ? '' : second, third));
      const shown = syscall === 'mkdtemp' ? `${spelled}XXXXXX` : spelled;
      const op = change(context, { name, syscall, path: spelled, shown, rest: [second, third] });
      return name === 'mkdir' && isRecursive(second) ? madeAlready(context, spelled, op) : op;
    });
    add(name, refused, (path) => typeof path === 'number');
  }

  for (const name of TWO_PATHS) {
    const nodes = nodesFunction(`${name}Sync`) as Call;
    const refused = forms(context.driver, name, (path, dest, type) => {
      const from = spelledPath(path, (bad) => nodes(bad, dest, type));
      const to = spelledPath(dest, (bad) => nodes(NOWHERE, bad, type));
      checkedByNode(() => nodes(NOWHERE, NOWHERE, type));
      return name === 'symlink' ? linkTo(context, from, to, type) : between(context, name, from, to);
    });
    add(name, refused, () => false);
  }

  for (const [name, syscall] of Object.entries(DESCRIPTOR)) {
    const nodes = nodesFunction(`${name}Sync`) as Call;
    const refused = forms(context.driver, name, (_fd, second, third) => {
      checkedByNode(() => nodes(CLOSED, second, third));
      return refusal(syscall);
    });
    add(name, refused, (fd) => typeof fd !== 'number' || descriptors.get(fd) === undefined);
  }

  /** @param isNodes whether the first argument is something that Node itself deals with */
  function add(name: string, refused: object, isNodes: (first: unknown) => boolean): void {
    const { sync, callback, promise } = refused as Record<'sync' | 'callback' | 'promise', Call>;
    const nodesSync = nodesFunction(`${name}Sync`);
    const nodes = nodesFunction(name);
    const nodesPromise = nativePromises[name as keyof FsPromises] as Call | undefined;
    functions[`${name}Sync`] = (...args) => (isNodes(args[0]) && nodesSync ? nodesSync(...args) : sync(...args));
    if (nodes !== undefined) {
      functions[name] = (...args) => (isNodes(args[0]) ? nodes(...args) : callback(...args));
    }
    if (nodesPromise === undefined) return;
    promises[name] = (...args) => (isOpen(args[0]) ? nodesPromise(...args) : promise(...args));
  }

  return { functions: functions as Partial<Fs>, promises: promises as Partial<FsPromises> };
}

/** A descriptor that no process can have open. */
const CLOSED = 0x7fffffff;

function nodesFunction(name: string): Call | undefined {
  const value: unknown = native[name as keyof Fs];
  return typeof value === 'function' ? (value as Call) : undefined;
}

/** Promises take streams of data, synchronous functions do not. */
function isIterable(data: unknown): boolean {
  return typeof data === 'object' && data !== null && (Symbol.asyncIterator in data || Symbol.iterator in data);
}

function isRecursive(options: unknown): boolean {
  return typeof options === 'object' && options !== null && (options as { recursive?: unknown }).recursive === true;
}

/** A directory that is there needs no making. */
function* madeAlready({ core }: Context, path: string, make: Op<unknown>): Op<unknown> {
  try {
    return yield* make;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const { kind } = yield* core.stat(yield* locate(core, path));
    if (kind === 'file') throw error;
    return undefined;
  }
}

// biome-ignore lint/correctness/useYield: it is an operation that asks for nothing
function* refusal(syscall: string): Op<never> {
  throw systemError('EROFS', syscall);
}
