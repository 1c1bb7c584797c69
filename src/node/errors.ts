import { getSystemErrorMap } from 'node:util';
import { isFault } from '../base/fault.ts';

/** What libuv says of each code: its error number (negative) and its description. */
const systemErrors = new Map([...getSystemErrorMap()].map(([errno, [code, text]]) => [code, { errno, text }]));

export interface SystemErrorOptions {
  /** Instead of libuv's description. */
  readonly detail?: string | undefined;
  readonly cause?: unknown;
  /** As the caller wrote it. */
  readonly path?: string | undefined;
  readonly dest?: string | undefined;
}

/** An error as Node gives it for a failed system call: `errno`, `code`, `syscall`, `path` and `dest` are its own. */
export function systemError(code: string, syscall: string, options: SystemErrorOptions = {}): NodeJS.ErrnoException {
  const { detail, cause, path, dest } = options;
  const { errno, text } = systemErrors.get(code) ?? { errno: 0, text: 'unknown error' };
  const where = path === undefined ? '' : ` '${path}'${dest === undefined ? '' : ` -> '${dest}'`}`;
  const error = new Error(
    `${code}: ${detail ?? text}, ${syscall}${where}`,
    cause === undefined ? undefined : { cause },
  );
  return Object.assign(error, {
    errno,
    code,
    syscall,
    ...(path !== undefined && { path }),
    ...(dest !== undefined && { dest }),
  });
}

/** A `Fault` as Node's error of that system call; every other error as it is. */
export function nodeError(error: unknown, syscall: string, path?: string, dest?: string): unknown {
  if (!isFault(error)) return error;
  return systemError(error.code, syscall, { detail: error.detail, cause: error.cause, path, dest });
}

/** Whether an error says that nothing is at the path. */
export function isAbsence(error: unknown): boolean {
  return isFault(error) && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}

/** What Node's functions fail with when their signal aborts. */
export class AbortError extends Error {
  readonly code = 'ABORT_ERR';
  override readonly name = 'AbortError';

  constructor(reason: unknown) {
    super('The operation was aborted', reason === undefined ? undefined : { cause: reason });
  }
}

/** An error of Node's own making, with one of its `ERR_` codes. */
export function codedError(code: string, message: string): NodeJS.ErrnoException {
  return Object.assign(new Error(message), { code });
}
