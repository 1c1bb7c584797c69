import type fs from 'node:fs';
import type { Op } from '../base/op.ts';
import type { Driver } from '../vfs/read-fs.ts';
import { AbortError } from './errors.ts';
import { NOWHERE, native } from './native.ts';

export type Fs = typeof fs;
export type FsPromises = typeof fs.promises;

/** The three forms of one operation, by the name of its callback form. */
export interface Forms<Name extends string> {
  readonly callback: Name extends keyof Fs ? Fs[Name] : never;
  readonly sync: `${Name}Sync` extends keyof Fs ? Fs[`${Name}Sync`] : never;
  readonly promise: Name extends keyof FsPromises ? FsPromises[Name] : never;
}

/** Checks its arguments, and throws at once what Node throws for them; what it returns does the work. */
export type Prepare<Options> = (first: unknown, second: Options | undefined, third: unknown) => Op<unknown>;

type Callback = (error: unknown, value?: unknown) => void;

/**
 * Derives the forms of an operation that is written once.
 *
 * @param signalOf finds the signal that ends the asynchronous forms, in the second argument
 */
export function forms<Name extends string, Options = unknown>(
  driver: Driver,
  name: Name,
  prepare: Prepare<Options>,
  signalOf?: (options: Options | undefined) => AbortSignal | undefined,
): Forms<Name> {
  const sync = (first: unknown, second?: Options, third?: unknown) => driver.sync(prepare(first, second, third));

  const promise = async (first: unknown, second?: Options, third?: unknown) => {
    const op = prepare(first, second, third);
    const signal = signalOf?.(second);
    return signal === undefined ? driver.async(op) : abortable(driver, op, signal);
  };

  const callback = (...args: unknown[]) => {
    const { at, done } = callbackIn(name, args);
    const options = (at > 1 ? args[1] : undefined) as Options | undefined;
    const op = prepare(args[0], options, at > 2 ? args[2] : undefined);
    const signal = signalOf?.(options);
    deliver(signal === undefined ? driver.async(op) : abortable(driver, op, signal), done);
  };

  return { sync, promise, callback } as unknown as Forms<Name>;
}

/** Calls back once, never before the call that asked has returned; what the callback throws is nobody's rejection. */
export function deliver(result: Promise<unknown>, done: Callback): void {
  result.then(
    (value) => (value === undefined ? process.nextTick(done, null) : process.nextTick(done, null, value)),
    (error) => process.nextTick(done, error),
  );
}

/**
 * The callback among the arguments: the first function after the first argument.
 *
 * @throws what Node's function of that name throws when there is none
 */
export function callbackIn(name: string, args: readonly unknown[]): { at: number; done: Callback } {
  const at = args.findIndex((arg, index) => index > 0 && typeof arg === 'function');
  if (at === -1) {
    const nodes = native[name as keyof Fs] as unknown as (...args: unknown[]) => void;
    nodes(NOWHERE, ...args.slice(1));
    throw new TypeError('The callback is not a function');
  }
  return { at, done: args[at] as Callback };
}

async function abortable<T>(driver: Driver, op: Op<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) throw new AbortError(signal.reason);
  try {
    const value = await driver.async(op, signal);
    if (!signal.aborted) return value;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  throw new AbortError(signal.reason);
}
