import { Fault } from '../base/fault.ts';
import { listenForChanges } from '../protocol/changes.ts';
import { type CallOptions, isMcpClient, type McpClient } from '../protocol/client.ts';
import type { Connection } from '../protocol/connect.ts';
import type { DialectFactory } from '../protocol/dialect.ts';
import { DialectChoice } from '../protocol/dialect-choice.ts';
import type { ProcessObserver } from '../protocol/processes.ts';
import type { ServerConfig } from '../protocol/server-config.ts';
import { completes } from '../protocol/templates.ts';
import { within } from './deadline.ts';
import type { Place } from './places.ts';
import type { Negotiated } from './port.ts';

export interface ConnectorOptions {
  readonly label: string;
  /** How to reach the server, or a connected client of the host's, which is never closed here. */
  readonly source: ServerConfig | McpClient;
  readonly dialects: readonly DialectFactory[];
  readonly deadlines: { readonly connect: number };
  /** Bounds the connections in the making; waiting for a place does not count against the deadline. */
  readonly connecting: Place;
  readonly processes?: ProcessObserver;
  /** Whether to listen to what the server says of changes. */
  readonly listen: boolean;
  /** The server says that it changed, or was not listened to for a while. */
  readonly changed: () => void;
  /** The connection ended from the other side. */
  readonly lost: () => void;
}

/** An open connection, and what is spoken over it. */
export interface Open {
  readonly choice: DialectChoice;
  readonly negotiated: Negotiated;
  /** Whether the server knows the connection by a session, which it may forget. */
  readonly hasSession: boolean;
  /** Whether another one can be opened after it ended. */
  readonly reopens: boolean;
  /** What the server did to have the connection ended, where that is known. */
  brokenBy(): Error | undefined;
  /** Whether something can still be sent over it. */
  isAlive(): boolean;
  close(): Promise<void>;
}

/** Keeps one server's connection: opened when first needed, and anew when needed after it ended. */
export class Connector {
  readonly #options: ConnectorOptions;
  readonly #closing = new AbortController();
  #opening: Promise<Open> | undefined;
  #current: Open | undefined;
  /** Whether there was a connection before. */
  #again = false;

  constructor(options: ConnectorOptions) {
    this.#options = options;
  }

  /** @throws `Fault` EHOSTUNREACH, ETIMEDOUT, EACCES, EIO; EIO when closed */
  open(): Promise<Open> {
    const { label, source } = this.#options;
    if (this.#closing.signal.aborted) throw new Fault('EIO', { detail: `server "${label}": the mount is closed` });
    // A client of the host's may have been connected anew, perhaps to a server that speaks otherwise.
    if (isMcpClient(source) && this.#current?.isAlive() === false && source.transport !== undefined) {
      void this.drop(this.#current);
    }
    if (this.#opening === undefined) {
      const opening = isMcpClient(source) ? this.#adopt(source) : this.#connect(source);
      this.#opening = opening;
      opening.then(
        (open) => {
          if (this.#opening === opening) this.#current = open;
          if (this.#again) this.#options.changed();
          this.#again = true;
        },
        () => {
          if (this.#opening === opening) this.#opening = undefined;
        },
      );
    }
    return this.#opening;
  }

  /** Ends a connection that is of no use any more; the next question opens another. */
  async drop(open: Open): Promise<void> {
    if (this.#current !== open) return;
    this.#current = undefined;
    this.#opening = undefined;
    await open.close().catch(() => undefined);
  }

  async close(): Promise<void> {
    this.#closing.abort(new Fault('EIO', { detail: `server "${this.#options.label}": the mount is closed` }));
    const open = await this.#opening?.catch(() => undefined);
    await open?.close();
  }

  async #adopt(client: McpClient): Promise<Open> {
    const { transport } = client;
    const listening = new AbortController();
    this.#listen(client, listening.signal);
    return this.#describe(client, performance.now(), {
      hasSession: false,
      reopens: false,
      brokenBy: () => undefined,
      isAlive: () => client.transport !== undefined && client.transport === transport,
      close: async () => listening.abort(),
    });
  }

  async #connect(config: ServerConfig): Promise<Open> {
    const { connecting, processes } = this.#options;
    // The SDK is loaded for the first server that is connected to, and by nobody who only imports this package.
    const { connect } = await import('../protocol/connect.ts');
    const started = performance.now();
    const connection = await connecting(() =>
      this.#within('connecting', (options) => connect(config, options, processes)),
    );
    const { client, pid } = connection;
    const listening = new AbortController();
    let alive = true;
    const end = () => {
      if (!alive) return;
      alive = false;
      listening.abort();
    };
    const close = async () => {
      end();
      await connection.close();
    };
    this.#forgetWhenClosed(connection, () => {
      end();
      if (pid !== undefined) processes?.ended(pid);
    });
    try {
      const open = await this.#describe(client, started, {
        hasSession: hasSession(client),
        reopens: true,
        brokenBy: () => connection.brokenBy(),
        isAlive: () => alive,
        close,
      });
      if (alive) this.#listen(client, listening.signal);
      return open;
    } catch (error) {
      await close().catch(() => undefined);
      throw error;
    }
  }

  #forgetWhenClosed(connection: Connection, end: () => void): void {
    const opening = this.#opening;
    connection.onClose(() => {
      end();
      if (this.#opening === opening) {
        this.#opening = undefined;
        this.#current = undefined;
      }
      this.#options.lost();
    });
  }

  #listen(client: McpClient, signal: AbortSignal): void {
    if (this.#options.listen) listenForChanges(client, this.#options.changed, signal);
  }

  async #describe(client: McpClient, started: number, rest: Omit<Open, 'choice' | 'negotiated'>): Promise<Open> {
    const { dialects } = this.#options;
    const choice = await this.#within('finding out how it serves skills', (options) =>
      DialectChoice.make(client, dialects, options),
    );
    const protocolVersion = client.getNegotiatedProtocolVersion?.();
    const serverInfo = client.getServerVersion?.();
    const instructions = client.getInstructions?.();
    const negotiated = {
      ...(protocolVersion !== undefined && { protocolVersion }),
      ...(serverInfo !== undefined && { serverInfo: { name: serverInfo.name, version: serverInfo.version } }),
      ...(instructions !== undefined && { instructions }),
      completes: completes(client),
      tookMs: performance.now() - started,
    };
    return { ...rest, choice, negotiated };
  }

  #within<T>(asked: string, exchange: (options: CallOptions) => Promise<T>): Promise<T> {
    const { label, deadlines } = this.#options;
    return within({ label, asked, ms: deadlines.connect, signal: this.#closing.signal }, exchange);
  }
}

function hasSession({ transport }: McpClient): boolean {
  return (transport as { sessionId?: unknown } | undefined)?.sessionId !== undefined;
}
