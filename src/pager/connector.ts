import { Fault } from '../base/fault.ts';
import { listenForChanges } from '../protocol/changes.ts';
import { isMcpClient, type McpClient } from '../protocol/client.ts';
import { type Connection, connect, type ServerConfig } from '../protocol/connect.ts';
import type { Dialect, DialectFactory } from '../protocol/dialect.ts';
import { within } from './deadline.ts';
import type { Place } from './places.ts';
import type { Negotiated } from './port.ts';

/** Told when a stdio server's process starts and ends. */
export interface ProcessObserver {
  started(pid: number): void;
  ended(pid: number): void;
}

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
  readonly dialect: Dialect | undefined;
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
      const opening = isMcpClient(source) ? Promise.resolve(this.#adopt(source)) : this.#connect(source);
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

  #adopt(client: McpClient): Open {
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
    const { label, deadlines, connecting, processes } = this.#options;
    const started = performance.now();
    const connection = await connecting(() => {
      const bounds = { label, asked: 'connecting', ms: deadlines.connect, signal: this.#closing.signal };
      return within(bounds, (options) => connect(config, options));
    });
    const { client, pid } = connection;
    const listening = new AbortController();
    let alive = true;
    const end = () => {
      if (!alive) return;
      alive = false;
      listening.abort();
      if (pid !== undefined) processes?.ended(pid);
    };
    if (pid !== undefined) processes?.started(pid);
    const open = this.#describe(client, started, {
      hasSession: hasSession(client),
      reopens: true,
      brokenBy: () => connection.brokenBy(),
      isAlive: () => alive,
      close: async () => {
        end();
        await connection.close();
      },
    });
    this.#forgetWhenClosed(connection, open, end);
    if (alive) this.#listen(client, listening.signal);
    return open;
  }

  #forgetWhenClosed(connection: Connection, open: Open, end: () => void): void {
    const opening = this.#opening;
    connection.onClose(() => {
      end();
      if (this.#opening === opening) this.#opening = undefined;
      if (this.#current === open) this.#current = undefined;
      this.#options.lost();
    });
  }

  #listen(client: McpClient, signal: AbortSignal): void {
    if (this.#options.listen) listenForChanges(client, this.#options.changed, signal);
  }

  #describe(client: McpClient, started: number, rest: Omit<Open, 'dialect' | 'negotiated'>): Open {
    let dialect: Dialect | undefined;
    for (const factory of this.#options.dialects) {
      dialect = factory(client);
      if (dialect !== undefined) break;
    }
    const protocolVersion = client.getNegotiatedProtocolVersion?.();
    const serverInfo = client.getServerVersion?.();
    const instructions = client.getInstructions?.();
    const negotiated = {
      ...(protocolVersion !== undefined && { protocolVersion }),
      ...(serverInfo !== undefined && { serverInfo: { name: serverInfo.name, version: serverInfo.version } }),
      ...(instructions !== undefined && { instructions }),
      ...(dialect !== undefined && { dialect: dialect.name }),
      directoryRead: dialect?.readDirectory !== undefined,
      tookMs: performance.now() - started,
    };
    return { ...rest, dialect, negotiated };
  }
}

function hasSession({ transport }: McpClient): boolean {
  return (transport as { sessionId?: unknown } | undefined)?.sessionId !== undefined;
}
