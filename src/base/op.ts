/**
 * An operation written once and run by either driver: a generator that yields a request only when something is
 * missing, and is resumed with the answer (or with the error thrown into it).
 *
 * @typeParam T what the operation returns
 * @typeParam Request what it may ask for
 */
export type Op<T, Request = unknown> = Generator<Request, T, unknown>;

/** Runs `op` to its end; each request is awaited. */
export async function runAsync<T, Request>(
  op: Op<T, Request>,
  answer: (request: Request) => Promise<unknown>,
): Promise<T> {
  let step = op.next();
  while (!step.done) {
    let value: unknown;
    try {
      value = await answer(step.value);
    } catch (error) {
      step = op.throw(error);
      continue;
    }
    step = op.next(value);
  }
  return step.value;
}

/** Runs `op` to its end in one go; `answer` blocks or throws. */
export function runSync<T, Request>(op: Op<T, Request>, answer: (request: Request) => unknown): T {
  let step = op.next();
  while (!step.done) {
    let value: unknown;
    try {
      value = answer(step.value);
    } catch (error) {
      step = op.throw(error);
      continue;
    }
    step = op.next(value);
  }
  return step.value;
}
