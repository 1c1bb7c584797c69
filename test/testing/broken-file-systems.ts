import type { Dir, Dirent, Stats } from 'node:fs';
import type { AnyFunction, NodeFs } from '../../src/testing/check-fs/calls.ts';
import type { CheckFsOptions, CheckName } from '../../src/testing/check-fs.ts';
import { type Alteration, alter, replace } from './read-only-node-fs.ts';

/** Does one thing to a good file system that holds a tree at `root`. @returns what the check has to be told, if anything */
export type Break = (fs: NodeFs, root: string) => CheckFsOptions | undefined;

type Args = readonly unknown[];

function operation(name: string, alteration: Alteration): Break {
  return (fs) => {
    alter(fs, name, alteration);
    return undefined;
  };
}

function stats(value: (one: Stats) => unknown): Break {
  return (fs) => {
    for (const name of ['stat', 'lstat']) alter(fs, name, { value: (one: Stats | undefined) => one && value(one) });
    return undefined;
  };
}

function replaced(name: string, make: (run: AnyFunction, fs: NodeFs) => AnyFunction): Break {
  return (fs) => {
    replace(fs, name, (run) => make(run, fs));
    return undefined;
  };
}

const isRecursive = (args: Args) => (args[1] as { recursive?: boolean } | undefined)?.recursive === true;
const withTypes = (args: Args) => (args[1] as { withFileTypes?: boolean } | undefined)?.withFileTypes === true;
const isPlain = (args: Args) => withTypes(args) && !isRecursive(args);

function without(name: string, listed: readonly (string | Dirent)[]): unknown {
  return listed.filter((one) => !(typeof one === 'string' ? one : one.name).endsWith(name));
}

/** Per check, what it alone has to find out. */
export const breaks: Readonly<Record<Exclude<CheckName, 'expected' | 'oracle'>, Break>> = {
  walk: (fs, root) => {
    alter(fs, 'readdir', { before: ([path]) => (path === root ? new Error('not today') : undefined) });
    return undefined;
  },
  names: operation('readdir', { value: (listed: readonly string[]) => [...listed, ...listed.slice(-1)] }),
  order: operation('readdir', { value: (listed: readonly string[]) => listed.toReversed() }),
  listing: replaced('opendirSync', (run) => (...args) => {
    const dir = run(...args) as Dir;
    const read = dir.readSync.bind(dir);
    let skipped = false;
    dir.readSync = () => {
      if (!skipped) read();
      skipped = true;
      return read();
    };
    return dir;
  }),
  dirents: operation('readdir', {
    value: (listed: readonly Dirent[], args) => {
      if (isPlain(args)) for (const one of listed) one.parentPath = '/elsewhere';
      return listed;
    },
  }),
  recursive: (fs, root) => {
    const value = (listed: readonly string[], args: Args) =>
      isRecursive(args) && args[0] === root ? without('logo.png', listed) : listed;
    alter(fs, 'readdir', { value });
    return undefined;
  },
  subtrees: (fs, root) => {
    const value = (listed: readonly string[], args: Args) =>
      isRecursive(args) && args[0] !== root ? without('a b.md', listed) : listed;
    alter(fs, 'readdir', { value });
    return undefined;
  },
  glob: (fs) => {
    Object.assign(fs, { globSync: () => ['acme'] });
    return undefined;
  },
  types: operation('readdir', {
    value: (listed: readonly Dirent[], args) => {
      if (!isPlain(args)) return listed;
      return listed.map((one) =>
        one.isFile() ? Object.assign(one, { isFile: () => false, isFIFO: () => true }) : one,
      );
    },
  }),
  size: stats((one) => (one.isFile() ? Object.assign(one, { size: like(one.size, 9) }) : one)),
  bytes: replaced('createReadStream', (run) => (path, options) => run(path, { start: 1, ...(options as object) })),
  ranges: replaced('createReadStream', (run) => (path, options) => {
    const { start: _, end: __, ...rest } = (options ?? {}) as { start?: number; end?: number };
    return run(path, rest);
  }),
  encodings: operation('readFile', {
    value: (content: string, args) => (args[1] === 'hex' ? content.toUpperCase() : content),
  }),
  fresh: (fs) => {
    const cache = new Map<unknown, unknown>();
    const value = (content: unknown, args: Args) => {
      if (args.length > 1 || typeof args[0] !== 'string') return content;
      if (!cache.has(args[0])) cache.set(args[0], content);
      return cache.get(args[0]);
    };
    alter(fs, 'readFile', { value });
    return undefined;
  },
  inodes: stats((one) => Object.assign(one, { nlink: like(one.nlink, 2) })),
  descriptors: replaced('fstatSync', (run) => (fd) => Object.assign(run(fd) as Stats, { ino: 1 })),
  bigint: stats((one) => (typeof one.ino === 'bigint' ? Object.assign(one, { ino: one.ino + 1n }) : one)),
  times: stats((one) => Object.assign(one, { mtime: new Date('2100-01-01') })),
  links: operation('readlink', {
    error: (error) => (error.code === 'EINVAL' ? Object.assign(error, { code: 'ENOSYS' }) : error),
  }),
  classes: stats((one) => Object.create(null, allProperties(one))),
  statfs: replaced('statfsSync', (run) => (path) => run(path)),
  spellings: operation('stat', {
    args: ([path, ...rest]) => [Buffer.isBuffer(path) ? '/missing' : path, ...rest],
  }),
  malformed: operation('stat', {
    args: ([path, ...rest]) => [typeof path === 'string' ? path.replace(/(.)\/$/, '$1') : path, ...rest],
  }),
  realpath: operation('realpath.native', { value: (path: string) => `${path}/` }),
  access: replaced('existsSync', (run) => (path) => run(path) && !String(path).endsWith('.png')),
  'no-entry': replaced(
    'statSync',
    (run) => (path, options) => run(path, { ...(options as object), throwIfNoEntry: true }),
  ),
  errors: operation('stat', { error: (error) => Object.assign(error, { syscall: undefined }) }),
  forms: (fs) => {
    alter(fs, 'lstat', { error: (error) => Object.assign(error, { code: 'EIO' }) }, ['promise']);
    return undefined;
  },
  callbacks: replaced('stat', (run) => (...args) => {
    run(...args);
    run(...args);
  }),
  handles: (fs) => {
    const open = new Set<unknown>();
    alter(fs, 'open', { value: (fd) => [...open.add(fd)].at(-1) }, ['sync']);
    replace(fs, 'closeSync', (run) => (fd) => (open.delete(fd) ? run(fd) : undefined));
    return undefined;
  },
  opendir: replaced('opendirSync', (run) => (...args) => {
    const dir = run(...args) as Dir;
    const close = dir.closeSync.bind(dir);
    let closed = false;
    dir.closeSync = () => {
      if (!closed) close();
      closed = true;
    };
    return dir;
  }),
  requests: (fs) => {
    let made = 0;
    replace(fs, 'existsSync', (run) => (path) => {
      made += 1;
      return run(path);
    });
    return { requests: () => made };
  },
  'read-only': replaced('chmodSync', () => () => undefined),
};

