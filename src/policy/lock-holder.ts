import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** Who holds a lock. */
export interface Holder {
  /** Of this one holding; never used again. */
  readonly id: string;
  readonly pid: number;
  /** When the process started, as its operating system tells; empty where it does not. */
  readonly started: string;
  /** Where process ids mean the same. */
  readonly where: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/** Milliseconds after which a holder is taken for gone where its process cannot be asked after. */
const ELSEWHERE = 60_000;

export function thisProcess(): Pick<Holder, 'pid' | 'started' | 'where'> {
  return { pid: process.pid, started: processAt(process.pid)?.started ?? '', where: here() };
}

/** Whether the process that held a lock has ended, so that nothing will come of it any more. */
export function isGone({ pid, started, where, since }: Holder): boolean {
  if (where !== here()) return Date.now() - since > ELSEWHERE;
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
  const found = processAt(pid);
  // Another process may have got the number; and one that was killed keeps it until somebody asks how it ended.
  return found !== undefined && (found.ended || found.started !== started);
}

function processAt(pid: number): { readonly started: string; readonly ended: boolean } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The command in parentheses may hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { started: fields[19] ?? '', ended: fields[0] === 'Z' || fields[0] === 'X' };
  } catch {
    return undefined;
  }
}

function here(): string {
  try {
    return `${hostname()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}
