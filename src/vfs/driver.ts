import { type AnswerAll, answerAsync, answerSync, type Op, runAsync, runSync, settled } from '../base/op.ts';
import type { Driver } from './read-fs.ts';

/**
 * A driver of operations that ask for one kind of thing.
 *
 * @param answerAll blocks until all that is asked for is there, or says why it is not
 */
export function driverOf<Asked>(
  answer: (asked: Asked, signal: AbortSignal | undefined) => Promise<unknown>,
  answerAll: AnswerAll<Asked>,
): Driver {
  const answering = (signal?: AbortSignal) => (asked: unknown) => answer(asked as Asked, signal);
  const blocking = answerAll as AnswerAll<unknown>;
  return {
    async async(op, signal) {
      signal?.throwIfAborted();
      return runAsync(op, answering(signal));
    },
    sync: (op) => runSync(op, blocking),
    answer: (asked, signal) => answerAsync(asked, answering(signal)),
    answerSync: (asked) => answerSync(asked, blocking),
  };
}

/** Something an operation waits for that knows itself how it is had; what operations over several layers ask for. */
export class Call {
  readonly sync: () => unknown;
  readonly async: (signal?: AbortSignal) => Promise<unknown>;
  /** Whether no server is involved. */
  readonly local: boolean;

  constructor(local: boolean, sync: () => unknown, async: (signal?: AbortSignal) => Promise<unknown>) {
    this.local = local;
    this.sync = sync;
    this.async = async;
  }
}

/** Runs operations that yield nothing but a {@link Call}. */
export const callDriver: Driver = driverOf<Call>(
  (call, signal) => call.async(signal),
  (calls) => calls.map((call) => settled(call.sync)),
);

/** As {@link driverOf}, for operations that make a {@link Call} now and then. */
export function driverWithCalls<Asked>(
  answer: (asked: Asked, signal: AbortSignal | undefined) => Promise<unknown>,
  answerAll: AnswerAll<Asked>,
): Driver {
  return driverOf<Asked | Call>(
    (asked, signal) => (asked instanceof Call ? asked.async(signal) : answer(asked, signal)),
    (all) => {
      const asked = all.filter((one): one is Asked => !(one instanceof Call));
      const answers = asked.length === 0 ? [] : [...answerAll(asked)];
      return all.map((one) =>
        one instanceof Call ? settled(one.sync) : (answers.shift() as PromiseSettledResult<unknown>),
      );
    },
  );
}

/** An operation of another driver's, within one that yields a {@link Call}. */
export function* through<T>(op: Op<T>, driver: Driver): Op<T> {
  let step = op.next();
  while (!step.done) {
    const asked = step.value;
    let answer: unknown;
    try {
      answer = yield new Call(
        false,
        () => driver.answerSync(asked),
        (signal) => driver.answer(asked, signal),
      );
    } catch (error) {
      step = op.throw(error);
      continue;
    }
    step = op.next(answer);
  }
  return step.value;
}
