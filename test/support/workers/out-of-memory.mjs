// A worker that runs out of memory soon after it is asked for something: nothing in it can tell of its end.
import { workerData } from 'node:worker_threads';

const signals = new Int32Array(workerData.signals);
setInterval(() => Atomics.add(signals, 1, 1), 20);
for (const port of [workerData.blocking, workerData.awaiting]) {
  port.on('message', () =>
    setTimeout(() => {
      const held = [];
      for (;;) held.push(new Array(1_000_000).fill(held.length));
    }, 200),
  );
}
