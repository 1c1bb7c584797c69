import { Fault } from '../base/fault.ts';
import { onAbort } from '../base/on-abort.ts';
import type { CallOptions } from '../protocol/client.ts';
import { faultOf } from '../protocol/wire-errors.ts';

export interface Bounds {
  readonly label: string;
  /** What is under the deadline, as errors name it. */
  readonly asked: string;
  /** Milliseconds. */
  readonly ms: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs an exchange with a server under a deadline. The server is told when it is over: the exchange's signal aborts.
 *
 * @param exchange is given how many milliseconds are left, too
 * @throws `Fault` naming the server, ETIMEDOUT at the deadline; the signal's reason when it aborts first
 */
export async function within<T>(
  { label, asked, ms, signal }: Bounds,
  exchange: (options: CallOptions, left: () => number) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const abort = new AbortController();
  const until = performance.now() + ms;
  let timer: NodeJS.Timeout | undefined;
  let leave: (() => void) | undefined;
  const ended = new Promise<never>((_, reject) => {
    const end = (reason: unknown) => {
      reject(reason);
      abort.abort(reason);
    };
    const late = new Fault('ETIMEDOUT', { detail: `server "${label}": ${asked} took longer than ${ms} ms` });
    timer = setTimeout(end, ms, late);
    if (signal !== undefined) leave = onAbort(signal, () => end(signal.reason));
  });
  try {
    const left = () => Math.max(0, until - performance.now());
    return await Promise.race([exchange({ signal: abort.signal, timeout: ms }, left), ended]);
  } catch (error) {
    if (signal?.aborted === true) throw signal.reason;
    throw faultOf(error, label, asked);
  } finally {
    clearTimeout(timer);
    leave?.();
  }
}
