import { Fault, type FaultCode } from '../../base/fault.ts';
import { VerificationError, type VerificationReason } from '../../content/verify.ts';
import type { HostPagerOptions } from '../host-pager.ts';
import type { PageRequest, PagerEvent } from '../port.ts';

/** What the worker is started with. Only config crosses a thread: no client, no function. */
export interface WorkerSetup {
  readonly pager: Omit<HostPagerOptions, 'dialects' | 'processes'> & {
    /** Whether skills are guessed among the resources of servers that say nothing of skills. */
    readonly probe: boolean;
  };
  readonly signals: SharedArrayBuffer;
  /** Requests whose caller sleeps until the answer is there. */
  readonly blocking: import('node:worker_threads').MessagePort;
  /** Requests whose caller goes on. */
  readonly awaiting: import('node:worker_threads').MessagePort;
}

export type ToWorker =
  | { readonly kind: 'request'; readonly id: number; readonly request: PageRequest }
  | { readonly kind: 'cancel'; readonly id: number }
  | { readonly kind: 'close'; readonly id: number };

export type Answer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly fault: WireFault };

/** Events come through the port of those who go on. */
export type FromWorker = Answer | { readonly event: PagerEvent };

/** Slots of the shared signals. */
export const SIGNAL = {
  /** Counts answers to blocked callers, and wakes them. */
  answers: 0,
  /** Counts on while the worker's event loop turns. */
  heartbeat: 1,
  /** Set when the worker left. */
  exited: 2,
  /** The first of the slots that hold process ids of running servers. */
  pids: 3,
} as const;

/** Server processes that can be named to the host at once. */
export const PID_SLOTS = 1024;

export const SIGNAL_BYTES = (SIGNAL.pids + PID_SLOTS) * Int32Array.BYTES_PER_ELEMENT;

/** Milliseconds between two heartbeats. */
export const HEARTBEAT = 50;

interface WireError {
  readonly name: string;
  readonly message: string;
  readonly code?: string | number;
  readonly reason?: VerificationReason;
  readonly uri?: string;
  readonly cause?: WireError;
}

export interface WireFault {
  readonly code: FaultCode;
  readonly detail?: string;
  readonly cause?: WireError;
}

/** A fault as plain data. Its causes keep name, message and code; a verification error stays one. */
export function faultToWire(fault: Fault): WireFault {
  return {
    code: fault.code,
    ...(fault.detail !== undefined && { detail: fault.detail }),
    ...(fault.cause instanceof Error && { cause: errorToWire(fault.cause) }),
  };
}

export function faultFromWire({ code, detail, cause }: WireFault): Fault {
  return new Fault(code, {
    ...(detail !== undefined && { detail }),
    ...(cause !== undefined && { cause: errorFromWire(cause) }),
  });
}

function errorToWire(error: Error, depth = 0): WireError {
  const { code } = error as { code?: unknown };
  return {
    name: error.name,
    message: error.message,
    ...((typeof code === 'string' || typeof code === 'number') && { code }),
    ...(error instanceof VerificationError && { reason: error.reason, uri: error.uri }),
    ...(error.cause instanceof Error && depth < 5 && { cause: errorToWire(error.cause, depth + 1) }),
  };
}

function errorFromWire({ name, message, code, reason, uri, cause }: WireError): Error {
  const options = cause === undefined ? undefined : { cause: errorFromWire(cause) };
  if (reason !== undefined) return new VerificationError(reason, uri ?? '', message, options);
  const error = new Error(message, options);
  error.name = name;
  return code === undefined ? error : Object.assign(error, { code });
}
