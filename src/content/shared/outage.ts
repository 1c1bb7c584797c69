import { SHARED_STORE } from '../../base/limits.ts';

/** Leaves what fails alone, for longer and longer while it goes on failing. */
export class Outage {
  #failures = 0;
  #failedAt = Number.NEGATIVE_INFINITY;

  /** Whether it has not worked since it last failed. */
  get lasts(): boolean {
    return this.#failures > 0;
  }

  /** Whether to leave it alone for now. */
  get isFresh(): boolean {
    if (!this.lasts) return false;
    const wait = Math.min(SHARED_STORE.most, SHARED_STORE.first * 2 ** (this.#failures - 1));
    return performance.now() < this.#failedAt + wait;
  }

  ended(): void {
    this.#failures = 0;
  }

  /**
   * @param since when the attempt began (`performance.now()`): those that fail together count once
   * @returns whether this is the first failure since it last worked
   */
  failed(since: number): boolean {
    if (since < this.#failedAt) return false;
    this.#failures++;
    this.#failedAt = performance.now();
    return this.#failures === 1;
  }
}