/** What a check that is broken above finds out as well. */
export const furtherBreaks: readonly (readonly [check: CheckName, what: string, breaks: Break])[] = [
  [
    'callbacks',
    'is called before the call returns',
    replaced('stat', (_, fs) => (...args) => {
      const done = args.at(-1) as AnyFunction;
      const [value, error] = attempt(() => fs.statSync(args[0] as string, args.length > 2 ? (args[1] as object) : {}));
      if (error === undefined) done(null, value);
      else done(error);
    }),
  ],
  [
    'inodes',
    'has the same inode number everywhere',
    (fs) => {
      for (const name of ['stat', 'lstat', 'fstat']) {
        alter(fs, name, { value: (one: Stats | undefined) => one && Object.assign(one, { ino: like(one.ino, 1) }) });
      }
      replace(fs, 'promises.open', (run) => async (...args) => {
        const handle = (await run(...args)) as { stat: AnyFunction };
        const stat = handle.stat.bind(handle);
        handle.stat = async () => Object.assign((await stat()) as Stats, { ino: 1 });
        return handle;
      });
      return undefined;
    },
  ],
  [
    'fresh',
    'hands out one buffer to everybody who asks for a promise',
    (fs) => {
      const cache = new Map<unknown, unknown>();
      replace(fs, 'promises.readFile', (run) => async (path, ...options) => {
        if (options.length > 0 || typeof path !== 'string') return run(path, ...options);
        if (!cache.has(path)) cache.set(path, await run(path));
        return cache.get(path);
      });
      return undefined;
    },
  ],
  [
    'statfs',
    'counts below zero',
    replaced('statfsSync', (run) => (...args) => ({ ...(run(...args) as object), bfree: -1 })),
  ],
];

function like(model: number | bigint, value: number): number | bigint {
  return typeof model === 'bigint' ? BigInt(value) : value;
}

function attempt<T>(run: () => T): readonly [value: T | undefined, error: unknown] {
  try {
    return [run(), undefined];
  } catch (error) {
    return [undefined, error];
  }
}

function allProperties(one: object): PropertyDescriptorMap {
  const prototype = Object.getPrototypeOf(one) as object | null;
  const inherited = prototype === null || prototype === Object.prototype ? {} : allProperties(prototype);
  return { ...inherited, ...Object.getOwnPropertyDescriptors(one) };
}
