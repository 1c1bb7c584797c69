import { constants } from 'node:os';
import { relative } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { callerOf, functionOf, type Outcome, within } from './calls.ts';
import { difference, type Facts, isRecord } from './facts.ts';
import { type Operation, oddPaths, operations, settledFacts } from './operations.ts';
import type { Check, Subject } from './subject.ts';
import { missingPath } from './subject.ts';

/** Called synchronously, with a callback or for a promise, an operation gives the same value or the same error. */
export const forms: Check = {
  needs: operations.flatMap(({ sync, callback, promise }) => [
    sync,
    callback,
    ...(promise === undefined ? [] : [promise]),
  ]),
  each: 'tree',
  async run(subject, _root, say) {
    const { call } = subject;
    for (const operation of operations) {
      const { label, args, sync, callback, promise } = operation;
      for (const path of everyPath(subject)) {
        const given = [path, ...args];
        const finish = (outcome: Outcome) => settledFacts(operation, subject, outcome);
        const expected = await finish(call.sync(sync, given));
        const called = difference(expected, await finish(await call.callback(callback, given)));
        if (called !== undefined) say(`${label}, synchronous and with a callback: ${called}`, path);
        if (promise === undefined) continue;
        const awaited = difference(expected, await finish(await call.promise(promise, given)));
        if (awaited !== undefined) say(`${label}, synchronous and as a promise: ${awaited}`, path);
      }
    }
  },
};

function everyPath(subject: Subject): readonly string[] {
  return [...subject.directories, ...subject.files, ...oddPaths(subject)];
}

/** A callback is called exactly once, and never before the call has returned. */
export const callbacks: Check = {
  needs: [...new Set(operations.map(({ callback }) => callback))],
  each: 'tree',
  async run(subject, root, say) {
    const [file = root] = subject.files;
    for (const operation of operations) {
      if (operation.quirk === 'eager') continue;
      for (const path of [root, file, missingPath(subject)]) {
        const { calls, early } = await countCalls(subject, operation, path);
        if (early) say(`${operation.label} calls back before it has returned`, path);
        if (calls !== 1) say(`${operation.label} calls back ${calls} times`, path);
      }
    }
  },
};

async function countCalls(
  subject: Subject,
  operation: Operation,
  path: string,
): Promise<{ calls: number; early: boolean }> {
  const { fs, patience } = subject;
  const call = functionOf(fs, operation.callback);
  let calls = 0;
  let early = false;
  const first = new Promise<void>((resolve) => {
    let returned = false;
    call?.(path, ...operation.args, (error: unknown, value: unknown) => {
      calls += 1;
      early ||= !returned;
      const outcome = error === null || error === undefined ? { value } : { error };
      if (calls === 1) void settledFacts(operation, subject, outcome).then(() => resolve());
    });
    returned = true;
  });
  await within(patience, first, operation.label).catch(() => undefined);
  // A second call would come with what was started by the first one: some turns of the event loop are enough.
  for (let turns = 0; turns < 3; turns++) await turn();
  return { calls, early };
}

const FAILING = ['statSync', 'lstatSync', 'readdirSync', 'readFileSync', 'openSync', 'accessSync', 'readlinkSync'];

/** Errors are shaped as Node's own, and name the path as the caller wrote it. */
export const errors: Check = {
  needs: FAILING,
  each: 'tree',
  run(subject, _root, say) {
    const missing = missingPath(subject);
    const [file] = subject.files;
    const absent = [missing, relative(process.cwd(), missing), ...(file === undefined ? [] : [`${file}/child.txt`])];
    for (const path of absent) {
      for (const name of FAILING) {
        const outcome = subject.call.sync(name, name === 'openSync' ? [path, 'r'] : [path]);
        if (!('error' in outcome)) say(`${name} does not fail`, path);
        else for (const problem of errorProblems(outcome.error, path)) say(`${name}: ${problem}`, path);
      }
    }
  },
};

/** What keeps an error from being shaped as an error of a system call. */
export function errorProblems(error: unknown, path?: string): readonly string[] {
  if (!(error instanceof Error)) return [`throws ${String(error)}, which is no Error`];
  const { code, errno, syscall, path: named, message } = error as NodeJS.ErrnoException;
  const problems: string[] = [];
  const number = (constants.errno as Readonly<Record<string, number>>)[code ?? ''];
  if (number === undefined) problems.push(`the error's code is ${JSON.stringify(code)}`);
  else if (errno !== -number) problems.push(`the errno of ${code} is ${errno} instead of ${-number}`);
  if (typeof syscall !== 'string' || syscall === '') problems.push(`the error's syscall is ${JSON.stringify(syscall)}`);
  if (path !== undefined && named !== path) problems.push(`the error's path is ${JSON.stringify(named)}`);
  if (!message.startsWith(`${code}: `)) problems.push(`the message does not begin with the code: ${message}`);
  if (path !== undefined && !message.includes(path)) problems.push(`the message does not name the path: ${message}`);
  return problems;
}

/** What another file system with the same tree says of a path, this one says too. */
export const oracle: Check = {
  needs: [],
  each: 'tree',
  async run(subject, root, say) {
    if (subject.oracle === undefined) return;
    const { fs, root: home } = subject.oracle;
    const here = { fs: subject.fs, call: subject.call, root };
    const there = { fs: fs as Subject['fs'], call: callerOf(fs, subject.patience), root: home };
    for (const operation of operations) {
      const ask = async (one: typeof here, path: string) => {
        const outcome = one.call.sync(operation.sync, [one.root + path.slice(root.length), ...operation.args]);
        return comparable(await settledFacts(operation, one, outcome), one.root);
      };
      for (const path of everyPath(subject)) {
        const unlike = difference(await ask(there, path), await ask(here, path));
        if (unlike !== undefined) say(`${operation.label}, there and here: ${unlike}`, path);
      }
    }
  },
};

/** Leaves out what two disks may differ in, and writes paths relative to the root. */
function comparable(facts: Facts, root: string, key = 'path'): Facts {
  if (typeof facts === 'string') {
    if (key === 'message') return facts.replaceAll(root, '<root>');
    return (key === 'path' || key === 'parentPath') && facts.startsWith(root)
      ? `<root>${facts.slice(root.length)}`
      : facts;
  }
  if (typeof facts !== 'object' || facts === null) return facts;
  if (!isRecord(facts)) {
    const items = facts.map((one) => comparable(one, root, 'item'));
    return items.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  }
  const { kind = null, size = null } = facts;
  if ('ino' in facts) return kind === 'file' ? { kind, size } : { kind };
  return Object.fromEntries(Object.entries(facts).map(([name, one]) => [name, comparable(one, root, name)]));
}
