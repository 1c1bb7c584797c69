import type { Op } from '../base/op.ts';

/** The result of an operation that needs nothing to be fetched; `undefined` when it would have to ask, or fails. */
export function atOnce<T>(op: Op<T>): T | undefined {
  try {
    const step = op.next();
    if (step.done) return step.value;
    op.return(undefined as T);
  } catch {
    // Whoever looks for it itself is told why.
  }
  return undefined;
}

/** The rest of an operation that was begun, as one that can be run. */
export function* rest<T>(op: Op<T>, begun: IteratorResult<unknown, T>): Op<T> {
  let step = begun;
  while (!step.done) {
    let answer: unknown;
    try {
      answer = yield step.value;
    } catch (error) {
      step = op.throw(error);
      continue;
    }
    step = op.next(answer);
  }
  return step.value;
}
