import type { JSONRPCMessage, MessageExtraInfo, Transport } from '@modelcontextprotocol/server';
import { pathOf } from './memory-source.ts';

/** What a server was asked. */
export interface ServerRequest {
  readonly method: string;
  /** Of the skill, file or directory asked about, as the client spelled it. */
  readonly uri?: string;
}

/**
 * What goes wrong at a server, from the call on and for requests that come later. A *target* is a method (`skills/list`),
 * a URI (`skill://acme/refunds/SKILL.md`) or the path of a file (`acme/refunds/SKILL.md`).
 */
export interface Faults {
  /** Each request waits so many milliseconds before the server sees it. 0 ends that. */
  delay(ms: number): void;
  /** Requests of the target are never answered; others are. */
  drop(target: string): void;
  /** Requests of the target are answered with a JSON-RPC error: -32602 for absence, -32603 for a failure (ERR-1). */
  fail(target: string, code: number, message?: string): void;
  /** The file is served as `change` makes it, while its entry goes on saying what it was: a mismatch (VER-1). */
  tamper(file: string, change: (bytes: Uint8Array) => Uint8Array | string): void;
  /** Listings have the first `count` skills only; the others can still be got by URI (LST-2). */
  partialList(count: number): void;
  /** Nothing is answered any more, and the connection stays open. */
  hang(): void;
  /** The connection ends, as if the server's process had. Not undone by {@link Faults.reset}. */
  crash(): Promise<void>;
  /** Undoes every fault but a crash. Requests that were dropped stay unanswered. */
  reset(): void;
}

type Failure = { readonly code: number; readonly message: string };

/** The faults in force. */
export class FaultSwitches implements Faults {
  #delay = 0;
  #hanging = false;
  #listed = Number.POSITIVE_INFINITY;
  readonly #dropped = new Set<string>();
  readonly #failures = new Map<string, Failure>();
  readonly #tampered = new Map<string, (bytes: Uint8Array) => Uint8Array | string>();
  readonly #crash: () => Promise<void>;

  constructor(crash: () => Promise<void>) {
    this.#crash = crash;
  }

  delay(ms: number): void {
    this.#delay = ms;
  }

  drop(target: string): void {
    this.#dropped.add(target);
  }

  fail(target: string, code: number, message = `${target} fails`): void {
    this.#failures.set(target, { code, message });
  }

  tamper(file: string, change: (bytes: Uint8Array) => Uint8Array | string): void {
    this.#tampered.set(pathOf(file) ?? file, change);
  }

  partialList(count: number): void {
    this.#listed = count;
  }

  hang(): void {
    this.#hanging = true;
  }

  crash(): Promise<void> {
    return this.#crash();
  }

  reset(): void {
    this.#delay = 0;
    this.#hanging = false;
    this.#listed = Number.POSITIVE_INFINITY;
    this.#dropped.clear();
    this.#failures.clear();
    this.#tampered.clear();
  }

  /** How many entries a listing has at most. */
  get listed(): number {
    return this.#listed;
  }

  serve(path: string, bytes: Uint8Array): Uint8Array {
    const changed = this.#tampered.get(path)?.(Uint8Array.from(bytes)) ?? bytes;
    return typeof changed === 'string' ? new TextEncoder().encode(changed) : changed;
  }

  /** What becomes of a request: an error is its answer, `drop` leaves it unanswered, a number is how long it waits. */
  verdict(request: ServerRequest): Failure | 'drop' | number {
    if (this.#hanging) return 'drop';
    const { method, uri } = request;
    const targets = [method, ...(uri === undefined ? [] : [uri, pathOf(uri) ?? uri])];
    if (targets.some((target) => this.#dropped.has(target))) return 'drop';
    for (const target of targets) {
      const failure = this.#failures.get(target);
      if (failure !== undefined) return failure;
    }
    return this.#delay;
  }
}

/** A server's end of a connection, with faults in it; writes down every request that comes in. */
export class FaultyTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: <T extends JSONRPCMessage>(message: T, extra?: MessageExtraInfo) => void;
  readonly #inner: Transport;
  readonly #switches: FaultSwitches;
  readonly #requests: ServerRequest[];

  constructor(inner: Transport, switches: FaultSwitches, requests: ServerRequest[]) {
    this.#inner = inner;
    this.#switches = switches;
    this.#requests = requests;
  }

  start(): Promise<void> {
    this.#inner.onmessage = (message, extra) => this.#receive(message, extra);
    this.#inner.onclose = () => this.onclose?.();
    this.#inner.onerror = (error) => this.onerror?.(error);
    return this.#inner.start();
  }

  send(message: JSONRPCMessage): Promise<void> {
    return this.#inner.send(message);
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  #receive(message: JSONRPCMessage, extra: MessageExtraInfo | undefined): void {
    if (!('method' in message && 'id' in message)) {
      this.onmessage?.(message, extra);
      return;
    }
    const { id, method, params } = message;
    const uri = params?.['uri'];
    const request = { method, ...(typeof uri === 'string' && { uri }) };
    this.#requests.push(request);
    const verdict = this.#switches.verdict(request);
    if (verdict === 'drop') return;
    if (typeof verdict === 'object') void this.send({ jsonrpc: '2.0', id, error: { ...verdict } });
    else if (verdict === 0) this.onmessage?.(message, extra);
    else setTimeout(() => this.onmessage?.(message, extra), verdict);
  }
}
