import {
  MessageChannel,
  type MessagePort,
  receiveMessageOnPort,
  SHARE_ENV,
  Worker,
  type WorkerOptions,
} from 'node:worker_threads';
import { Fault } from '../../base/fault.ts';
import { onAbort } from '../../base/on-abort.ts';
import { settled } from '../../base/op.ts';
import { atExit } from '../at-exit.ts';
import { endProcess } from '../host-processes.ts';
import { keyOf, type PageReply, type PageRequest, type Pager, type PagerEvent } from '../port.ts';
import { singleFlight } from '../single-flight.ts';
import {
  type Answer,
  type FromWorker,
  faultFromWire,
  HEARTBEAT,
  PID_SLOTS,
  SIGNAL,
  SIGNAL_BYTES,
  type ToWorker,
  type WorkerSetup,
} from './messages.ts';
import { workerFile } from './worker-file.ts';

/** Milliseconds without a heartbeat after which a sleeping caller takes the worker for dead. */
const SILENCE = 1_000;

/** Milliseconds that an answer may be later than the worker's own deadline. */
const GRACE = 2_000;

export interface WorkerPagerOptions {
  readonly setup: WorkerSetup['pager'];
  /** Where the worker's code is, when it is not beside this module nor in an installed skillfs. */
  readonly file?: string | URL | undefined;
}

/** A pager in a thread of its own. It starts with the first request, and again with the next one after it died. */
export function workerPager(options: WorkerPagerOptions): Pager {
  let thread: Thread | undefined;
  let closed = false;
  const flight = singleFlight<unknown>();
  const listeners: ((event: PagerEvent) => void)[] = [];
  const tell = (event: PagerEvent) => {
    for (const listener of listeners) listener(event);
  };
  const running = (): Thread => {
    if (closed) throw new Fault('EIO', { detail: 'the mount is closed' });
    if (thread === undefined || thread.gone) thread = new Thread(options, tell);
    return thread;
  };
  return {
    async request<K extends PageRequest['kind']>(
      request: Extract<PageRequest, { kind: K }>,
      signal?: AbortSignal,
    ): Promise<PageReply[K]> {
      // Whoever waits for one answer gets the very same one, and only one copy of it crosses the thread.
      const answer = flight(keyOf(request), (shared) => running().ask({ kind: 'request', request }, shared), signal);
      return (await answer) as PageReply[K];
    },
    requestSync: (requests) => running().block(requests),
    onEvent(listener) {
      listeners.push(listener);
    },
    async close() {
      closed = true;
      await thread?.close();
    },
  };
}

type Question = { readonly kind: 'request'; readonly request: PageRequest } | { readonly kind: 'close' };

class Thread {
  readonly #worker: Worker;
  readonly #signals: Int32Array;
  readonly #blocking: MessagePort;
  readonly #awaiting: MessagePort;
  readonly #deadlines: WorkerSetup['pager']['deadlines'];
  /** Milliseconds that a request may wait for the shared store, beside. */
  readonly #sharedDeadline: number;
  readonly #atOnce: number;
  readonly #pending = new Map<number, { resolve: (value: unknown) => void; reject: (error: unknown) => void }>();
  readonly #forgetExit = atExit(() => endProcesses(this.#signals));
  #lastId = 0;
  #death: Fault | undefined;

