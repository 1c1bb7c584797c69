/**
 * An operation written once and run by either driver: a generator that yields a request only when something is
 * missing, and is resumed with the answer (or with the error thrown into it).
 *
 * @typeParam T what the operation returns
 * @typeParam Request what it may ask for
 */
export type Op<T, Request = unknown> = Generator<Request, T, unknown>;

/** Operations that wait together. Drivers run them; nobody else is asked. */
class Joint {
  readonly ops: readonly Op<unknown>[];

  constructor(ops: readonly Op<unknown>[]) {
    this.ops = ops;
  }
}

/** Runs operations side by side, so that what they wait for overlaps. @returns how each ended, in order */
export function* together<T>(ops: readonly Op<T>[]): Op<readonly PromiseSettledResult<T>[]> {
  return (yield new Joint(ops)) as readonly PromiseSettledResult<T>[];
}

// biome-ignore lint/correctness/useYield: an operation that has nothing to ask for
export function* known<T>(value: T): Op<T> {
  return value;
}

/** Runs `op` to its end; each request is awaited. */
export async function runAsync<T, Request>(
  op: Op<T, Request>,
  answer: (request: Request) => Promise<unknown>,
): Promise<T> {
  let step = op.next();
  while (!step.done) {
    let value: unknown;
    try {
      value = await answerAsync(step.value, answer);
    } catch (error) {
      step = op.throw(error);
      continue;
    }
    step = op.next(value);
  }
  return step.value;
}

/**
 * Runs `op` to its end in one go.
 *
 * @param answerAll blocks until every request has its answer, or says why not
 */
export function runSync<T, Request>(op: Op<T, Request>, answerAll: AnswerAll<Request>): T {
  let step = op.next();
  while (!step.done) {
    let value: unknown;
    try {
      value = answerSync(step.value, answerAll);
    } catch (error) {
      step = op.throw(error);
      continue;
    }
    step = op.next(value);
  }
  return step.value;
}

export type AnswerAll<Request> = (requests: readonly Request[]) => readonly PromiseSettledResult<unknown>[];

/** The answer to what an operation yielded. @throws what the request failed with */
export function answerAsync<Request>(asked: Request, answer: (request: Request) => Promise<unknown>): Promise<unknown> {
  if (!(asked instanceof Joint)) return answer(asked);
  return Promise.allSettled(asked.ops.map((op) => runAsync(op as Op<unknown, Request>, answer)));
}

/** The answer to what an operation yielded. @throws what the request failed with */
export function answerSync<Request>(asked: Request, answerAll: AnswerAll<Request>): unknown {
  if (asked instanceof Joint) return runTogether(asked.ops as readonly Op<unknown, Request>[], answerAll);
  const [outcome] = answerAll([asked]);
  if (outcome?.status === 'rejected') throw outcome.reason;
  return outcome?.value;
}

/** Side by side without promises: all go on until each has ended or asks for something; what they ask for is asked at once. */
function runTogether<Request>(
  ops: readonly Op<unknown, Request>[],
  answerAll: AnswerAll<Request>,
): readonly PromiseSettledResult<unknown>[] {
  const outcomes: PromiseSettledResult<unknown>[] = [];
  let turns = ops.map((op, index) => ({ op, index, answer: undefined as PromiseSettledResult<unknown> | undefined }));
  while (turns.length > 0) {
    const asking: { op: Op<unknown, Request>; index: number; asked: Request }[] = [];
    for (const { op, index, answer } of turns) {
      try {
        let step = resumed(op, answer);
        while (!step.done && step.value instanceof Joint)
          step = resumed(
            op,
            settled(() => answerSync(step.value as Request, answerAll)),
          );
        if (step.done) outcomes[index] = { status: 'fulfilled', value: step.value };
        else asking.push({ op, index, asked: step.value });
      } catch (reason) {
        outcomes[index] = { status: 'rejected', reason };
      }
    }
    const answers = asking.length === 0 ? [] : answerAll(asking.map(({ asked }) => asked));
    turns = asking.map(({ op, index }, at) => ({ op, index, answer: answers[at] }));
  }
  return outcomes;
}

function resumed<T, Request>(op: Op<T, Request>, answer: PromiseSettledResult<unknown> | undefined) {
  if (answer?.status === 'rejected') return op.throw(answer.reason);
  return op.next(answer?.value);
}

/** How a call ended, as `Promise.allSettled` tells it. */
export function settled<T>(run: () => T): PromiseSettledResult<T> {
  try {
    return { status: 'fulfilled', value: run() };
  } catch (reason) {
    return { status: 'rejected', reason };
  }
}
