import { constants } from 'node:fs';
import type { Outcome } from './calls.ts';
import { functionOf } from './calls.ts';
import { codeOf, type Facts, factsOf, outcomeFacts } from './facts.ts';
import type { Subject } from './subject.ts';
import { missingPath, relativeTo } from './subject.ts';

/** A way of asking something about one path, in the forms Node has for it. */
export interface Operation {
  /** As it is called: `readdir {"recursive":true}`. */
  readonly label: string;
  /** What follows the path. */
  readonly args: readonly unknown[];
  readonly sync: string;
  readonly callback: string;
  /** Absent where Node's promise form is another operation. */
  readonly promise?: string;
  /** Turns a value that has to be closed into one that can be compared. */
  readonly settle?: (subject: Pick<Subject, 'fs'>, value: unknown) => unknown;
  /**
   * Where the forms of some Node are unlike, and others may be: an `eager` callback is called before the call has
   * returned (or not at all, when it throws instead), a `nameless` error does not name the path in every form.
   */
  readonly quirk?: 'eager' | 'nameless';
}

const { R_OK, X_OK, O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;

export const operations: readonly Operation[] = [
  operation('stat'),
  operation('stat', { bigint: true }),
  operation('lstat'),
  operation('lstat', { bigint: true }),
  operation('access'),
  operation('access', R_OK),
  operation('access', X_OK),
  operation('readdir'),
  operation('readdir', 'buffer'),
  operation('readdir', { withFileTypes: true }),
  { ...operation('readdir', { recursive: true }), quirk: 'eager' },
  { ...operation('readdir', { recursive: true, withFileTypes: true }), quirk: 'eager' },
  { ...operation('readFile'), quirk: 'nameless' },
  { ...operation('readFile', 'utf8'), quirk: 'nameless' },
  { ...operation('readFile', { encoding: 'base64', flag: 'r' }), quirk: 'nameless' },
  operation('readlink'),
  { label: 'realpath', args: [], sync: 'realpathSync', callback: 'realpath' },
  {
    label: 'realpath.native',
    args: [],
    sync: 'realpathSync.native',
    callback: 'realpath.native',
    promise: 'promises.realpath',
  },
  { ...operation('open'), settle: closeFile },
  { ...operation('open', O_RDONLY | O_DIRECTORY), settle: closeFile },
  { ...operation('open', O_RDONLY | O_NOFOLLOW), settle: closeFile },
  { ...operation('opendir'), settle: drainDirectory, quirk: 'nameless' },
  { ...operation('statfs'), settle: () => 'statistics' },
];

function operation(name: string, ...args: readonly unknown[]): Operation {
  const label = [name, ...args.map((arg) => JSON.stringify(arg))].join(' ');
  return { label, args, sync: `${name}Sync`, callback: name, promise: `promises.${name}` };
}

/** Settles the value an operation ended with, if it has one, and tells what can be compared of it. */
export async function settledFacts(
  { settle, quirk }: Operation,
  subject: Pick<Subject, 'fs'>,
  outcome: Outcome,
): Promise<Facts> {
  if ('error' in outcome) {
    const code = codeOf(outcome);
    // What is wrong with an argument is said in the words of the form that was called.
    if (code.startsWith('ERR_')) return { code };
    return outcomeFacts(quirk === 'nameless' ? { error: nameless(outcome.error) } : outcome);
  }
  try {
    return factsOf(settle === undefined ? outcome.value : await settle(subject, outcome.value));
  } catch (error) {
    return outcomeFacts({ error });
  }
}

function nameless(error: unknown): unknown {
  if (!(error instanceof Error) || !('path' in error)) return error;
  return Object.assign(new Error(error.message.replace(` '${error.path}'`, '')), { ...error, path: undefined });
}

async function closeFile({ fs }: Pick<Subject, 'fs'>, value: unknown): Promise<string> {
  if (typeof value === 'number') fs.closeSync(value);
  else await functionOf(value as object, 'close')?.();
  return 'opened';
}

async function drainDirectory(_: unknown, value: unknown): Promise<unknown> {
  const names: unknown[] = [];
  for await (const entry of value as AsyncIterable<{ name: unknown }>) names.push(entry.name);
  return { path: (value as { path: unknown }).path, names: names.sort() };
}

/** Spellings at which things go wrong, or must not: nothing there, below a file, trailing slashes, dots, NUL. */
export function oddPaths(subject: Subject): readonly string[] {
  const { root, files, directories } = subject;
  const missing = missingPath(subject);
  const odd = [missing, `${missing}/`, `${missing}/child.txt`, `${missing}/..`, `${root}/nul\0byte`];
  const [file] = files;
  if (file !== undefined)
    odd.push(`${file}/`, `${file}/child.txt`, `${file}/.`, `${file}/..`, `${file}/../missing.txt`);
  const directory = directories[1];
  if (directory !== undefined) {
    const relative = relativeTo(root, directory);
    odd.push(`${directory}/`, `${directory}/.`, `${directory}/..`, `${root}//${relative}`, `${root}/./${relative}`);
  }
  return odd;
}