  constructor({ setup, file }: WorkerPagerOptions, tell: (event: PagerEvent) => void) {
    const shared = new SharedArrayBuffer(SIGNAL_BYTES);
    const blocking = new MessageChannel();
    const awaiting = new MessageChannel();
    const data: WorkerSetup = { pager: setup, signals: shared, blocking: blocking.port2, awaiting: awaiting.port2 };
    this.#signals = new Int32Array(shared);
    this.#blocking = blocking.port1;
    this.#awaiting = awaiting.port1;
    this.#deadlines = setup.deadlines;
    this.#sharedDeadline = setup.shared?.deadline ?? 0;
    this.#atOnce = setup.concurrency.total;
    const code = workerFile(file);
    // Servers see the environment as it is when they start; hooks of the host are not the worker's.
    const options: WorkerOptions = {
      workerData: data,
      transferList: [blocking.port2, awaiting.port2],
      env: SHARE_ENV,
      execArgv: [],
    };
    this.#worker = withoutNodeOptions(() => new Worker(code, options));
    this.#worker.on('error', (error) => this.#died(error));
    this.#worker.on('exit', () => this.#died(undefined));
    this.#awaiting.on('message', (message: FromWorker) => {
      if ('event' in message) tell(message.event);
      else this.#settle(message);
    });
    this.#idle();
  }

  get gone(): boolean {
    return this.#death !== undefined || Atomics.load(this.#signals, SIGNAL.exited) === 1;
  }

  /** Asks and goes on; while an answer is due, the process stays alive for it. */
  async ask(question: Question, signal?: AbortSignal): Promise<unknown> {
    signal?.throwIfAborted();
    const id = ++this.#lastId;
    const cancel = () => {
      this.#awaiting.postMessage({ kind: 'cancel', id } satisfies ToWorker);
      this.#pending.get(id)?.reject(signal?.reason);
    };
    const answer = new Promise((resolve, reject) => this.#pending.set(id, { resolve, reject }));
    const leave = signal && onAbort(signal, cancel);
    this.#awaiting.postMessage({ ...question, id } satisfies ToWorker);
    this.#busy();
    try {
      return await answer;
    } finally {
      leave?.();
      this.#pending.delete(id);
      if (this.#pending.size === 0) this.#idle();
    }
  }

  /**
   * Asks and sleeps until all answers are there. A request ends with ETIMEDOUT at its deadline.
   *
   * @throws `Fault` EIO when the worker died
   */
  block(requests: readonly PageRequest[]): readonly PromiseSettledResult<unknown>[] {
    const first = this.#lastId + 1;
    this.#lastId += requests.length;
    for (const [index, request] of requests.entries()) {
      this.#blocking.postMessage({ kind: 'request', id: first + index, request } satisfies ToWorker);
    }
    const outcomes: PromiseSettledResult<unknown>[] = [];
    let missing = requests.length;
    const until = performance.now() + this.#patienceFor(requests);
    let beat = Atomics.load(this.#signals, SIGNAL.heartbeat);
    let alive = performance.now() + STARTUP;
    for (;;) {
      const answers = Atomics.load(this.#signals, SIGNAL.answers);
      for (let got = receiveMessageOnPort(this.#blocking); got; got = receiveMessageOnPort(this.#blocking)) {
        const message = got.message as Answer;
        // An answer to a call that gave up earlier may still come in.
        if (message.id < first) continue;
        outcomes[message.id - first] = settled(() => unwrapped(message));
        missing--;
      }
      if (missing === 0) return outcomes;
      const now = performance.now();
      const beats = Atomics.load(this.#signals, SIGNAL.heartbeat);
      if (beats !== beat) {
        beat = beats;
        alive = now + SILENCE;
      }
      if (Atomics.load(this.#signals, SIGNAL.exited) === 1 || now > alive) throw this.#died(undefined);
      if (now > until) return this.#giveUp(requests, first, outcomes);
      Atomics.wait(this.#signals, SIGNAL.answers, answers, HEARTBEAT);
    }
  }

  /** Milliseconds within which the worker's own deadlines have ended all of the requests, however they queue. */
  #patienceFor(requests: readonly PageRequest[]): number {
    const { connect, list, request } = this.#deadlines;
    const longest = requests.some(({ kind }) => kind === 'list') ? list : request;
    return (connect + longest) * Math.ceil(requests.length / this.#atOnce) + this.#sharedDeadline + GRACE;
  }

  #giveUp(
    requests: readonly PageRequest[],
    first: number,
    outcomes: readonly PromiseSettledResult<unknown>[],
  ): readonly PromiseSettledResult<unknown>[] {
    return requests.map(({ label }, index) => {
      const outcome = outcomes[index];
      if (outcome !== undefined) return outcome;
      this.#blocking.postMessage({ kind: 'cancel', id: first + index } satisfies ToWorker);
      const reason = new Fault('ETIMEDOUT', { detail: `server "${label}": no answer within its deadline` });
      return { status: 'rejected', reason };
    });
  }

  async close(): Promise<void> {
    if (!this.gone) await this.ask({ kind: 'close' }).catch(() => undefined);
    this.#forgetExit();
    await this.#worker.terminate();
  }

  #settle(message: Answer): void {
    const waiting = this.#pending.get(message.id);
    try {
      waiting?.resolve(unwrapped(message));
    } catch (error) {
      waiting?.reject(error);
    }
  }

  /** Nobody waits for a dead worker; the servers it had started are ended with it. */
  #died(cause: unknown): Fault {
    if (this.#death === undefined) {
      const why = cause instanceof Error ? `: ${cause.message}` : '';
      const detail = `the worker that talks to the servers ended${why}; the next call starts another`;
      this.#death = new Fault('EIO', { detail, cause });
      endProcesses(this.#signals);
      this.#forgetExit();
      void this.#worker.terminate();
    }
    for (const { reject } of this.#pending.values()) reject(this.#death);
    return this.#death;
  }

  #busy(): void {
    this.#worker.ref();
    this.#awaiting.ref();
  }

  #idle(): void {
    this.#worker.unref();
    this.#awaiting.unref();
    this.#blocking.unref();
  }
}

/** A worker takes its options from the environment at the moment it is made. */
function withoutNodeOptions<T>(make: () => T): T {
  const NODE_OPTIONS = process.env['NODE_OPTIONS'];
  if (NODE_OPTIONS === undefined) return make();
  delete process.env['NODE_OPTIONS'];
  try {
    return make();
  } finally {
    process.env['NODE_OPTIONS'] = NODE_OPTIONS;
  }
}

/** Milliseconds a worker may take to give its first heartbeat. */
const STARTUP = 15_000;

function unwrapped(message: Answer): unknown {
  if ('fault' in message) throw faultFromWire(message.fault);
  return message.value;
}

/** Servers end at the end of their input; one that does not is told so. */
function endProcesses(signals: Int32Array): void {
  for (let slot = SIGNAL.pids; slot < SIGNAL.pids + PID_SLOTS; slot++) {
    const pid = Atomics.exchange(signals, slot, 0);
    if (pid !== 0) endProcess(pid);
  }
}
