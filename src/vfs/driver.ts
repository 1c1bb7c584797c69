import { type AnswerAll, answerAsync, answerSync, runAsync, runSync } from '../base/op.ts';
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
