import { constants as system } from 'node:os';
import { resolve } from 'node:path';
import { codedError } from './errors.ts';

/** Something to copy, and where to. */
export interface Copy {
  readonly from: string;
  readonly to: string;
}

/** Node's own refusals of `cp`: what they begin with, the code they stand for, and what they say. */
const CP_ERRORS = {
  ERR_FS_EISDIR: ['Path is a directory', 'EISDIR', ({ from }: Copy) => `${from} is a directory (not copied)`],
  ERR_FS_CP_DIR_TO_NON_DIR: [
    'Cannot overwrite non-directory with directory',
    'EISDIR',
    ({ from, to }: Copy) => `cannot overwrite non-directory ${to} with directory ${from}`,
  ],
  ERR_FS_CP_NON_DIR_TO_DIR: [
    'Cannot overwrite directory with non-directory',
    'ENOTDIR',
    ({ from, to }: Copy) => `cannot overwrite directory ${to} with non-directory ${from}`,
  ],
  ERR_FS_CP_EINVAL: [
    'Invalid src or dest',
    'EINVAL',
    ({ from, to }: Copy) =>
      resolve(from) === resolve(to)
        ? 'src and dest cannot be the same'
        : `cannot copy ${from} onto or into itself, to ${to}`,
  ],
  ERR_FS_CP_EEXIST: ['Target already exists', 'EEXIST', ({ to }: Copy) => `${to} already exists`],
} as const;

export function cpError(code: keyof typeof CP_ERRORS, copy: Copy): Error {
  const [prefix, means, say] = CP_ERRORS[code];
  const message = say(copy);
  const path = code === 'ERR_FS_EISDIR' ? copy.from : copy.to;
  const info = { message, path, syscall: 'cp', errno: system.errno[means], code: means };
  const error = codedError(code, `${prefix}: cp returned ${means} (${message}) ${path}`);
  Object.defineProperty(error, 'name', { value: 'SystemError', configurable: true, writable: true });
  return Object.assign(error, { info, errno: info.errno, syscall: 'cp', path });
}

export function filterError(): Error {
  const message = 'Expected boolean to be returned from the "filter" function but got an instance of Promise.';
  return Object.assign(new TypeError(message), { code: 'ERR_INVALID_RETURN_VALUE' });
}
