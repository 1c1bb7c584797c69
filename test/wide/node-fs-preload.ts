import fs from 'node:fs';
import { Fault, type FaultCode } from '../../src/base/fault.ts';
import type { Op } from '../../src/base/op.ts';
import { createNodeFs } from '../../src/node/index.ts';
import { driverOf } from '../../src/vfs/driver.ts';
import type { DirEntry, ReadFs, Stat } from '../../src/vfs/read-fs.ts';

// Preloaded before each of Node's own tests: whatever reads goes through our facade over the real disk, whatever writes
// stays with Node, so that tests can make the files they read.

type Call = (...args: unknown[]) => unknown;
type Functions = Record<string, Call | undefined>;

const nodes = Object.defineProperties({}, Object.getOwnPropertyDescriptors(fs)) as typeof fs;
const nodesPromises = { ...fs.promises } as unknown as Functions;

/** While the core reads the disk, Node's own functions must not come back to the facade. */
let reading = 0;

// biome-ignore lint/correctness/useYield: the disk has everything
function* fromDisk<T>(read: () => T): Op<T> {
  reading += 1;
  try {
    return read();
  } catch (cause) {
    throw new Fault((cause as NodeJS.ErrnoException).code as FaultCode, { cause });
  } finally {
    reading -= 1;
  }
}

function kindOf(entry: { isDirectory(): boolean }): Stat['kind'] {
  return entry.isDirectory() ? 'directory' : 'file';
}

function statOf(path: string): Stat {
  const stats = nodes.statSync(path);
  return { kind: kindOf(stats), ino: stats.ino, size: stats.size, mtimeMs: stats.mtimeMs };
}

function entriesOf(path: string): DirEntry[] {
  const entries = nodes.readdirSync(path, { withFileTypes: true });
  return entries.map((entry) => ({ name: entry.name, kind: kindOf(entry) }));
}

const disk: ReadFs = {
  stat: (path) => fromDisk(() => statOf(path)),
  readdir: (path) => fromDisk(() => entriesOf(path)),
  read: (path) => fromDisk(() => ({ bytes: nodes.readFileSync(path), stat: statOf(path) })),
};

const driver = driverOf(
  async () => undefined,
  (asked) => asked.map((value) => ({ status: 'fulfilled', value })),
);

const ours = createNodeFs(disk, driver) as unknown as Functions & { promises: Functions };

const SAME_NAME = [
  'access',
  'exists',
  'fstat',
  'lstat',
  'opendir',
  'readdir',
  'readlink',
  'realpath',
  'stat',
  'statfs',
];
const WHOLE = ['ReadStream', 'FileReadStream', 'createReadStream', 'openAsBlob', 'unwatchFile', 'watch', 'watchFile'];
const WRITING = /^(r\+|rs\+|sr\+|[wa]x?\+?|x[wa]\+?|as\+?|sa\+?)$/;

function patch(target: object, name: string, value: Call | undefined): void {
  if (value !== undefined && name in target) Object.defineProperty(target, name, { value, writable: true });
}

for (const name of SAME_NAME) {
  patch(fs, name, ours[name]);
  patch(fs, `${name}Sync`, ours[`${name}Sync`]);
  patch(fs.promises, name, ours.promises[name]);
}
for (const name of WHOLE) patch(fs, name, ours[name]);
patch(fs.promises, 'watch', ours.promises['watch']);
for (const name of ['open', 'openSync', 'readFile', 'readFileSync']) patch(fs, name, unlessWriting(nodes, ours, name));
for (const name of ['open', 'readFile']) patch(fs.promises, name, unlessWriting(nodesPromises, ours.promises, name));

function unlessWriting(theirs: object, mine: Functions, name: string): Call {
  return (...args) => {
    const options = args[1] as { flag?: unknown } | undefined;
    const flags = name.startsWith('open') ? args[1] : typeof options === 'object' ? options?.flag : undefined;
    return ((reading > 0 || writes(flags) ? (theirs as Functions) : mine)[name] as Call)(...args);
  };
}

function writes(flags: unknown): boolean {
  if (typeof flags === 'string') return WRITING.test(flags);
  const { O_WRONLY, O_RDWR, O_CREAT, O_TRUNC } = fs.constants;
  return typeof flags === 'number' && (flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)) !== 0;
}
