import type { Caller, NodeFs, Outcome } from './calls.ts';
import { callerOf, functionOf } from './calls.ts';
import { errorFacts, kindOf, show } from './facts.ts';

/** Reports a misbehaviour, at the path the check runs for or another one. */
export type Say = (message: string, at?: string) => void;

/** Another file system that holds the same tree. */
export interface Oracle {
  /** Shaped like `node:fs`. */
  readonly fs: object;
  readonly root: string;
}

/** Files that have to be there: relative paths, or what they hold by relative path (`true` for whatever it is). */
export type Expected = readonly string[] | Readonly<Record<string, string | Uint8Array | true>>;

/** The file system under test, and what a first walk found in it. */
export interface Subject {
  readonly fs: NodeFs;
  readonly call: Caller;
  readonly root: string;
  /** Paths, the root first, each directory's in the order its listing had. */
  readonly directories: readonly string[];
  readonly files: readonly string[];
  /** What is neither file nor directory. */
  readonly others: readonly string[];
  /** The content of each file as it was first read. */
  readonly bytes: ReadonlyMap<string, Buffer>;
  readonly expected: Expected | undefined;
  readonly oracle: Oracle | undefined;
  readonly requests: (() => number) | undefined;
  /** Milliseconds after which a call counts as never answered. */
  readonly patience: number;
}

export type SubjectOptions = Pick<Subject, 'expected' | 'oracle' | 'requests' | 'patience'>;

/** One thing to look at. */
export interface Check {
  /** Functions it cannot do without; one that is missing is reported instead of running the check. */
  readonly needs: readonly string[];
  /** What it runs for: once, or for each path of a kind. */
  readonly each: 'tree' | 'file' | 'directory' | 'entry';
  run(subject: Subject, path: string, say: Say): void | Promise<void>;
}

/** Names that no directory may list. */
export function isSaneName(name: unknown): name is string {
  return typeof name === 'string' && name !== '' && name !== '.' && name !== '..' && !/[/\0]/.test(name);
}

/** Walks the tree with plain names and `lstat`, and reads each file once. What fails is reported and left out. */
export async function walk(fs: object, root: string, options: SubjectOptions, say: Say): Promise<Subject> {
  const call = callerOf(fs, options.patience);
  const directories: string[] = [];
  const files: string[] = [];
  const others: string[] = [];
  const bytes = new Map<string, Buffer>();

  const first = (name: string, path: string): Promise<Outcome> | Outcome =>
    functionOf(fs, `promises.${name}`) ? call.promise(`promises.${name}`, [path]) : call.sync(`${name}Sync`, [path]);
  const ask = async (name: string, path: string): Promise<unknown> => {
    const outcome = await first(name, path);
    if ('error' in outcome) say(`${name}: ${show(errorFacts(outcome.error))}`, path);
    return 'error' in outcome ? undefined : outcome.value;
  };
  const visit = async (path: string): Promise<void> => {
    const stats = await ask('lstat', path);
    const kind = stats === undefined ? 'none' : kindOf(stats);
    if (kind === 'file') {
      const content = await ask('readFile', path);
      if (!(content instanceof Uint8Array)) return;
      files.push(path);
      bytes.set(path, Buffer.from(content));
    } else if (kind === 'directory') {
      const names = await ask('readdir', path);
      if (!Array.isArray(names)) return;
      directories.push(path);
      for (const name of new Set(names.filter(isSaneName))) await visit(childOf(path, name));
    } else if (stats !== undefined) others.push(path);
  };
  await visit(root);
  return { ...options, fs: fs as NodeFs, call, root, directories, files, others, bytes };
}

export function childOf(directory: string, name: string): string {
  return directory.endsWith('/') ? directory + name : `${directory}/${name}`;
}

/** The path of what is below the root, without the root. */
export function relativeTo(root: string, path: string): string {
  return path.slice(root.endsWith('/') ? root.length : root.length + 1);
}

/** A path next to the root's entries at which there is nothing, and which cannot be a skill's (MAP-2). */
export function missingPath({ root, files, directories, others }: Subject): string {
  const taken = new Set([...files, ...directories, ...others]);
  let path = childOf(root, 'missing.txt');
  while (taken.has(path)) path += '-';
  return path;
}
