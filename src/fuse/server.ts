import { isFault } from '../base/fault.ts';
import type { ChangeSource } from '../node/context.ts';
import type { Driver, ReadFs } from '../vfs/read-fs.ts';
import { Connection } from './connection.ts';
import { EAGAIN, EINTR, ENOSYS, EROFS, errnoOf, Refusal } from './errno.ts';
import { invalidations } from './invalidation.ts';
import { NodeTable } from './nodes.ts';
import { type Answer, Operations } from './operations.ts';
import { WRITING } from './protocol/abi.ts';
import type { Owner } from './protocol/attributes.ts';
import { encodeInit } from './protocol/init.ts';
import type { Request, RequestHeader } from './protocol/request.ts';
import type { Provenance } from './provenance.ts';
import { rest } from './run.ts';

export interface FuseOptions extends Owner {
  /** The open `/dev/fuse` of a mount. */
  readonly fd: number;
  readonly core: ReadFs;
  readonly driver: Driver;
  /** The directory of the core that is the root of the file system. */
  readonly root: string;
  /** Without it the kernel notices changes when what it knows is too old. */
  readonly changes?: ChangeSource;
  /** Without it no content counts as verified, and there are no extended attributes. */
  readonly provenance?: Provenance;
  /** Told of every failure that a program sees as a mere number. Absence is none. */
  readonly report: (path: string, error: unknown) => void;
}

export interface FuseServer {
  /** Resolves when the kernel has said what it speaks. */
  readonly ready: Promise<void>;
  /** Resolves when the file system is unmounted and its last file is closed. */
  readonly ended: Promise<void>;
}

const UNKNOWN: Provenance = { digestOf: () => undefined, xattrsOf: () => new Map() };

/**
 * Answers the kernel for a mounted file system. Must not run in a process that uses the mount with synchronous calls, nor in
 * one whose thread pool such calls can fill: they would wait for themselves.
 */
export function serveFuse(options: FuseOptions): FuseServer {
  return new Server(options);
}

class Server implements FuseServer {
  readonly ready: Promise<void>;
  readonly ended: Promise<void>;
  readonly #options: FuseOptions;
  readonly #connection: Connection;
  readonly #nodes: NodeTable;
  readonly #operations: Operations;
  /** What is under way, by its request, so that it can be interrupted. */
  readonly #pending = new Map<number, AbortController>();
  #greeted = () => {};
  #notified: Promise<void> = Promise.resolve();

  constructor(options: FuseOptions) {
    const { fd, core, root, provenance = UNKNOWN, uid, gid } = options;
    this.#options = options;
    this.#connection = new Connection(fd);
    this.#nodes = new NodeTable(root);
    this.#operations = new Operations({ core, nodes: this.#nodes, owner: { uid, gid }, provenance });
    this.ready = new Promise((resolve) => (this.#greeted = resolve));
    const unsubscribe = options.changes?.subscribe((path) => this.#changed(path));
    this.ended = this.#connection
      .receive((header, request) => this.#handle(header, request))
      .finally(() => unsubscribe?.());
  }

  #handle(header: RequestHeader, request: Request): void {
    const { unique, opcode } = header;
    switch (request.kind) {
      case 'forget':
        for (const { node, lookups } of request.nodes) this.#nodes.forget(node, lookups);
        return;
      case 'interrupt':
        this.#interrupt(unique, request.unique);
        return;
      case 'init':
        this.#greet(unique, request);
        return;
      case 'other':
        this.#connection.fail(unique, WRITING.has(opcode) ? EROFS : ENOSYS);
        return;
      default:
        this.#begin(header, request);
    }
  }

  #greet(unique: number, request: Extract<Request, { kind: 'init' }>): void {
    const body = encodeInit(request);
    if (body === undefined) this.#connection.fail(unique, errnoOf(new Refusal('EPROTO')));
    else if (this.#connection.reply(unique, body)) this.#greeted();
  }

  /** What needs nothing to be fetched is answered at once, without a promise. */
  #begin(header: RequestHeader, request: Request): void {
    const op = this.#operations.answer(header.node, request);
    let begun: IteratorResult<unknown, Answer>;
    try {
      begun = op.next();
    } catch (error) {
      this.#failed(header, error);
      return;
    }
    if (begun.done) {
      this.#answer(header.unique, begun.value);
      return;
    }
    const abort = new AbortController();
    this.#pending.set(header.unique, abort);
    this.#options.driver
      .async(rest(op, begun), abort.signal)
      .then(
        (answer) => this.#answer(header.unique, answer),
        (error) => {
          if (abort.signal.aborted) this.#connection.fail(header.unique, EINTR);
          else this.#failed(header, error);
        },
      )
      .finally(() => this.#pending.delete(header.unique));
  }

  #answer(unique: number, { body, unsent }: Answer): void {
    if (!this.#connection.reply(unique, body)) unsent?.();
  }

  #failed({ unique, node }: RequestHeader, error: unknown): void {
    this.#connection.fail(unique, errnoOf(error));
    const expected = error instanceof Refusal || (isFault(error) && error.code === 'ENOENT');
    if (!expected) this.#options.report(this.#nodes.get(node)?.path ?? `node ${node}`, error);
  }

  /** An interrupt may come before the request it is for: then the kernel is told to send it again. */
  #interrupt(unique: number, interrupted: number): void {
    const pending = this.#pending.get(interrupted);
    if (pending === undefined) this.#connection.fail(unique, EAGAIN);
    else pending.abort();
  }

  /** One after the other: each holds a thread of Node's pool while the kernel waits. */
  #changed(path: string): void {
    this.#notified = this.#notified.then(async () => {
      try {
        for (const notification of invalidations(path, this.#options.core, this.#nodes)) {
          await this.#connection.notify(notification);
        }
      } catch (error) {
        this.#options.report(path, error);
      }
    });
  }
}
