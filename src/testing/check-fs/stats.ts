import type { Stats } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { codeOf, difference, factsOf, kindOf } from './facts.ts';
import type { Check } from './subject.ts';
import { childOf, missingPath } from './subject.ts';

/** A name has one type: in its directory's listing, by `lstat`, by `stat`, and once it is open. */
export const types: Check = {
  needs: ['readdirSync', 'statSync', 'lstatSync', 'openSync', 'fstatSync', 'closeSync'],
  each: 'directory',
  run({ fs }, path, say) {
    for (const entry of fs.readdirSync(path, { withFileTypes: true })) {
      const at = childOf(path, entry.name);
      const fd = fs.openSync(at, 'r');
      const kinds = {
        Dirent: kindOf(entry),
        lstat: kindOf(fs.lstatSync(at)),
        stat: kindOf(fs.statSync(at)),
        fstat: kindOf(fs.fstatSync(fd)),
      };
      fs.closeSync(fd);
      if (new Set(Object.values(kinds)).size > 1) say(`has several types: ${JSON.stringify(kinds)}`, at);
    }
  },
};

/** Inode numbers are stable and nobody else's; a file has one link. */
export const inodes: Check = {
  needs: ['statSync'],
  each: 'tree',
  run({ fs, directories, files }, _root, say) {
    const owners = new Map<string, string>();
    for (const path of [...directories, ...files]) {
      const { dev, ino, nlink } = fs.statSync(path);
      const owner = owners.get(`${dev}:${ino}`);
      if (owner !== undefined) say(`has inode number ${ino}, as has ${owner}`, path);
      owners.set(`${dev}:${ino}`, path);
      if (fs.statSync(path).ino !== ino) say('has another inode number at each look', path);
      if (nlink !== 1 && files.includes(path)) say(`has ${nlink} links`, path);
    }
  },
};

/** What is open is what the path leads to: `fstat` tells the same device, inode and mode as `stat`. */
export const descriptors: Check = {
  needs: ['statSync', 'openSync', 'closeSync', 'fstatSync', 'fstat', 'promises.open'],
  each: 'file',
  async run({ fs, call }, path, say) {
    const identity = ({ dev, ino, mode }: Stats) => ({ dev, ino, mode });
    const expected = identity(fs.statSync(path));
    const fd = fs.openSync(path, 'r');
    const handle = await fs.promises.open(path, 'r');
    try {
      const outcome = await call.callback('fstat', [fd]);
      if ('error' in outcome) throw outcome.error;
      const told = {
        fstatSync: fs.fstatSync(fd),
        fstat: outcome.value as Stats,
        'FileHandle.stat': await handle.stat(),
      };
      for (const [way, stats] of Object.entries(told)) {
        const unlike = difference(expected, identity(stats));
        if (unlike !== undefined) say(`statSync and ${way}: ${unlike}`);
      }
    } finally {
      fs.closeSync(fd);
      await handle.close();
    }
  },
};

/** Stats in big integers tell the same numbers, and the nanoseconds belong to the milliseconds. */
export const bigint: Check = {
  needs: ['statSync'],
  each: 'entry',
  run({ fs }, path, say) {
    const plain = fs.statSync(path);
    const big = fs.statSync(path, { bigint: true });
    for (const field of ['dev', 'ino', 'mode', 'nlink', 'uid', 'gid', 'rdev', 'size', 'blksize', 'blocks'] as const) {
      if (typeof big[field] !== 'bigint') say(`${field} is no bigint`);
      else if (Number(big[field]) !== plain[field]) say(`${field} is ${plain[field]}, as a bigint ${big[field]}`);
    }
    if (typeof big.mtimeNs !== 'bigint') say('mtimeNs is no bigint');
    else if (big.mtimeNs / 1_000_000n !== BigInt(Math.floor(plain.mtimeMs))) {
      say(`mtimeMs is ${plain.mtimeMs}, mtimeNs ${big.mtimeNs}`);
    }
  },
};

