import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { SKILLS_EXTENSION_ID } from '@modelcontextprotocol/core/ext/skills';
import { VERSION } from '../base/version.ts';
import type { CallOptions, McpClient } from './client.ts';
import { httpTransport } from './http/transport.ts';
import type { ProcessObserver } from './processes.ts';
import type { ServerConfig } from './server-config.ts';
import { stdioTransport } from './stdio/transport.ts';
import { AnswerTooLarge } from './wire-errors.ts';

/** An open connection of our own. */
export interface Connection {
  readonly client: McpClient;
  /** The process of a stdio server. */
  readonly pid: number | undefined;
  /** Why the connection was ended from this side, where it was, other than by `close`. */
  brokenBy(): Error | undefined;
  /** Called once, when the connection ends from the other side. */
  onClose(listener: () => void): void;
  close(): Promise<void>;
}

/** How long, in milliseconds, a stdio server may leave the negotiation probe unanswered before it counts as 2025-era. */
const STDIO_PROBE_TIMEOUT = 5_000;

/**
 * Opens a connection, negotiating 2026-07-28 and falling back to the 2025 era (NEG-4), with the Skills extension among
 * our capabilities (NEG-3).
 *
 * @param observer told of the process of a stdio server
 * @throws what the SDK, the child process or the network gave
 */
export async function connect(
  config: ServerConfig,
  options: CallOptions,
  observer?: ProcessObserver,
): Promise<Connection> {
  if ('url' in config) return open(httpTransport(config), {}, options);
  try {
    return await open(stdioTransport(config, observer), { probe: { timeoutMs: STDIO_PROBE_TIMEOUT } }, options);
  } catch (error) {
    if (options.signal.aborted || !endedByProbe(error)) throw error;
    // Some 2025-era servers exit at the first request that is not `initialize`.
    return open(stdioTransport(config, observer), 'legacy', options);
  }
}

type Transport = Parameters<Client['connect']>[0];

async function open(
  transport: Transport,
  negotiation: 'legacy' | { probe?: { timeoutMs: number } },
  { signal, timeout }: CallOptions,
): Promise<Connection> {
  const client = new Client(
    { name: 'skillfs', version: VERSION },
    {
      capabilities: { extensions: { [SKILLS_EXTENSION_ID]: {} } },
      versionNegotiation: negotiation === 'legacy' ? { mode: 'legacy' } : { mode: 'auto', ...negotiation },
    },
  );
  let closing = false;
  let closed = false;
  let brokenBy: Error | undefined;
  // The SDK ends a connection over which too long a message comes, and tells the reason to nobody else.
  client.onerror = (error) => {
    if (error instanceof AnswerTooLarge) brokenBy = error;
  };
  const listeners: (() => void)[] = [];
  client.onclose = () => {
    closed = true;
    if (!closing) for (const listener of listeners) listener();
  };
  const close = async () => {
    closing = true;
    await client.close();
  };
  // The probe of the negotiation knows no signal; it ends with its transport.
  const giveUp = () => void transport.close().catch(() => undefined);
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    await client.connect(transport, { signal, timeout: timeout + 60_000 });
    signal.throwIfAborted();
  } catch (error) {
    await close().catch(() => undefined);
    await transport.close().catch(() => undefined);
    throw error;
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
  return {
    client,
    pid: transport instanceof StdioClientTransport ? (transport.pid ?? undefined) : undefined,
    brokenBy: () => brokenBy,
    onClose(listener) {
      if (closed && !closing) listener();
      else listeners.push(listener);
    },
    close,
  };
}

function endedByProbe(error: unknown): boolean {
  const code = (error as { code?: unknown } | undefined)?.code;
  return (
    code === 'ERA_NEGOTIATION_FAILED' || code === 'CONNECTION_CLOSED' || code === 'SEND_FAILED' || code === 'EPIPE'
  );
}
