interface Waiting {
  readonly callbacks: Set<{ readonly call: () => void }>;
  readonly aborted: () => void;
}

const waiting = new WeakMap<AbortSignal, Waiting>();

/**
 * Calls back when a signal aborts, which it must not have yet. However many wait for one signal, it has one listener of ours: of
 * more than a few, platforms say that they leak.
 *
 * @returns a function that ends the waiting
 */
export function onAbort(signal: AbortSignal, call: () => void): () => void {
  const { callbacks, aborted } = waiting.get(signal) ?? startWaiting(signal);
  const callback = { call };
  callbacks.add(callback);
  return () => {
    callbacks.delete(callback);
    if (callbacks.size > 0 || waiting.get(signal)?.callbacks !== callbacks) return;
    waiting.delete(signal);
    signal.removeEventListener('abort', aborted);
  };
}

function startWaiting(signal: AbortSignal): Waiting {
  const callbacks: Waiting['callbacks'] = new Set();
  const aborted = () => {
    waiting.delete(signal);
    for (const { call } of callbacks) call();
  };
  waiting.set(signal, { callbacks, aborted });
  signal.addEventListener('abort', aborted, { once: true });
  return { callbacks, aborted };
}
