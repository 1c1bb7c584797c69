/** A file system as the kit sees it: shaped like `node:fs`, any part of which may be missing or wrong. */
export type NodeFs = typeof import('node:fs');

/** How a call ended. */
export type Outcome = { readonly value: unknown } | { readonly error: unknown };

export type AnyFunction = (...args: readonly unknown[]) => unknown;

/** The function that `name` leads to (`statSync`, `promises.stat`, `realpath.native`), bound to what it hangs on. */
export function functionOf(fs: object, name: string): AnyFunction | undefined {
  let owner: unknown;
  let value: unknown = fs;
  for (const key of name.split('.')) {
    if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return undefined;
    owner = value;
    value = (value as Readonly<Record<string, unknown>>)[key];
  }
  return typeof value === 'function' ? (value.bind(owner) as AnyFunction) : undefined;
}

/** Every call of the kit ends: what is not there and what never answers are errors too. */
export interface Caller {
  sync(name: string, args: readonly unknown[]): Outcome;
  /** Calls with a callback behind `args`. An error thrown instead is the outcome as well. */
  callback(name: string, args: readonly unknown[]): Promise<Outcome>;
  promise(name: string, args: readonly unknown[]): Promise<Outcome>;
}

/** @param patience milliseconds after which a call counts as never answered */
export function callerOf(fs: object, patience: number): Caller {
  return {
    sync(name, args) {
      try {
        return { value: demand(fs, name)(...args) };
      } catch (error) {
        return { error };
      }
    },
    callback(name, args) {
      const answered = new Promise((resolve, reject) => {
        demand(fs, name)(...args, (error: unknown, value: unknown) => {
          if (error === null || error === undefined) resolve(value);
          else reject(error);
        });
      });
      return outcomeOf(within(patience, answered, `fs.${name} did not call back`));
    },
    promise(name, args) {
      const answered = (async () => demand(fs, name)(...args))();
      return outcomeOf(within(patience, answered, `fs.${name} did not settle`));
    },
  };
}

/** @throws Error saying `what` when the promise is not settled after `ms` milliseconds */
export async function within<T>(ms: number, promise: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

async function outcomeOf(promise: Promise<unknown>): Promise<Outcome> {
  try {
    return { value: await promise };
  } catch (error) {
    return { error };
  }
}

function demand(fs: object, name: string): AnyFunction {
  const found = functionOf(fs, name);
  if (found === undefined) throw new Error(`fs.${name} is missing`);
  return found;
}
