import { SHARED_STORE } from '../../base/limits.ts';
import type { SharedSource, SharedStore } from '../shared-store.ts';
import type { Expected } from '../verify.ts';
import { openShared } from './open.ts';
import { Outage } from './outage.ts';
import { Patience } from './patience.ts';
import { SharedFile } from './shared-file.ts';

/** Something about a shared store that a person should be able to see. No read failed because of it. */
export interface SharedProblem {
  /** The server's label, where it is about content of one. */
  readonly label?: string;
  readonly uri?: string;
  readonly message: string;
}

/** Which store, for whom, and how long to wait for it. Plain data but for a store that is an object. */
export interface SharedSetup {
  readonly source: SharedSource;
  /** By label, what the keys of a server's files begin with; servers without are not shared. */
  readonly scopes: ReadonlyMap<string, string>;
  /** Milliseconds that one read waits for the store, in all. */
  readonly deadline: number;
}

/** The shared store as one thread uses it: opened when first needed, and left alone while it fails. */
export class SharedContent {
  readonly #setup: SharedSetup;
  readonly #report: (problem: SharedProblem) => void;
  readonly #reading = new Outage();
  readonly #writing = new Outage();
  readonly #pending = new Set<Promise<unknown>>();
  #pendingBytes = 0;
  #store: Promise<SharedStore> | undefined;
  #closed = false;

  constructor(setup: SharedSetup, report: (problem: SharedProblem) => void) {
    this.#setup = setup;
    this.#report = report;
  }

  /** Milliseconds that one read waits for the store, in all. */
  get deadline(): number {
    return this.#setup.deadline;
  }

  /** A file of a server about to be read; `undefined` where that server's content is not shared. */
  file(label: string, uri: string, expected: Expected): SharedFile | undefined {
    const scope = this.#setup.scopes.get(label);
    if (scope === undefined) return undefined;
    const key = `${scope}-${expected.digest.slice('sha256:'.length)}`;
    return new SharedFile(this, { label, uri, key, expected });
  }

  report(problem: SharedProblem): void {
    this.#report(problem);
  }

  /** @returns `undefined` too when the store fails, does not answer in time, or did so a moment ago */
  read<T>(patience: Patience, operation: (store: SharedStore) => Promise<T>): Promise<T | undefined> {
    return this.#attempt(this.#reading, 'cannot be read', patience, operation);
  }

  /**
   * As `read`, for what a store has to write before it can answer: one that is full still gives what it has.
   *
   * @returns `undefined` too when the store cannot be read either
   */
  async claim<T>(patience: Patience, operation: (store: SharedStore) => Promise<T>): Promise<T | undefined> {
    if (this.#reading.lasts) return undefined;
    return this.#attempt(this.#writing, 'cannot be written', patience, operation);
  }

  /** Writes while the caller goes on; what cannot be written is not there. */
  write(bytes: number, operation: (store: SharedStore) => Promise<void>): void {
    if (this.#reading.lasts || this.#pendingBytes + bytes > SHARED_STORE.pendingBytes) return;
    this.#pendingBytes += bytes;
    const patience = new Patience(this.deadline);
    const writing = this.#attempt(this.#writing, 'cannot be written', patience, operation).finally(() => {
      this.#pendingBytes -= bytes;
      this.#pending.delete(writing);
    });
    this.#pending.add(writing);
  }

  /** Waits for what is being written, and closes a store that was opened here. Takes two deadlines at most. */
  async close(): Promise<void> {
    await Promise.all(this.#pending);
    this.#closed = true;
    if (this.#store === undefined || 'store' in this.#setup.source) return;
    const closing = this.#store.then((store) => store.close?.());
    // Nobody is left to whom it matters that a store could not be left properly.
    await new Patience(this.deadline).of(closing).catch(() => undefined);
  }

  #opened(): Promise<SharedStore> {
    if (this.#store === undefined) {
      const opening = openShared(this.#setup.source);
      this.#store = opening;
      opening.catch(() => {
        this.#store = undefined;
      });
    }
    return this.#store;
  }

  async #attempt<T>(
    outage: Outage,
    what: string,
    patience: Patience,
    operation: (store: SharedStore) => Promise<T>,
  ): Promise<T | undefined> {
    if (this.#closed || outage.isFresh) return undefined;
    const since = performance.now();
    try {
      const result = await patience.of(this.#opened().then(operation));
      outage.ended();
      return result;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const message = `the shared store ${what}: ${why}; servers are asked instead until it can`;
      const known = outage === this.#writing && this.#reading.lasts;
      if (outage.failed(since) && !known) this.#report({ message });
      return undefined;
    }
  }
}
