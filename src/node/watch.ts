import { EventEmitter } from 'node:events';
import type { FSWatcher, Stats, StatWatcher, WatchOptions } from 'node:fs';
import { basename, relative, resolve } from 'node:path';
import type { Op } from '../base/op.ts';
import type { Stat } from '../vfs/read-fs.ts';
import { type Context, locate } from './context.ts';
import { encodeName, encodingOf, type NameEncoding } from './encodings.ts';
import { AbortError, isAbsence, nodeError } from './errors.ts';
import type { Fs, FsPromises } from './forms.ts';
import { checkedByNode, NOWHERE, native } from './native.ts';
import { type Name, spelledPath } from './paths.ts';
import { absentStats, statsOf } from './stats.ts';

interface Watchers extends Pick<Fs, 'watch' | 'watchFile' | 'unwatchFile'> {
  readonly watchPromise: FsPromises['watch'];
}

type Listener = (...args: unknown[]) => void;
type FileOptions = { readonly persistent?: boolean; readonly bigint?: boolean; readonly interval?: unknown };
type Event = { readonly eventType: string; readonly filename: Name };

/** A tree changes only as its source of changes tells: nothing is polled. */
export function watchers(context: Context): Watchers {
  const { core, driver } = context;
  const files = new Map<string, FileWatcher>();

  function* look(path: string): Op<Stat> {
    return yield* core.stat(yield* locate(core, path));
  }

  function watch(path: unknown, given?: unknown, listener?: unknown): TreeWatcher {
    const options = typeof given === 'function' ? undefined : given;
    const heard = typeof given === 'function' ? given : listener;
    const spelled = spelledPath(path, native.watch);
    const encoding = encodingOf(options, (bad) => native.watch(NOWHERE, bad));
    const { persistent, recursive, signal } = (typeof options === 'object' ? (options ?? {}) : {}) as WatchOptions;
    checkedByNode(() => native.watch(NOWHERE, { persistent, signal } as WatchOptions));
    try {
      driver.sync(look(spelled));
    } catch (error) {
      // What cannot be looked at now may well be there.
      if (isAbsence(error)) throw Object.assign(nodeError(error, 'watch', spelled) as Error, { filename: spelled });
    }
    const watcher = new TreeWatcher(context, resolve(spelled), { persistent, recursive, encoding });
    if (typeof heard === 'function') watcher.on('change', heard as Listener);
    if (signal?.aborted === true) process.nextTick(() => watcher.close());
    else signal?.addEventListener('abort', () => watcher.close(), { once: true });
    return watcher;
  }

  async function* watchPromise(path: unknown, given?: unknown): AsyncGenerator<Event> {
    const { signal, ...options } = (typeof given === 'object' && given !== null ? given : {}) as WatchOptions;
    const isAborted = () => signal?.aborted === true;
    if (isAborted()) throw new AbortError(signal?.reason);
    const events: Event[] = [];
    let wake = () => {};
    const watcher = watch(path, typeof given === 'string' ? given : options, (eventType: string, filename: Name) => {
      events.push({ eventType, filename });
      wake();
    });
    const aborted = () => wake();
    signal?.addEventListener('abort', aborted);
    try {
      while (!isAborted()) {
        const event = events.shift();
        if (event !== undefined) yield event;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
      throw new AbortError(signal?.reason);
    } finally {
      signal?.removeEventListener('abort', aborted);
      watcher.close();
    }
  }

  function watchFile(path: unknown, given: unknown, listener?: unknown): FileWatcher {
    const heard = typeof given === 'function' ? given : listener;
    const options = (typeof given === 'object' && given !== null ? given : {}) as FileOptions;
    const spelled = resolve(spelledPath(path, (bad) => native.watchFile(bad, () => {})));
    // Node looks at the interval, which has no use here, when it begins to watch.
    if (typeof heard !== 'function' || !isInterval(options.interval)) {
      native.watchFile(NOWHERE, { ...options, persistent: false } as object, heard as () => void);
    }
    const watcher = files.get(spelled) ?? new FileWatcher(context, spelled, () => driver.async(look(spelled)), options);
    files.set(spelled, watcher);
    watcher.on('change', heard as Listener);
    return watcher;
  }

  function unwatchFile(path: unknown, listener?: unknown): void {
    const spelled = resolve(spelledPath(path, native.unwatchFile));
    const watcher = files.get(spelled);
    if (watcher === undefined) return;
    if (typeof listener === 'function') watcher.off('change', listener as Listener);
    else watcher.removeAllListeners('change');
    if (watcher.listenerCount('change') > 0) return;
    files.delete(spelled);
    watcher.stop();
  }

  return {
    watch: watch as unknown as Fs['watch'],
    watchFile: watchFile as unknown as Fs['watchFile'],
    unwatchFile: unwatchFile as Fs['unwatchFile'],
    watchPromise: watchPromise as FsPromises['watch'],
  };
}

/** Listens to the changes at and below a path, and keeps the process alive while it is meant to. */
abstract class Watcher extends EventEmitter {
  readonly #unsubscribe: () => void;
  readonly #alive: NodeJS.Timeout;
  #open = true;

  constructor({ changes }: Context, path: string, persistent = true) {
    super();
    const inside = path === '/' ? '/' : `${path}/`;
    this.#unsubscribe =
      changes?.subscribe((changed) => {
        if (changed === path || changed.startsWith(inside)) this.changed(changed);
      }) ?? (() => {});
    this.#alive = setInterval(() => {}, 0x7fffffff);
    if (!persistent) this.#alive.unref();
  }

  protected abstract changed(path: string): void;

  get isOpen(): boolean {
    return this.#open;
  }

  ref(): this {
    this.#alive.ref();
    return this;
  }

  unref(): this {
    this.#alive.unref();
    return this;
  }

  protected end(event: string): void {
    if (!this.#open) return;
    this.#open = false;
    this.#unsubscribe();
    clearInterval(this.#alive);
    process.nextTick(() => this.emit(event));
  }
}

interface TreeOptions {
  readonly persistent: boolean | undefined;
  readonly recursive: boolean | undefined;
  readonly encoding: NameEncoding;
}

/**
 * What `watch` gives. `rename` tells of a name that came, went or stands for something else, `change` of what is at it;
 * what is there now may be new or not, so both are told of it. Without `recursive`, names further down are told of by
 * the name they are under.
 */
class TreeWatcher extends Watcher implements FSWatcher {
  readonly #context: Context;
  readonly #path: string;
  readonly #options: TreeOptions;

  constructor(context: Context, path: string, options: TreeOptions) {
    super(context, path, options.persistent);
    this.#context = context;
    this.#path = path;
    this.#options = options;
  }

  close(): void {
    this.end('close');
  }

  protected override changed(path: string): void {
    const { core, driver } = this.#context;
    const { recursive, encoding } = this.#options;
    const below = relative(this.#path, path);
    const shown = below === '' ? basename(this.#path) : recursive ? below : (below.split('/')[0] as string);
    const tell = (...events: string[]) => {
      for (const event of events) if (this.isOpen) this.emit('change', event, encodeName(shown, encoding));
    };
    driver.async(core.stat(path)).then(
      () => (below === '' ? tell('change') : tell('rename', 'change')),
      (error) => (isAbsence(error) || below !== '' ? tell('rename') : tell('change')),
    );
  }
}

/** What `watchFile` gives; its listeners get the new and the former stats. */
class FileWatcher extends Watcher implements StatWatcher {
  readonly #look: () => Promise<Stat>;
  readonly #shown: (stat: Stat | undefined) => Stats;
  /** Looks are taken one after the other. */
  #last: Promise<Stat | undefined>;

  constructor(context: Context, path: string, look: () => Promise<Stat>, { persistent, bigint = false }: FileOptions) {
    super(context, path, persistent);
    this.#look = look;
    this.#shown = (stat) => (stat === undefined ? absentStats(bigint) : statsOf(stat, context.owner, bigint)) as Stats;
    this.#last = look().catch((error) => {
      // Of a file that is not there, Node tells once.
      if (isAbsence(error)) this.#tell(undefined, undefined);
      return undefined;
    });
  }

  stop(): void {
    this.end('stop');
  }

  protected override changed(): void {
    this.#last = this.#last.then(async (before) => {
      const now = await this.#look().catch((error) => (isAbsence(error) ? undefined : before));
      if (!isSame(now, before)) this.#tell(now, before);
      return now;
    });
  }

  #tell(now: Stat | undefined, before: Stat | undefined): void {
    if (this.isOpen) this.emit('change', this.#shown(now), this.#shown(before));
  }
}

function isSame(a: Stat | undefined, b: Stat | undefined): boolean {
  return a?.ino === b?.ino && a?.size === b?.size && a?.mtimeMs === b?.mtimeMs;
}

function isInterval(value: unknown): boolean {
  return value === undefined || (typeof value === 'number' && value >>> 0 === value);
}
