import { Fault } from '../base/fault.ts';
import { BACKOFF } from '../base/limits.ts';

/** Leaves a server alone for longer and longer while everything it is asked fails, and not at all once something works. */
export class Backoff {
  #failures = 0;
  #failedAt = Number.NEGATIVE_INFINITY;
  #last: Fault | undefined;

  worked(): void {
    this.#failures = 0;
  }

  /** @param since when the attempt began (`performance.now()`): those that fail together count once */
  failed(fault: Fault, since: number): void {
    if (since < this.#failedAt) return;
    this.#failures++;
    this.#failedAt = performance.now();
    this.#last = fault;
  }

  /** @throws `Fault`, the last one, saying when it is tried again, while the server is to be left alone */
  check(): void {
    if (this.#last === undefined) return;
    const left = this.#failedAt + delayAfter(this.#failures) - performance.now();
    if (left > 0) throw again(this.#last, left);
  }
}

function delayAfter(failures: number): number {
  if (failures <= BACKOFF.free) return 0;
  return Math.min(BACKOFF.most, BACKOFF.first * 2 ** (failures - BACKOFF.free - 1));
}

function again({ code, detail = code, cause }: Fault, ms: number): Fault {
  return new Fault(code, { detail: `${detail}; it is tried again in ${Math.ceil(ms / 1_000)} s`, cause });
}
