import type { Dirent } from 'node:fs';
import type { Op } from '../base/op.ts';
import type { Driver } from '../vfs/read-fs.ts';
import { codedError } from './errors.ts';
import { deliver } from './forms.ts';
import { native } from './native.ts';
import type { Name } from './paths.ts';

type Callback<T> = (error: Error | null, value?: T) => void;

/** An open directory, which behaves as Node's `Dir` and is one for `instanceof`. */
export class Dir {
  readonly #path: Name;
  readonly #driver: Driver;
  /** The entries of the walk's next directory, until there is none. */
  readonly #more: () => Op<Dirent[] | undefined>;
  #entries: Dirent[];
  #taken = 0;
  #closed = false;
  /** Asynchronous operations are done one after the other. */
  #last: Promise<unknown> = Promise.resolve();
  #pending = 0;

  constructor(path: Name, entries: Dirent[], driver: Driver, more: () => Op<Dirent[] | undefined>) {
    this.#path = path;
    this.#entries = entries;
    this.#driver = driver;
    this.#more = more;
  }

  get path(): Name {
    return this.#path;
  }

  read(callback: Callback<Dirent | null>): undefined;
  read(): Promise<Dirent | null>;
  read(callback?: Callback<Dirent | null>): Promise<Dirent | null> | undefined {
    // Node refuses to begin, rather than to call back.
    if (callback !== undefined) this.#assertOpen();
    return this.#asynchronous(() => this.#driver.async(this.#next()), callback);
  }

  readSync(): Dirent | null {
    this.#assertIdle();
    return this.#driver.sync(this.#next());
  }

  close(callback: Callback<void>): undefined;
  close(): Promise<void>;
  close(callback?: Callback<void>): Promise<void> | undefined {
    return this.#asynchronous(async () => this.#close(), callback);
  }

  closeSync(): void {
    this.#assertIdle();
    this.#close();
  }

  async *entries(): AsyncGenerator<Dirent, undefined> {
    try {
      for (let entry = await this.read(); entry !== null; entry = await this.read()) yield entry;
    } finally {
      await this.close();
    }
    return undefined;
  }

  [Symbol.asyncIterator](): AsyncGenerator<Dirent, undefined> {
    return this.entries();
  }

  get isOpen(): boolean {
    return !this.#closed;
  }

  #close(): void {
    this.#assertOpen();
    this.#closed = true;
    this.#entries = [];
  }

  *#next(): Op<Dirent | null> {
    this.#assertOpen();
    while (this.#taken === this.#entries.length) {
      const entries = yield* this.#more();
      if (entries === undefined) return null;
      this.#entries = entries;
      this.#taken = 0;
    }
    const entry = this.#entries[this.#taken];
    this.#taken += 1;
    return entry ?? null;
  }

  #asynchronous<T>(work: () => Promise<T>, callback?: Callback<T>): Promise<T> | undefined {
    if (callback !== undefined && typeof callback !== 'function') checkCallback(callback);
    this.#pending += 1;
    const result = this.#last.then(work).finally(() => {
      this.#pending -= 1;
    });
    this.#last = result.catch(() => {});
    if (callback === undefined) return result;
    deliver(result, callback as never);
    return undefined;
  }

  #assertOpen(): void {
    if (this.#closed) throw closedError();
  }

  #assertIdle(): void {
    this.#assertOpen();
    if (this.#pending === 0) return;
    const message = 'Cannot do synchronous work on directory handle with concurrent asynchronous operations';
    throw codedError('ERR_DIR_CONCURRENT_OPERATION', message);
  }
}

Object.setPrototypeOf(Dir.prototype, native.Dir.prototype);
disposable(Symbol.dispose, (dir) => dir.closeSync());
disposable(Symbol.asyncDispose, (dir) => dir.close());

/** Closes what is still open at the end of a `using` declaration, where the running Node's directories do. */
function disposable(symbol: symbol, close: (dir: Dir) => unknown): void {
  if (symbol === undefined || !(symbol in native.Dir.prototype)) return;
  Object.defineProperty(Dir.prototype, symbol, {
    value(this: Dir) {
      return this.isOpen ? close(this) : undefined;
    },
    configurable: true,
    writable: true,
  });
}

/** @throws what Node throws for a callback that is none */
function checkCallback(callback: never): void {
  const dir = native.opendirSync('/');
  try {
    dir.read(callback);
  } finally {
    dir.closeSync();
  }
}

function closedError(): Error {
  return codedError('ERR_DIR_CLOSED', 'Directory handle was closed');
}
