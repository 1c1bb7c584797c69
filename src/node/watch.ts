import { EventEmitter } from 'node:events';
import type { FSWatcher, Stats, StatWatcher } from 'node:fs';
import { posix, resolve } from 'node:path';
import type { ChangeSource, Context } from './context.ts';
import { encodeName, encodingOf } from './encodings.ts';
import { AbortError, nodeError } from './errors.ts';
import type { Fs, FsPromises } from './forms.ts';
import { checkedByNode, NOWHERE, native } from './native.ts';
import { spelledPath } from './paths.ts';
import { statsOf } from './stats.ts';

interface WatchOptions {
  readonly persistent?: boolean;
  readonly recursive?: boolean;
  readonly encoding?: BufferEncoding | 'buffer';
  readonly signal?: AbortSignal;
}

const SILENT: ChangeSource = { subscribe: () => () => undefined };

/** Nothing on a mount changes but by a refresh of a server, which tells of each path. */
export function watchers(
  context: Context,
): Pick<Fs, 'watch' | 'watchFile' | 'unwatchFile'> & { readonly promise: FsPromises['watch'] } {
  const changes = context.changes ?? SILENT;
  const polled = new Map<string, FileWatcher>();

  function watch(path: unknown, given?: unknown, listener?: unknown): FSWatcher {
    const options = (typeof given === 'object' && given !== null ? given : {}) as WatchOptions;
    const encoding = encodingOf(typeof given === 'function' ? undefined : given, (bad) =>
      native.readdirSync(NOWHERE, bad),
    );
    const spelled = spelledPath(path, (bad) => native.watch(bad));
    const heard = typeof given === 'function' ? given : listener;
    try {
      context.driver.sync(context.core.stat(resolve(spelled)));
    } catch (error) {
      throw Object.assign(nodeError(error, 'watch', spelled) as Error, { filename: spelled });
    }
    const watcher = new TreeWatcher(changes, resolve(spelled), options, (name) => encodeName(name, encoding));
    if (typeof heard === 'function') watcher.on('change', heard as (...args: unknown[]) => void);
    return watcher as unknown as FSWatcher;
  }

  async function* watchAll(
    path: unknown,
    given?: unknown,
  ): AsyncGenerator<{ eventType: string; filename: string | Buffer }> {
    const { signal } = (typeof given === 'object' && given !== null ? given : {}) as WatchOptions;
    const isAborted = () => signal?.aborted === true;
    if (isAborted()) throw new AbortError(signal?.reason);
    const watcher = watch(path, given);
    const queue: { eventType: string; filename: string | Buffer }[] = [];
    let wake = () => {};
    watcher.on('change', (eventType, filename) => {
      queue.push({ eventType, filename: filename as string });
      wake();
    });
    const aborted = () => wake();
    signal?.addEventListener('abort', aborted);
    try {
      for (;;) {
        const next = queue.shift();
        if (next !== undefined) yield next;
        else if (isAborted()) throw new AbortError(signal?.reason);
        else await new Promise<void>((done) => (wake = done));
      }
    } finally {
      signal?.removeEventListener('abort', aborted);
      watcher.close();
    }
  }

  function watchFile(path: unknown, given: unknown, listener?: unknown): StatWatcher {
    const heard = typeof given === 'function' ? given : listener;
    const spelled = resolve(spelledPath(path, (bad) => native.watchFile(bad, () => undefined)));
    if (typeof heard !== 'function') native.watchFile(NOWHERE, heard as never);
    const options = (typeof given === 'object' && given !== null ? given : {}) as {
      persistent?: boolean;
      bigint?: boolean;
    };
    let watcher = polled.get(spelled);
    if (watcher === undefined) {
      watcher = new FileWatcher(changes, context, spelled, options);
      polled.set(spelled, watcher);
    }
    watcher.on('change', heard as (...args: unknown[]) => void);
    return watcher as unknown as StatWatcher;
  }

  function unwatchFile(path: unknown, listener?: unknown): void {
    const spelled = resolve(spelledPath(path, (bad) => native.unwatchFile(bad)));
    const watcher = polled.get(spelled);
    if (watcher === undefined) return;
    if (typeof listener === 'function') watcher.removeListener('change', listener as () => void);
    else watcher.removeAllListeners('change');
    if (watcher.listenerCount('change') > 0) return;
    polled.delete(spelled);
    watcher.stop();
  }

  return { watch, watchFile, unwatchFile, promise: watchAll } as unknown as ReturnType<typeof watchers>;
}

/** Keeps the process alive while it is meant to. */
class Presence extends EventEmitter {
  #timer: NodeJS.Timeout | undefined;

  constructor(persistent: boolean) {
    super();
    this.#timer = setInterval(() => undefined, 2 ** 30);
    if (!persistent) this.#timer.unref();
  }

  ref(): this {
    this.#timer?.ref();
    return this;
  }

  unref(): this {
    this.#timer?.unref();
    return this;
  }

  protected end(): boolean {
    if (this.#timer === undefined) return false;
    clearInterval(this.#timer);
    this.#timer = undefined;
    return true;
  }
}

class TreeWatcher extends Presence {
  readonly #unsubscribe: () => void;

  constructor(changes: ChangeSource, root: string, options: WatchOptions, named: (name: string) => string | Buffer) {
    super(options.persistent !== false);
    checkedByNode(() => native.watch(NOWHERE, options as never));
    this.#unsubscribe = changes.subscribe((changed) => {
      const below = posix.relative(root, changed);
      if (changed === root) this.emit('change', 'change', named(posix.basename(root)));
      else if (!below.startsWith('..') && (options.recursive === true || !below.includes('/'))) {
        this.emit('change', 'rename', named(below));
      }
    });
    const { signal } = options;
    if (signal?.aborted === true) process.nextTick(() => this.close());
    else signal?.addEventListener('abort', () => this.close(), { once: true });
  }

  close(): void {
    if (!this.end()) return;
    this.#unsubscribe();
    process.nextTick(() => this.emit('close'));
  }
}

class FileWatcher extends Presence {
  readonly #unsubscribe: () => void;

  constructor(
    changes: ChangeSource,
    context: Context,
    path: string,
    options: { persistent?: boolean; bigint?: boolean },
  ) {
    super(options.persistent !== false);
    const { core, driver, owner } = context;
    const nothing = { kind: 'file', ino: 0, size: 0, mtimeMs: 0 } as const;
    const absent = Object.assign(statsOf(nothing, { dev: 0, uid: 0, gid: 0 }, options.bigint === true), {
      mode: options.bigint === true ? 0n : 0,
      nlink: options.bigint === true ? 0n : 0,
      blksize: options.bigint === true ? 0n : 0,
    }) as Stats;
    const look = async (): Promise<Stats> =>
      driver.async(core.stat(path)).then(
        (stat) => statsOf(stat, owner, options.bigint === true) as Stats,
        () => absent,
      );
    let last: Promise<Stats> = look();
    // Node tells once of a file that is not there.
    last.then((first) => first === absent && this.#isOpen && this.emit('change', absent, absent));
    this.#unsubscribe = changes.subscribe((changed) => {
      if (changed !== path) return;
      const before = last;
      last = look();
      Promise.all([last, before]).then(([now, then]) => this.#isOpen && this.emit('change', now, then));
    });
  }

  #isOpen = true;

  stop(): void {
    if (!this.end()) return;
    this.#isOpen = false;
    this.#unsubscribe();
    process.nextTick(() => this.emit('stop'));
  }
}
