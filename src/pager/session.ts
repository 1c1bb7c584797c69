import type { LimitFunction } from 'p-limit';
import { Fault } from '../base/fault.ts';
import { bytesOf, VerificationError, verifyBytes } from '../content/verify.ts';
import { type CallOptions, isMcpClient, type McpClient } from '../protocol/client.ts';
import { type Connection, connect, type ServerConfig } from '../protocol/connect.ts';
import type { DialectFactory } from '../protocol/dialect.ts';
import { DialectChoice } from '../protocol/dialect-choice.ts';
import { walkResources } from '../protocol/resources.ts';
import { complete, completes, listTemplates } from '../protocol/templates.ts';
import { faultOf } from '../protocol/wire-errors.ts';
import type { Negotiated, PageReply, PageRequest } from './port.ts';

/** Deadlines in milliseconds. */
export interface Deadlines {
  readonly connect: number;
  readonly request: number;
  readonly list: number;
}

/** Told when a stdio server's process starts and ends. */
export interface ProcessObserver {
  started(pid: number): void;
  ended(pid: number): void;
}

export interface SessionOptions {
  readonly label: string;
  /** How to reach the server, or a connected client of the host's, which is never closed here. */
  readonly source: ServerConfig | McpClient;
  readonly dialects: readonly DialectFactory[];
  readonly deadlines: Deadlines;
  /** Bounds the requests under way at once; waiting for a place does not count against a deadline. */
  readonly limit: LimitFunction;
  readonly processes?: ProcessObserver;
}

interface Open {
  readonly choice: DialectChoice;
  readonly negotiated: Negotiated;
  readonly close: () => Promise<void>;
}

/** One server: connects when first asked, again after the connection ended, and puts each question under a deadline. */
export class Session {
  readonly #options: SessionOptions;
  #open: Promise<Open> | undefined;
  #closed = false;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  async answer(request: PageRequest, signal: AbortSignal): Promise<PageReply[PageRequest['kind']]> {
    const open = await this.#connected();
    signal.throwIfAborted();
    const { choice } = open;
    if (request.kind === 'connect') return { ...open.negotiated, ...choice.spoken };
    const { deadlines, limit } = this.#options;
    const dialect = choice.current;
    if (request.kind === 'list') {
      const asked = dialect === undefined || dialect.name === 'skills' ? 'skills/list' : `listing (${dialect.name})`;
      return limit(() => this.#within(deadlines.list, asked, signal, (options) => choice.list(options)));
    }
    if (request.kind === 'resources') {
      return limit(() =>
        this.#within(deadlines.list, 'resources/list', signal, (options) => walkResources(choice.client, options)),
      );
    }
    if (request.kind === 'templates') {
      return limit(() =>
        this.#within(deadlines.list, 'resources/templates/list', signal, (options) =>
          listTemplates(choice.client, options),
        ),
      );
    }
    if (request.kind === 'complete') {
      return limit(() =>
        this.#within(deadlines.request, `completion/complete ${request.uri}`, signal, (options) =>
          complete(choice.client, request.question, options),
        ),
      );
    }
    if (dialect === undefined) return undefined;
    switch (request.kind) {
      case 'get':
        return limit(() =>
          this.#within(deadlines.request, `skills/get ${request.uri}`, signal, (options) =>
            dialect.get(request.uri, options),
          ),
        );
      case 'directory':
        return limit(() =>
          this.#within(deadlines.request, `resources/directory/read ${request.uri}`, signal, async (options) =>
            (dialect.readDirectory ?? dialect.findChildren)?.call(dialect, request.uri, options),
          ),
        );
      case 'blob': {
        const { uri, expected } = request;
        const result = await limit(() =>
          this.#within(deadlines.request, `resources/read ${uri}`, signal, (options) => dialect.read(uri, options)),
        );
        return result === undefined ? undefined : this.#verified(result, uri, expected);
      }
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    const open = await this.#open?.catch(() => undefined);
    await open?.close();
  }

  #connected(): Promise<Open> {
    if (this.#closed) throw new Fault('EIO', { detail: `server "${this.#options.label}": the mount is closed` });
    if (this.#open === undefined) {
      const opening = this.#connect();
      this.#open = opening;
      opening.catch(() => {
        if (this.#open === opening) this.#open = undefined;
      });
    }
    return this.#open;
  }

  async #connect(): Promise<Open> {
    const { source, deadlines, processes } = this.#options;
    const started = performance.now();
    if (isMcpClient(source)) return this.#describe(source, started, async () => {});
    const connection = await this.#within(deadlines.connect, 'connecting', undefined, (options) =>
      connect(source, options),
    );
    const { pid } = connection;
    if (pid !== undefined) processes?.started(pid);
    const close = async () => {
      await connection.close();
      if (pid !== undefined) processes?.ended(pid);
    };
    this.#forgetWhenClosed(connection);
    try {
      return await this.#describe(connection.client, started, close);
    } catch (error) {
      await close().catch(() => undefined);
      throw error;
    }
  }

  /** The next question after the connection ended opens a new one. */
  #forgetWhenClosed(connection: Connection): void {
    const current = this.#open;
    connection.onClose(() => {
      if (this.#open === current) this.#open = undefined;
      if (connection.pid !== undefined) this.#options.processes?.ended(connection.pid);
    });
  }

  async #describe(client: McpClient, started: number, close: () => Promise<void>): Promise<Open> {
    const { dialects, deadlines } = this.#options;
    const choice = await this.#within(deadlines.connect, 'finding out how it serves skills', undefined, (options) =>
      DialectChoice.make(client, dialects, options),
    );
    const protocolVersion = client.getNegotiatedProtocolVersion?.();
    const serverInfo = client.getServerVersion?.();
    const instructions = client.getInstructions?.();
    return {
      choice,
      close,
      negotiated: {
        ...(protocolVersion !== undefined && { protocolVersion }),
        ...(serverInfo !== undefined && { serverInfo: { name: serverInfo.name, version: serverInfo.version } }),
        ...(instructions !== undefined && { instructions }),
        completes: completes(client),
        tookMs: performance.now() - started,
      },
    };
  }

  #verified(result: unknown, uri: string, expected: { size: number; digest: string } | undefined): Uint8Array {
    try {
      const bytes = bytesOf(result, uri);
      if (expected !== undefined) verifyBytes(bytes, expected, uri);
      return bytes;
    } catch (error) {
      if (!(error instanceof VerificationError)) throw error;
      throw new Fault('EIO', { detail: `server "${this.#options.label}": ${error.message}`, cause: error });
    }
  }

  /** Runs one exchange under a deadline; every failure comes out as a fault that names the server. */
  async #within<T>(
    ms: number,
    asked: string,
    signal: AbortSignal | undefined,
    exchange: (options: CallOptions) => Promise<T>,
  ): Promise<T> {
    const { label } = this.#options;
    const abort = new AbortController();
    const leave = () => abort.abort(signal?.reason);
    signal?.addEventListener('abort', leave, { once: true });
    const late = new Fault('ETIMEDOUT', { detail: `server "${label}": ${asked} took longer than ${ms} ms` });
    let timer: NodeJS.Timeout | undefined;
    const deadline = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(late);
        abort.abort(late);
      }, ms);
    });
    try {
      return await Promise.race([exchange({ signal: abort.signal, timeout: ms }), deadline]);
    } catch (error) {
      if (signal?.aborted === true) throw signal.reason;
      throw faultOf(error, label, asked);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', leave);
    }
  }
}
