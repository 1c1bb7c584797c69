import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { SKILLS_EXTENSION_ID } from '@modelcontextprotocol/core/ext/skills';
import { onTestFinished } from 'vitest';
import { type Mount, mount } from '../../src/mount.ts';
import type { MountOptions } from '../../src/options.ts';
import type { Diagnostic } from '../../src/vfs/diagnostics.ts';
import type { RequestLog } from './scripted-server.ts';

/** Answers without any machinery in between: whatever a test has it say goes over the wire as it is. */
export interface RawServer {
  /** Default: resources, and the Skills extension. */
  readonly capabilities?: unknown;
  readonly instructions?: string;
  /** The result of a request, any value; `undefined` is -32601. @throws {RawError} to answer with an error */
  readonly answer: (method: string, params: Readonly<Record<string, unknown>>) => unknown;
}

/** A JSON-RPC error as it goes over the wire. */
export class RawError extends Error {
  readonly error: unknown;

  constructor(error: unknown) {
    super('an error of the server');
    this.error = error;
  }
}

export interface Raw {
  readonly mount: Mount;
  readonly client: Client;
  readonly requests: RequestLog;
  readonly diagnostics: Diagnostic[];
  /** Sends any message to the client. */
  send(message: unknown): void;
}

export const SKILLS = { resources: {}, extensions: { [SKILLS_EXTENSION_ID]: {} } };

/** Mounts, as `s`, a server of the 2025 era that says whatever a test has it say; both end with the test. */
export async function mountRaw(server: RawServer, options: Partial<MountOptions> = {}): Promise<Raw> {
  const { capabilities = SKILLS, instructions, answer } = server;
  const requests: RequestLog = [];
  const [clientEnd, serverEnd] = InMemoryTransport.createLinkedPair();
  const send = (message: unknown) => void serverEnd.send(message as never);
  serverEnd.onmessage = (message) => {
    if (!('method' in message && 'id' in message)) return;
    const { id, method, params = {} } = message;
    const serverInfo = { name: 'raw', version: '1' };
    if (method === 'initialize') {
      const said = { protocolVersion: '2025-11-25', capabilities, serverInfo, ...(instructions && { instructions }) };
      return send({ jsonrpc: '2.0', id, result: said });
    }
    const { uri, cursor } = params as { uri?: string; cursor?: string };
    requests.push(`${method} ${uri ?? cursor ?? ''}`.trim());
    try {
      const result = answer(method, params);
      const missing = { code: -32601, message: 'Method not found' };
      send({ jsonrpc: '2.0', id, ...(result === undefined ? { error: missing } : { result }) });
    } catch (error) {
      if (!(error instanceof RawError)) throw error;
      send({ jsonrpc: '2.0', id, error: error.error });
    }
  };
  await serverEnd.start();
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(clientEnd);
  const mounted = mount({ servers: { s: client }, ...options });
  const diagnostics: Diagnostic[] = [];
  mounted.on('diagnostic', (diagnostic) => diagnostics.push(diagnostic));
  onTestFinished(async () => {
    await mounted.close();
    await client.close();
  });
  return { mount: mounted, client, requests, diagnostics, send };
}
