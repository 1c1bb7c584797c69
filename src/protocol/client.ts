import * as z from 'zod';
import { onAbort } from '../base/on-abort.ts';

/**
 * What is used of a connected client. Both SDK majors' `Client` classes fit as they are (`@modelcontextprotocol/sdk` 1.x
 * and `@modelcontextprotocol/client` 2.x): for a method the SDK does not know, both take a request, a result schema and
 * options (NEG-4). A client given by the host is never closed here.
 */
export interface McpClient {
  request(request: never, resultSchema: never, options?: never): Promise<unknown>;
  getServerCapabilities(): object | undefined;
  getServerVersion?(): { name: string; version: string } | undefined;
  getInstructions?(): string | undefined;
  getNegotiatedProtocolVersion?(): string | undefined;
  /** What the client is connected through, while it is. */
  readonly transport?: object | undefined;
  /** Opens a subscription (2026-07-28). */
  listen?(filter: { resourcesListChanged?: boolean }, options?: { signal?: AbortSignal }): Promise<Subscription>;
  /** A subscription that the client opened by itself. */
  readonly autoOpenedSubscription?: Subscription | undefined;
}

/** An open `subscriptions/listen`. */
export interface Subscription {
  readonly honoredFilter: { readonly resourcesListChanged?: boolean | undefined };
  readonly closed: Promise<unknown>;
}

export function isMcpClient(value: unknown): value is McpClient {
  const client = value as Partial<McpClient> | null;
  return (
    typeof client === 'object' &&
    client !== null &&
    typeof client.request === 'function' &&
    typeof client.getServerCapabilities === 'function'
  );
}

/** Bounds one call: when it may end at the latest, and who may end it before. */
export interface CallOptions {
  readonly signal: AbortSignal;
  /** Milliseconds. */
  readonly timeout: number;
}

/** Results are checked by whoever asked, field by field: a schema would cost a page for one bad entry. */
const anyResult = z.unknown();

/** Sends one request through a client of either SDK major and returns the result unchecked. */
export async function call(
  client: McpClient,
  method: string,
  params: Readonly<Record<string, unknown>>,
  options: CallOptions,
): Promise<unknown> {
  const request = client.request.bind(client) as (
    request: unknown,
    resultSchema: unknown,
    options: unknown,
  ) => Promise<unknown>;
  options.signal.throwIfAborted();
  // A signal for each request: SDK 1.x leaves its listener on it.
  const own = new AbortController();
  const leave = onAbort(options.signal, () => own.abort(options.signal.reason));
  try {
    // Our own deadline aborts the signal; the SDK's must not fire before it.
    return await request({ method, params }, anyResult, { signal: own.signal, timeout: options.timeout + 60_000 });
  } finally {
    leave();
  }
}
