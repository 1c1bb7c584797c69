import { type MessagePort, type TransferListItem, workerData } from 'node:worker_threads';
import { Fault, isFault } from '../../base/fault.ts';
import { loadShared } from '../../content/shared/open.ts';
import { dialectsTried } from '../../protocol/dialects/index.ts';
import { hostPager } from '../host-pager.ts';
import type { PageRequest } from '../port.ts';
import {
  type Answer,
  type FromWorker,
  faultToWire,
  HEARTBEAT,
  PID_SLOTS,
  SIGNAL,
  type ToWorker,
  type WorkerSetup,
} from './messages.ts';

// The pager of servers given as config, in a thread of its own, so that a caller may sleep while it works.
const { pager: options, signals: shared, blocking, awaiting } = workerData as WorkerSetup;
const signals = new Int32Array(shared);
const processes = new Map<number, number>();

const pager = hostPager({
  ...options,
  dialects: dialectsTried(options.probe),
  processes: {
    started(pid) {
      for (let slot = SIGNAL.pids; slot < SIGNAL.pids + PID_SLOTS; slot++) {
        if (Atomics.compareExchange(signals, slot, 0, pid) === 0) {
          processes.set(pid, slot);
          return;
        }
      }
    },
    ended(pid) {
      const slot = processes.get(pid);
      if (slot !== undefined) Atomics.store(signals, slot, 0);
      processes.delete(pid);
    },
  },
});

// What keeps the thread busy while it is loaded is, before somebody waits for its heartbeat.
await Promise.all([import('../../protocol/connect.ts'), import('../../protocol/dialects/skills.ts')]);
if (options.shared !== undefined) await loadShared(options.shared);
setInterval(() => Atomics.add(signals, SIGNAL.heartbeat, 1), HEARTBEAT);
process.on('exit', () => {
  Atomics.store(signals, SIGNAL.exited, 1);
  Atomics.notify(signals, SIGNAL.answers);
});

pager.onEvent((event) => awaiting.postMessage({ event } satisfies FromWorker));
serve(awaiting, () => {});
serve(blocking, () => {
  Atomics.add(signals, SIGNAL.answers, 1);
  Atomics.notify(signals, SIGNAL.answers);
});

function serve(port: MessagePort, answered: () => void): void {
  const pending = new Map<number, AbortController>();
  const answer = (reply: Answer, transfer: readonly TransferListItem[] = []) => {
    port.postMessage(reply, transfer);
    answered();
  };
  port.on('message', async (message: ToWorker) => {
    const { id } = message;
    if (message.kind === 'cancel') {
      pending.get(id)?.abort();
      return;
    }
    const abort = new AbortController();
    pending.set(id, abort);
    try {
      const value = message.kind === 'close' ? await pager.close() : await fetch(message.request, abort.signal);
      answer({ id, value }, value instanceof Uint8Array ? [value.buffer as ArrayBuffer] : []);
    } catch (error) {
      answer({
        id,
        fault: faultToWire(isFault(error) ? error : new Fault('EIO', { detail: String(error), cause: error })),
      });
    } finally {
      pending.delete(id);
    }
  });
}

async function fetch(request: PageRequest, signal: AbortSignal): Promise<unknown> {
  const value = await pager.request(request, signal);
  // A small Buffer is a view of a pool that others read: what is transferred must be its own.
  return value instanceof Uint8Array ? new Uint8Array(value) : value;
}
