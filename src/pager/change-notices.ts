import { CHANGES } from '../base/limits.ts';

/**
 * Turns what a server says of its changes, often in bursts, into few notices: one when it was silent for a moment, or has
 * gone on for too long. A listing that begins after a change answers it; one that began before does not.
 */
export class ChangeNotices {
  readonly #tell: () => void;
  #firstAt: number | undefined;
  #toldAt = Number.NEGATIVE_INFINITY;
  #listings = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(tell: () => void) {
    this.#tell = tell;
  }

  readonly changed = (): void => {
    this.#firstAt ??= performance.now();
    this.#schedule();
  };

  /** Runs a listing. */
  async during<T>(listing: () => Promise<T>): Promise<T> {
    this.close();
    this.#listings++;
    try {
      return await listing();
    } finally {
      this.#listings--;
      this.#schedule();
    }
  }

  /** Takes back what was not told yet. */
  close(): void {
    clearTimeout(this.#timer);
    this.#firstAt = undefined;
  }

  #schedule(): void {
    clearTimeout(this.#timer);
    if (this.#firstAt === undefined || this.#listings > 0) return;
    const now = performance.now();
    const at = Math.max(Math.min(now + CHANGES.silence, this.#firstAt + CHANGES.most), this.#toldAt + CHANGES.apart);
    this.#timer = setTimeout(() => {
      this.#firstAt = undefined;
      this.#toldAt = performance.now();
      this.#tell();
    }, at - now).unref();
  }
}
