import { AsyncResource } from 'node:async_hooks';
import type { Stats } from 'node:fs';
import { posix } from 'node:path';
import { systemError } from '../node/errors.ts';
import { belowMountPoint, type View } from './view.ts';

/** Fits just-bash's `FsStat`. */
export interface JustBashStat {
  isFile: boolean;
  isDirectory: boolean;
  isSymbolicLink: boolean;
  /** Permissions: nothing is writable, and no file executable. */
  mode: number;
  /** Bytes. */
  size: number;
  mtime: Date;
  dev: number;
  ino: number;
}

/** Fits just-bash's `DirentEntry`. */
export interface JustBashDirent {
  name: string;
  isFile: boolean;
  isDirectory: boolean;
  isSymbolicLink: boolean;
}

type Encoding = 'utf8' | 'utf-8' | 'ascii' | 'binary' | 'base64' | 'hex' | 'latin1';

/** Fits just-bash's `IFileSystem`. */
export interface JustBashFs {
  readFile(path: string, options?: { encoding?: Encoding | null } | Encoding): Promise<string>;
  readFileBuffer(path: string): Promise<Uint8Array>;
  /** As in Node and for `test -e`, `false` also when it cannot be told: just-bash ends the whole script otherwise. */
  exists(path: string): Promise<boolean>;
  stat(path: string): Promise<JustBashStat>;
  lstat(path: string): Promise<JustBashStat>;
  readdir(path: string): Promise<string[]>;
  readdirWithFileTypes(path: string): Promise<JustBashDirent[]>;
  readlink(path: string): Promise<string>;
  realpath(path: string): Promise<string>;
  resolvePath(base: string, path: string): string;
  /** Empty: just-bash then looks directory by directory, and servers nobody looks into are not connected to. */
  getAllPaths(): string[];
  writeFile(path: string): Promise<never>;
  appendFile(path: string): Promise<never>;
  mkdir(path: string): Promise<never>;
  rm(path: string): Promise<never>;
  cp(source: string, destination: string): Promise<never>;
  mv(source: string, destination: string): Promise<never>;
  chmod(path: string): Promise<never>;
  symlink(target: string, path: string): Promise<never>;
  link(existing: string, path: string): Promise<never>;
  utimes(path: string): Promise<never>;
}

/**
 * A view as a file system of just-bash. Its root is the mount point, as `MountableFs` wants it:
 * `new MountableFs({ mounts: [{ mountPoint: view.mountPoint, filesystem: justBashFs(view) }] })` has every path in the shell
 * be the view's own.
 *
 * Errors are Node's, with `code` and the view's path; writes fail with EROFS. just-bash itself says "No such file or
 * directory" for whatever a command could not read, and lets a failed redirection (`> file`) reject `exec`, as it does
 * for its own read-only file systems.
 *
 * While a script runs, just-bash takes timers, `performance.now` and more away from whatever is called by it. Connecting,
 * fetching and caching need them: the view is asked from outside of the script's asynchronous context.
 */
export function justBashFs(view: View): JustBashFs {
  const { promises } = view;
  const scope = new AsyncResource('skillfs.justBashFs');
  const outside = <T>(work: () => Promise<T>): Promise<T> => scope.runInAsyncScope(work);
  const at = (path: string) => belowMountPoint(view, path);
  const refused = (syscall: string) => async (path: string) => {
    throw systemError('EROFS', syscall, { path: at(path) });
  };
  const refusedTo = (syscall: string) => async (path: string, dest: string) => {
    throw systemError('EROFS', syscall, { path: at(path), dest: at(dest) });
  };
  return {
    readFile(path, options) {
      const encoding = typeof options === 'string' ? options : options?.encoding;
      return outside(() => promises.readFile(at(path), encoding ?? 'utf8'));
    },
    readFileBuffer: (path) => outside(() => promises.readFile(at(path))),
    exists: (path) =>
      outside(() =>
        promises.stat(at(path)).then(
          () => true,
          () => false,
        ),
      ),
    stat: (path) => outside(async () => statOf(await promises.stat(at(path)))),
    lstat: (path) => outside(async () => statOf(await promises.lstat(at(path)))),
    readdir: (path) => outside(() => promises.readdir(at(path))),
    async readdirWithFileTypes(path) {
      const entries = await outside(() => promises.readdir(at(path), { withFileTypes: true }));
      return entries.map((entry) => ({ name: entry.name, ...kindOf(entry) }));
    },
    readlink: (path) => outside(() => promises.readlink(at(path))),
    async realpath(path) {
      const real = await outside(() => promises.realpath(at(path)));
      return posix.resolve('/', posix.relative(view.mountPoint, real));
    },
    resolvePath: (base, path) => posix.resolve(base, path),
    getAllPaths: () => [],
    writeFile: refused('open'),
    appendFile: refused('open'),
    mkdir: refused('mkdir'),
    rm: refused('rm'),
    cp: refusedTo('cp'),
    mv: refusedTo('rename'),
    chmod: refused('chmod'),
    symlink: async (_target, path) => refused('symlink')(path),
    link: refusedTo('link'),
    utimes: refused('utime'),
  };
}

function kindOf(entry: { isFile(): boolean; isDirectory(): boolean; isSymbolicLink(): boolean }) {
  return {
    isFile: entry.isFile(),
    isDirectory: entry.isDirectory(),
    isSymbolicLink: entry.isSymbolicLink(),
  };
}

function statOf(stats: Stats): JustBashStat {
  const { mode, size, mtime, dev, ino } = stats;
  return { ...kindOf(stats), mode: mode & 0o777, size, mtime, dev, ino };
}
