import { LISTEN_AGAIN } from '../base/limits.ts';
import type { McpClient } from './client.ts';
import { isRefusal } from './wire-errors.ts';

/** Notifications that say that a listing may be another one now. */
const CHANGES: ReadonlySet<unknown> = new Set([
  'notifications/resources/list_changed',
  'notifications/resources/updated',
]);

type Receive = (this: unknown, message: unknown, ...rest: unknown[]) => unknown;

/**
 * Calls `changed` whenever the server says that its resources changed, on either protocol era, and after a gap in which it
 * could not have said so. The client's own handlers stay in place and see everything: messages are overheard at the
 * transport, for a client has one handler per notification, and that is the host's to set.
 *
 * @param signal ends it
 */
export function listenForChanges(client: McpClient, changed: () => void, signal: AbortSignal): void {
  overhear(client, changed, signal);
  if (takesSubscriptions(client)) void keepSubscribed(client, changed, signal);
}

function overhear({ transport }: McpClient, changed: () => void, signal: AbortSignal): void {
  const heard = transport as Heard | undefined;
  const receive = heard?.onmessage;
  if (heard === undefined || receive === undefined) return;
  const known = taps.get(heard);
  const tap = known?.receive === receive ? known : startTap(heard, receive);
  const listener = { changed };
  tap.listeners.add(listener);
  const leave = () => {
    tap.listeners.delete(listener);
    if (tap.listeners.size === 0 && heard.onmessage === tap.receive) heard.onmessage = tap.before;
  };
  signal.addEventListener('abort', leave, { once: true });
}

interface Heard {
  onmessage?: Receive | undefined;
}

/** One tap on a transport, for all who listen to one client: they leave in any order. */
interface Tap {
  readonly listeners: Set<{ readonly changed: () => void }>;
  readonly receive: Receive;
  readonly before: Receive;
}

const taps = new WeakMap<Heard, Tap>();

function startTap(heard: Heard, before: Receive): Tap {
  const listeners: Tap['listeners'] = new Set();
  const receive: Receive = function (message, ...rest) {
    if (CHANGES.has((message as { method?: unknown } | null)?.method)) {
      for (const { changed } of listeners) changed();
    }
    return before.call(this, message, ...rest);
  };
  const tap = { listeners, receive, before };
  taps.set(heard, tap);
  heard.onmessage = receive;
  return tap;
}

/** On 2026-07-28 a server speaks of changes only to who subscribed; where it declares to speak of them at all. */
function takesSubscriptions(client: McpClient): client is McpClient & Required<Pick<McpClient, 'listen'>> {
  const version = client.getNegotiatedProtocolVersion?.();
  const { resources } = (client.getServerCapabilities() ?? {}) as { resources?: { listChanged?: boolean } };
  const already = client.autoOpenedSubscription?.honoredFilter.resourcesListChanged === true;
  return (
    client.listen !== undefined &&
    version !== undefined &&
    version >= '2026' &&
    resources?.listChanged === true &&
    !already
  );
}

async function keepSubscribed(
  client: Required<Pick<McpClient, 'listen'>>,
  changed: () => void,
  signal: AbortSignal,
): Promise<void> {
  let wait: number = LISTEN_AGAIN.first;
  for (let first = true; !signal.aborted; first = false) {
    const since = performance.now();
    try {
      const subscription = await client.listen({ resourcesListChanged: true }, { signal });
      if (!first) changed();
      await subscription.closed;
    } catch (error) {
      if (isRefusal(error)) return;
    }
    wait = performance.now() - since > LISTEN_AGAIN.most ? LISTEN_AGAIN.first : Math.min(wait * 2, LISTEN_AGAIN.most);
    await pause(wait / 2, signal);
  }
}

/** A pause that keeps no process alive. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    (timer as { unref?: () => void }).unref?.();
    if (signal.aborted) done();
    else signal.addEventListener('abort', done);
  });
}
