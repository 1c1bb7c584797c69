import type { Driver, ReadFs } from '../vfs/read-fs.ts';
import { blobForms } from './blob.ts';
import { createContext, type NodeFsOptions } from './context.ts';
import { copyForms } from './copy.ts';
import { Descriptors } from './descriptors.ts';
import type { Fs, FsPromises } from './forms.ts';
import { globForms } from './glob.ts';
import { accessForms, existsForms, readlinkForms, realpathForms, statForms, statfsForms } from './metadata.ts';
import { mutators } from './mutators.ts';
import { native, nativePromises } from './native.ts';
import { openForms } from './open.ts';
import { opendirForms } from './opendir.ts';
import { readFileForms } from './read-file.ts';
import { readdirForms } from './readdir.ts';
import { streams } from './streams.ts';
import { watchers } from './watch.ts';

export type { ChangeSource, NodeFsOptions, WriteTarget } from './context.ts';

/** What passes for `node:fs`. What the running Node lacks is absent. */
export type NodeFs = Fs;

/**
 * `node:fs` over a read-only core, with Node's results, errors and argument checks. Each operation is written once; its
 * synchronous, callback and promise forms are derived. What would change something fails with EROFS.
 *
 * Descriptors are real ones, of private files, so that what takes a descriptor or a `FileHandle` is Node's own function;
 * it works for descriptors that were opened elsewhere too.
 */
export function createNodeFs(core: ReadFs, driver: Driver, options: NodeFsOptions = {}): NodeFs {
  const context = createContext(core, driver, options);
  const descriptors = new Descriptors();
  const access = accessForms(context);
  const { copyFile, cp } = copyForms(context);
  const exists = existsForms(context);
  const glob = globForms(context);
  const lstat = statForms(context, 'lstat');
  const { open, fstat } = openForms(context, descriptors);
  const opendir = opendirForms(context);
  const readFile = readFileForms(context);
  const readdir = readdirForms(context);
  const readlink = readlinkForms(context);
  const realpath = realpathForms(context);
  const refused = mutators(context, descriptors);
  const stat = statForms(context, 'stat');
  const statfs = statfsForms(context);
  const { watch, watchFile, unwatchFile, watchPromise } = watchers(context);

  const promises = {
    ...refused.promises,
    access: access.promise,
    copyFile: copyFile.promise,
    cp: cp.promise,
    glob: glob.promise,
    lstat: lstat.promise,
    open: open.promise,
    opendir: opendir.promise,
    readFile: readFile.promise,
    readdir: readdir.promise,
    readlink: readlink.promise,
    realpath: realpath.promise,
    stat: stat.promise,
    statfs: statfs.promise,
    watch: watchPromise,
  } satisfies Partial<FsPromises> & Record<string, unknown>;

  const own = {
    ...refused.functions,
    ...blobForms(context),
    ...streams(() => facade),
    access: access.callback,
    accessSync: access.sync,
    copyFile: copyFile.callback,
    copyFileSync: copyFile.sync,
    cp: cp.callback,
    cpSync: cp.sync,
    exists: exists.callback,
    existsSync: exists.sync,
    fstat: fstat.callback,
    fstatSync: fstat.sync,
    glob: glob.callback,
    globSync: glob.sync,
    lstat: lstat.callback,
    lstatSync: lstat.sync,
    open: open.callback,
    openSync: open.sync,
    opendir: opendir.callback,
    opendirSync: opendir.sync,
    readFile: readFile.callback,
    readFileSync: readFile.sync,
    readdir: readdir.callback,
    readdirSync: readdir.sync,
    readlink: readlink.callback,
    readlinkSync: readlink.sync,
    realpath: realpath.callback,
    realpathSync: realpath.sync,
    stat: stat.callback,
    statSync: stat.sync,
    statfs: statfs.callback,
    statfsSync: statfs.sync,
    unwatchFile,
    watch,
    watchFile,
    promises: passingFor(nativePromises, promises),
  } satisfies Partial<Fs> & Record<string, unknown>;

  const facade: NodeFs = passingFor(native, own);
  return facade;
}

/** What takes no path: constants, classes, and all that works on a descriptor, which is Node's whoever opened it. */
const KEPT =
  /^(constants|[FRWX]_OK|Stats|Dirent|Dir|_toUnixTimestamp|(close|read|readv|write|writev|fsync|fdatasync|ftruncate)(Sync)?)$/;

/** An object with what there is of Node's object: from `own`, or Node's where it takes no path. All else is left out. */
function passingFor<T extends object>(nodes: T, own: Readonly<Record<string, unknown>>): T {
  const made = {};
  for (const [name, nodesOwn] of Object.entries(Object.getOwnPropertyDescriptors(nodes))) {
    const value = own[name];
    if (value !== undefined) {
      // Classes have the names of Node's already.
      if (typeof value === 'function' && /^[a-z]/.test(name))
        Object.defineProperty(value, 'name', { value: name, configurable: true });
      Object.defineProperty(made, name, { value, enumerable: true, configurable: true, writable: true });
    } else if (KEPT.test(name)) {
      Object.defineProperty(made, name, nodesOwn);
    }
  }
  return made as T;
}
