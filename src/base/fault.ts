/**
 * The POSIX codes the core reports. The `node:fs` facade turns a {@link Fault} into an error shaped as Node's own
 * (`code`, `errno`, `syscall`, `path`); nothing below the facade knows which call a program made.
 */
export type FaultCode =
  | 'EACCES'
  | 'EAGAIN'
  | 'EBADF'
  | 'EFBIG'
  | 'EHOSTUNREACH'
  | 'EINVAL'
  | 'EIO'
  | 'EISDIR'
  | 'ELOOP'
  | 'ENAMETOOLONG'
  | 'ENOENT'
  | 'ENOTDIR'
  | 'EPERM'
  | 'EROFS'
  | 'ETIMEDOUT';

export interface FaultOptions {
  /** What happened, to which server and file, and what to do about it. Left out where the code says it all. */
  readonly detail?: string;
  /** The error this one was made from. */
  readonly cause?: unknown;
}

/** A failed operation, before it is known by which system call and under which spelling of the path. */
export class Fault extends Error {
  override readonly name = 'Fault';
  readonly code: FaultCode;
  /** Absent where the code says it all (a plain ENOENT); the facade then uses Node's own wording. */
  readonly detail: string | undefined;

  constructor(code: FaultCode, options: FaultOptions = {}) {
    // A facade raises its own error with the caller's stack; a miss must not pay for a second one.
    const depth = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
    super(
      options.detail === undefined ? code : `${code}: ${options.detail}`,
      options.cause === undefined ? undefined : { cause: options.cause },
    );
    Error.stackTraceLimit = depth;
    this.code = code;
    this.detail = options.detail;
  }
}

export function isFault(value: unknown): value is Fault {
  return value instanceof Fault;
}
