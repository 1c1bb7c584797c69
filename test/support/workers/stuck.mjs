// A worker whose loop stops turning soon after it is asked for something.
import { workerData } from 'node:worker_threads';

const signals = new Int32Array(workerData.signals);
setInterval(() => Atomics.add(signals, 1, 1), 20);
for (const port of [workerData.blocking, workerData.awaiting]) {
  port.on('message', () =>
    setTimeout(() => {
      for (;;);
    }, 200),
  );
}
