import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { createMcpHandler, type Server } from '@modelcontextprotocol/server';
import { onTestFinished } from 'vitest';
import { type RequestLog, type Script, scriptedServer } from './scripted-server.ts';

export interface HttpScriptOptions {
  /** `modern` (default) has no sessions; `legacy` is 2025-11-25 with sessions. */
  readonly era?: 'modern' | 'legacy';
  /**
   * Sees each HTTP request before the server does, with the JSON-RPC method of its body.
   *
   * @returns whether it was answered here
   */
  readonly before?: (request: IncomingMessage, response: ServerResponse, method: string | undefined) => boolean;
}

export interface HttpScript {
  readonly url: string;
  /** What the server was asked, as `method uri`. */
  readonly requests: RequestLog;
  /** JSON-RPC methods of the messages that came in, in order. */
  readonly messages: string[];
  /** The server made last: there is one per session, or per request where there are none. */
  readonly latest: () => Server | undefined;
  /** Sessions that were opened, of the 2025 era. */
  readonly opened: () => number;
  /** Makes the server not know its sessions any more, as after a restart. */
  forgetSessions(): void;
  /** Event streams that are open on their own: of subscriptions, and of the 2025 era's sessions. */
  streams(): number;
  cutStreams(): void;
  close(): Promise<void>;
}

/** A scripted server behind real HTTP; it ends with the test. */
export async function httpScript(script: Script, options: HttpScriptOptions = {}): Promise<HttpScript> {
  const { era = 'modern', before } = options;
  const requests: RequestLog = [];
  const messages: string[] = [];
  let latest: Server | undefined;
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const streams = new Set<ServerResponse>();
  let opened = 0;
  const create = () => {
    latest = scriptedServer(script, requests);
    return latest;
  };
  const modern = toNodeHandler(createMcpHandler(create as never));
  const legacy = async (request: IncomingMessage, response: ServerResponse, message: unknown) => {
    const id = request.headers['mcp-session-id'];
    let transport = typeof id === 'string' ? sessions.get(id) : undefined;
    if (transport === undefined && (message as { method?: string } | undefined)?.method === 'initialize') {
      opened++;
      const created = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (session) => void sessions.set(session, created),
      });
      await create().connect(created as never);
      transport = created;
    }
    if (transport !== undefined) return transport.handleRequest(request, response, message);
    const [status, text] = id === undefined ? [400, 'No session'] : [404, 'Session not found'];
    const error = { code: -32001, message: text };
    response
      .writeHead(status as number, { 'content-type': 'application/json' })
      .end(JSON.stringify({ jsonrpc: '2.0', id: null, error }));
  };
  const http = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const message = text.startsWith('{') ? (JSON.parse(text) as { method?: string }) : undefined;
    if (message?.method !== undefined) messages.push(message.method);
    if (request.method === 'GET' || message?.method === 'subscriptions/listen') {
      streams.add(response);
      response.on('close', () => streams.delete(response));
    }
    if (before?.(request, response, message?.method) === true) return;
    if (era === 'legacy') await legacy(request, response, message);
    else await modern(request as never, response, message as never);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', () => resolve()));
  const close = async () => {
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  };
  onTestFinished(close);
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    requests,
    messages,
    latest: () => latest,
    opened: () => opened,
    forgetSessions: () => sessions.clear(),
    streams: () => [...streams].filter((response) => response.headersSent).length,
    cutStreams() {
      for (const response of streams) response.destroy();
    },
    close,
  };
}
