import { onAbort } from '../base/on-abort.ts';

/**
 * Runs one task per key at a time: whoever asks while it is under way shares its outcome. A caller whose signal aborts
 * leaves at once; the task itself is aborted when nobody waits for it any more.
 */
export function singleFlight<T>(): (
  key: string,
  task: (signal: AbortSignal) => Promise<T>,
  signal?: AbortSignal,
) => Promise<T> {
  const flights = new Map<string, { waiting: number; abort: AbortController; outcome: Promise<T> }>();

  return async (key, task, signal) => {
    signal?.throwIfAborted();
    let flight = flights.get(key);
    if (flight === undefined) {
      const abort = new AbortController();
      const started = { waiting: 0, abort, outcome: task(abort.signal) };
      const done = () => {
        if (flights.get(key) === started) flights.delete(key);
      };
      started.outcome.then(done, done);
      flights.set(key, started);
      flight = started;
    }
    const mine = flight;
    mine.waiting++;
    let leave: (() => void) | undefined;
    try {
      if (signal === undefined) return await mine.outcome;
      const left = new Promise<never>((_, reject) => {
        leave = onAbort(signal, () => reject(signal.reason));
      });
      return await Promise.race([mine.outcome, left]);
    } finally {
      leave?.();
      mine.waiting--;
      if (mine.waiting === 0 && signal?.aborted === true && flights.get(key) === mine) {
        flights.delete(key);
        mine.abort.abort(signal.reason);
      }
    }
  };
}
