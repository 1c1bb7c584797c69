/** Milliseconds after which a look is taken whether this thread had the time to notice an answer. */
const STEP = 50;

/**
 * For how long to wait, in all, for answers to several questions. Time in which this thread was too busy to notice an answer is
 * not counted.
 */
export class Patience {
  /** Milliseconds. */
  left: number;

  constructor(milliseconds: number) {
    this.left = milliseconds;
  }

  /** @throws Error when it ends before the task does */
  async of<T>(task: Promise<T>): Promise<T> {
    const most = this.left;
    let timer: NodeJS.Timeout | undefined;
    let since = performance.now();
    const spend = (milliseconds: number) => {
      this.left -= Math.min(STEP, milliseconds);
    };
    const late = new Promise<never>((_, reject) => {
      const step = () => {
        spend(STEP);
        since = performance.now();
        // What has come in by now is read before the immediate.
        if (this.left > 0) next();
        else setImmediate(() => reject(new Error(`no answer within ${Math.round(most)} ms`)));
      };
      const next = () => {
        timer = setTimeout(step, Math.min(STEP, this.left));
      };
      next();
    });
    try {
      return await Promise.race([task, late]);
    } finally {
      clearTimeout(timer);
      spend(performance.now() - since);
    }
  }
}
