import { constants } from 'node:os';
import { isFault } from '../base/fault.ts';

/** What a kernel request fails with that no operation of the core does. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: 'ENODATA' | 'ENOSYS' | 'EOPNOTSUPP' | 'EPROTO' | 'ERANGE' | 'ESTALE';

  constructor(code: Refusal['code']) {
    super(code);
    this.code = code;
  }
}

/** The error number (positive) that tells the kernel of an error; a code is the same as in the `node:fs` facade. */
export function errnoOf(error: unknown): number {
  const code = isFault(error) || error instanceof Refusal ? error.code : 'EIO';
  return constants.errno[code];
}

export const { EINTR, EAGAIN, ENOSYS, EROFS } = constants.errno;