/** Times are in the past, stay the same, and are the same as dates. */
export const times: Check = {
  needs: ['statSync'],
  each: 'tree',
  async run({ fs, directories, files }, _root, say) {
    const timesOf = ({ mtimeMs, ctimeMs, birthtimeMs }: Stats) => ({ mtimeMs, ctimeMs, birthtimeMs });
    const before = new Map([...directories, ...files].map((path) => [path, timesOf(fs.statSync(path))]));
    await wait(3);
    for (const [path, told] of before) {
      const stats = fs.statSync(path);
      const unlike = difference(told, timesOf(stats));
      if (unlike !== undefined) say(`times change without a change: ${unlike}`, path);
      if (stats.mtimeMs > Date.now()) say(`was changed in the future: mtimeMs ${stats.mtimeMs}`, path);
      if (!(Math.abs(stats.mtime.getTime() - stats.mtimeMs) <= 1)) {
        say(`mtime is ${stats.mtime.getTime()}, mtimeMs ${stats.mtimeMs}`, path);
      }
    }
  },
};

/** There are files and directories only: `lstat` is `stat`, and nothing can be read as a link. */
export const links: Check = {
  needs: ['statSync', 'lstatSync', 'readlinkSync'],
  each: 'tree',
  run({ fs, call, directories, files, others }, _root, say) {
    for (const path of others) say('is neither a file nor a directory', path);
    for (const path of [...directories, ...files]) {
      const unlike = difference(factsOf(fs.statSync(path)), factsOf(fs.lstatSync(path)));
      if (unlike !== undefined) say(`statSync and lstatSync: ${unlike}`, path);
      const code = codeOf(call.sync('readlinkSync', [path]));
      if (code !== 'EINVAL') say(`readlinkSync: ${code} instead of EINVAL`, path);
    }
  },
};

/** What is given is an instance of the classes that the file system itself names. */
export const classes: Check = {
  needs: ['Stats', 'Dirent', 'Dir', 'ReadStream', 'statSync', 'readdirSync', 'opendirSync', 'createReadStream'],
  each: 'entry',
  async run({ fs, bytes }, path, say) {
    if (!(fs.statSync(path) instanceof fs.Stats)) say('statSync gives no fs.Stats');
    if (bytes.has(path)) {
      const stream = fs.createReadStream(path);
      if (!(stream instanceof fs.ReadStream)) say('createReadStream gives no fs.ReadStream');
      for await (const _ of stream);
      return;
    }
    for (const entry of fs.readdirSync(path, { withFileTypes: true })) {
      const at = childOf(path, entry.name);
      if (!(entry instanceof fs.Dirent)) say('readdirSync gives no fs.Dirent', at);
    }
    const dir = fs.opendirSync(path);
    dir.closeSync();
    if (!(dir instanceof fs.Dir)) say('opendirSync gives no fs.Dir');
  },
};

/** Statistics of the file system are there, in both kinds of numbers. */
export const statfs: Check = {
  needs: ['statfsSync', 'statfs', 'promises.statfs'],
  each: 'tree',
  async run(subject, root, say) {
    const { fs, call } = subject;
    const plain = fs.statfsSync(root);
    const big = fs.statfsSync(root, { bigint: true });
    for (const field of ['type', 'bsize', 'blocks', 'bfree', 'bavail', 'files', 'ffree'] as const) {
      if (!(plain[field] >= 0)) say(`statfsSync: ${field} is ${plain[field]}`);
      if (typeof big[field] !== 'bigint') say(`statfsSync in big integers: ${field} is no bigint`);
    }
    const missing = missingPath(subject);
    const code = codeOf(await call.promise('promises.statfs', [missing]));
    if (code !== 'ENOENT') say(`promises.statfs: ${code} instead of ENOENT`, missing);
  },
};
