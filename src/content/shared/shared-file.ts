import { setTimeout as pause } from 'node:timers/promises';
import { SHARED_STORE } from '../../base/limits.ts';
import { type Expected, VerificationError, verifyBytes } from '../verify.ts';
import { Patience } from './patience.ts';
import type { SharedContent } from './shared-content.ts';

export interface SharedFileIdentity {
  readonly label: string;
  readonly uri: string;
  /** Under which the store has it. */
  readonly key: string;
  readonly expected: Expected;
}

/** One read of one file. It waits for the store no longer than the deadline, however many questions that takes. */
export class SharedFile {
  readonly #content: SharedContent;
  readonly #identity: SharedFileIdentity;
  readonly #patience: Patience;

  constructor(content: SharedContent, identity: SharedFileIdentity) {
    this.#content = content;
    this.#identity = identity;
    this.#patience = new Patience(content.deadline);
  }

  /** What the store has: bytes whose size and digest were computed from these very bytes, now (VER-1, CACHE-1). */
  async find(): Promise<Uint8Array | undefined> {
    const { key } = this.#identity;
    if (this.#isImpatient) return undefined;
    const given = await this.#content.read(this.#patience, async (store) => bytesFrom(await store.get(key)));
    return given === undefined ? undefined : this.#verified(given);
  }

  /** The same, right before the server is asked: what another agent is fetching is waited for. */
  async findOrClaim(): Promise<Uint8Array | undefined> {
    for (;;) {
      const fetching = await this.#fetchedElsewhere();
      const found = await this.find();
      if (found !== undefined || !fetching || this.#isImpatient) return found;
      this.#patience.left -= SHARED_STORE.poll;
      await pause(SHARED_STORE.poll);
    }
  }

  /** Gives verified bytes to the store, while the caller goes on. */
  keep(bytes: Uint8Array): void {
    const { key } = this.#identity;
    // A store may do with what it is given as it likes.
    this.#content.write(bytes.byteLength, (store) => store.put(key, new Uint8Array(bytes)));
  }

  async #fetchedElsewhere(): Promise<boolean> {
    const { key } = this.#identity;
    const { deadline } = this.#content;
    if (this.#isImpatient) return false;
    const claimed = this.#content.claim(this.#patience, async (store) => store.claim?.(key, deadline));
    return (await claimed) === false;
  }

  #verified(given: Uint8Array): Uint8Array | undefined {
    const { key, label, uri, expected } = this.#identity;
    // What is checked is what is returned: a store may still change the bytes it gave.
    const bytes = given.byteLength === expected.size ? new Uint8Array(given) : given;
    try {
      verifyBytes(bytes, expected, uri);
      return bytes;
    } catch (error) {
      if (!(error instanceof VerificationError)) throw error;
      // The same would come again until it is gone.
      this.#patience.left = 0;
      this.#content.write(0, (store) => store.delete(key));
      this.#content.report({ label, uri, message: `what the shared store had was dropped: ${error.message}` });
      return undefined;
    }
  }

  /** Too little time is left to tell a slow answer from a late question. */
  get #isImpatient(): boolean {
    return this.#patience.left < this.#content.deadline / 4;
  }
}

function bytesFrom(given: unknown): Uint8Array | undefined {
  if (given === undefined || given === null || given instanceof Uint8Array) return given ?? undefined;
  throw new TypeError(`it gave a ${typeof given} where bytes were expected`);
}
