import type { Op } from '../base/op.ts';
import type { Driver, ReadFs } from '../vfs/read-fs.ts';
import { type Context, createContext, locate, type NodeFsOptions } from './context.ts';
import { copyFileForms, cpForms } from './copy.ts';
import { Descriptors } from './descriptors.ts';
import { nodeError } from './errors.ts';
import { type Fs, forms } from './forms.ts';
import { globs } from './glob.ts';
import { accessForms, existsForms, readlinkForms, realpathForms, statForms, statfsForms } from './metadata.ts';
import { mutators } from './mutators.ts';
import { native, nativePromises } from './native.ts';
import { open } from './open.ts';
import { opendir } from './opendir.ts';
import { spelledPath } from './paths.ts';
import { readFileForms } from './read-file.ts';
import { readdir } from './readdir.ts';
import { streams } from './streams.ts';
import { watchers } from './watch.ts';

export type { ChangeSource, NodeFsOptions } from './context.ts';

/** Everything `node:fs` has. What reads, reads the mount; what would change something fails with EROFS. */
export type NodeFs = Fs;

/**
 * An object that passes for `node:fs` over a read-only core. Each operation is written once; its synchronous, callback
 * and promise forms are derived. Descriptors, handles and streams are Node's own.
 */
export function createNodeFs(core: ReadFs, driver: Driver, options: NodeFsOptions = {}): NodeFs {
  const context = createContext(core, driver, options);
  const descriptors = new Descriptors();
  const opened = open(context, descriptors);
  const all = {
    access: accessForms(context),
    copyFile: copyFileForms(context),
    cp: cpForms(context),
    lstat: statForms(context, 'lstat'),
    open: opened.open,
    opendir: opendir(context),
    readFile: readFileForms(context),
    readdir: readdir(context),
    readlink: readlinkForms(context),
    realpath: realpathForms(context),
    stat: statForms(context, 'stat'),
    statfs: statfsForms(context),
  };
  const own: Record<string, unknown> = {};
  const promises: Record<string, unknown> = {};
  for (const [name, { callback, sync, promise }] of Object.entries(all)) {
    own[name] = callback;
    own[`${name}Sync`] = sync;
    promises[name] = promise;
  }
  const exists = existsForms(context);
  const watching = watchers(context);
  const globbing = globs(context);
  const changing = mutators(context, descriptors);
  const blobs = openAsBlob(context);
  const { read, write, writev, close } = native;
  const streamFs = () => ({ open: all.open.callback, read, write, writev, close });
  Object.assign(own, changing.functions, streams(streamFs), {
    exists: exists.callback,
    existsSync: exists.sync,
    fstat: opened.fstat.callback,
    fstatSync: opened.fstat.sync,
    watch: watching.watch,
    watchFile: watching.watchFile,
    unwatchFile: watching.unwatchFile,
    ...blobs,
    ...(globbing && { glob: globbing.callback, globSync: globbing.sync }),
  });
  Object.assign(promises, changing.promises, {
    watch: watching.promise,
    ...(globbing && { glob: globbing.promise }),
  });
  own['promises'] = passingFor(nativePromises as unknown as Record<string, unknown>, promises);
  return passingFor(native as unknown as Record<string, unknown>, own) as unknown as NodeFs;
}

/**
 * What takes a descriptor is Node's own, as the descriptors are; so are constants and classes. All else that this Node has
 * must be in `own`: nothing that takes a path may ever reach the real disk.
 */
function passingFor(
  nodes: Readonly<Record<string, unknown>>,
  own: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const made: Record<string, unknown> = {};
  for (const name of Object.keys(Object.getOwnPropertyDescriptors(nodes))) {
    if (own[name] !== undefined) made[name] = own[name];
    else if (KEPT.test(name)) made[name] = nodes[name];
    else if (typeof nodes[name] === 'function') made[name] = unavailable(name);
  }
  return made;
}

const KEPT =
  /^(constants|[FRWX]_OK|Stats|BigIntStats|Dirent|Dir|Utf8Stream|_toUnixTimestamp|(close|read|readv|write|writev|fsync|fdatasync|ftruncate)(Sync)?)$/;

function unavailable(name: string): () => never {
  return () => {
    throw Object.assign(new Error(`fs.${name} is not available on a mount`), { code: 'ERR_METHOD_NOT_IMPLEMENTED' });
  };
}

function openAsBlob({ core, driver }: Context): Partial<Pick<Fs, 'openAsBlob'>> {
  if (!('openAsBlob' in native)) return {};
  const prepare = (path: unknown, options: unknown): Op<unknown> => {
    const spelled = spelledPath(path, (bad) => native.accessSync(bad));
    return blob(spelled, (options as { type?: string } | undefined)?.type ?? '');
  };
  function* blob(path: string, type: string): Op<Blob> {
    try {
      return new Blob([(yield* core.read(yield* locate(core, path))).bytes as Uint8Array<ArrayBuffer>], { type });
    } catch (error) {
      throw nodeError(error, 'open', path);
    }
  }
  const made = forms(driver, 'openAsBlob' as keyof Fs & 'openAsBlob', prepare) as unknown as Record<
    'promise' | 'sync',
    unknown
  >;
  return { openAsBlob: made.promise, ...('openAsBlobSync' in native && { openAsBlobSync: made.sync }) } as Partial<
    Pick<Fs, 'openAsBlob'>
  >;
}
