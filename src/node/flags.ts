import { constants } from 'node:fs';
import { Fault } from '../base/fault.ts';
import { checkedByNode } from './native.ts';

const { O_RDONLY, O_WRONLY, O_RDWR, O_CREAT, O_TRUNC } = constants;
/** Absent on systems that cannot ask for it. */
const { O_DIRECTORY = 0 } = constants as { O_DIRECTORY?: number };

/** Any of these wants to change something. */
const WRITES = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC;

/**
 * The flags of `open` as a number, where they only read; `undefined` where they ask to write.
 *
 * @param refuse Node's own function for these flags, given a path where nothing is
 * @throws what Node throws for flags it does not take
 */
export function readFlags(flags: unknown, refuse: () => unknown): number | undefined {
  if (flags === undefined || flags === null || flags === 'r' || flags === 'rs' || flags === 'sr') return O_RDONLY;
  checkedByNode(refuse);
  return typeof flags === 'number' && (flags & WRITES) === 0 ? flags : undefined;
}

/** @throws `Fault` EROFS for flags that ask to write */
export function assertReadable(flags: number | undefined): asserts flags is number {
  if (flags === undefined) throw new Fault('EROFS');
}

export function wantsDirectory(flags: number): boolean {
  return (flags & O_DIRECTORY) !== 0;
}
