import * as nodeFs from 'node:fs';
import { constants as os } from 'node:os';
import type { AnyFunction, NodeFs } from '../../src/testing/check-fs/calls.ts';

/** Functions that change something at the path they are given. */
const CHANGES = [
  'appendFile',
  'chmod',
  'chown',
  'copyFile',
  'cp',
  'lchown',
  'link',
  'lutimes',
  'mkdir',
  'mkdtemp',
  'rename',
  'rm',
  'rmdir',
  'symlink',
  'truncate',
  'unlink',
  'utimes',
  'writeFile',
];

const { O_WRONLY, O_RDWR, W_OK } = nodeFs.constants;

/** A copy of `node:fs` that refuses every change as a disk that is mounted read-only does. Its functions may be replaced. */
export function readOnlyNodeFs(): NodeFs {
  const { realpath, realpathSync } = nodeFs;
  const fs = {
    ...nodeFs,
    realpath: Object.assign(realpath.bind(undefined), { native: realpath.native }),
    realpathSync: Object.assign(realpathSync.bind(undefined), { native: realpathSync.native }),
    promises: { ...nodeFs.promises },
  } as NodeFs;
  for (const name of CHANGES) alter(fs, name, { before: (_args) => refusal(name, _args[0]) });
  alter(fs, 'open', { before: ([path, flags = 'r']) => (writes(flags) ? refusal('open', path) : undefined) });
  const writing = (mode: unknown) => typeof mode === 'number' && (mode & W_OK) !== 0;
  alter(fs, 'access', { before: ([path, mode]) => (writing(mode) ? refusal('access', path) : undefined) });
  replace(fs, 'createWriteStream', () => (path: unknown, options: unknown) => {
    const open = (_: unknown, __: unknown, ___: unknown, done: (error: Error) => void) => done(refusal('open', path));
    const unused = () => undefined;
    const own = { open, write: unused, close: unused };
    return nodeFs.createWriteStream(path as string, { ...(options as object), fs: own as never });
  });
  return fs;
}

function writes(flags: unknown): boolean {
  return typeof flags === 'number' ? (flags & (O_WRONLY | O_RDWR)) !== 0 : flags !== 'r';
}

function refusal(syscall: string, path: unknown): Error {
  const message = `EROFS: read-only file system, ${syscall} '${path}'`;
  return Object.assign(new Error(message), { code: 'EROFS', errno: -os.errno.EROFS, syscall, path });
}

/** What is different about an operation, in all its forms. */
export interface Alteration {
  /** An error given back instead of running it. */
  readonly before?: (args: readonly unknown[]) => Error | undefined;
  readonly args?: (args: readonly unknown[]) => readonly unknown[];
  readonly value?: (value: never, args: readonly unknown[]) => unknown;
  readonly error?: (error: NodeJS.ErrnoException, args: readonly unknown[]) => unknown;
}

export type Form = 'sync' | 'callback' | 'promise';

/** Changes what an operation does, in the forms given, where it has them. */
export function alter(
  fs: NodeFs,
  name: string,
  {
    before,
    args: changed = (args) => args,
    value: valued = (value) => value,
    error: failed = (error) => error,
  }: Alteration,
  forms: readonly Form[] = ['sync', 'callback', 'promise'],
): void {
  const [base = name, native] = name.split('.');
  const nativeTail = native === undefined ? '' : `.${native}`;
  const refuse = (args: readonly unknown[]) => {
    const error = before?.(args);
    if (error !== undefined) throw error;
  };
  if (forms.includes('sync')) {
    replace(fs, `${base}Sync${nativeTail}`, (run) => (...args) => {
      refuse(args);
      let value: unknown;
      try {
        value = run(...changed(args));
      } catch (error) {
        throw failed(error as NodeJS.ErrnoException, args);
      }
      return valued(value as never, args);
    });
  }
  if (forms.includes('callback')) {
    replace(fs, name, (run) => (...all) => {
      const args = all.slice(0, -1);
      const done = all.at(-1) as AnyFunction;
      const error = before?.(args);
      if (error !== undefined) return process.nextTick(done, error);
      return run(...changed(args), (problem: NodeJS.ErrnoException | null, value: never) => {
        if (problem) done(failed(problem, args));
        else done(null, valued(value, args));
      });
    });
  }
  if (forms.includes('promise')) {
    replace(fs, `promises.${base}`, (run) => async (...args) => {
      refuse(args);
      let value: unknown;
      try {
        value = await run(...changed(args));
      } catch (error) {
        throw failed(error as NodeJS.ErrnoException, args);
      }
      return valued(value as never, args);
    });
  }
}

/** Puts another function in the place of `name`, made from the one that is there. */
export function replace(fs: NodeFs, name: string, make: (run: AnyFunction) => AnyFunction): void {
  const keys = name.split('.');
  const last = keys.pop() as string;
  let owner = fs as unknown as Record<string, unknown>;
  for (const key of keys) owner = owner[key] as Record<string, unknown>;
  const run = owner[last];
  if (typeof run === 'function') owner[last] = Object.assign(make(run as AnyFunction), run);
}
