import pLimit from 'p-limit';

/** Runs a task when there is a place for it. */
export type Place = <T>(task: () => Promise<T>) => Promise<T>;

/**
 * So many tasks at once; but one that takes longer than `patience` milliseconds gives its place to the next, so that servers
 * that hang hold up nobody else.
 */
export function places(count: number, patience: number): Place {
  const limit = pLimit(count);
  return (task) =>
    new Promise((resolve, reject) => {
      void limit(async () => {
        const outcome = task();
        outcome.then(resolve, reject);
        await settledWithin(outcome, patience);
      });
    });
}

async function settledWithin(outcome: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  const settled = outcome.then(
    () => {},
    () => {},
  );
  await Promise.race([settled, patience]);
  clearTimeout(timer);
}
