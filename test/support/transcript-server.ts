import { readFileSync } from 'node:fs';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { onTestFinished } from 'vitest';
import { type Mount, mount } from '../../src/mount.ts';
import type { MountOptions } from '../../src/options.ts';
import type { Diagnostic } from '../../src/vfs/diagnostics.ts';
import type { RequestLog } from './scripted-server.ts';

/** One request and its answer, as they went over the wire. */
export interface Exchange {
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string };
}

export function transcript(name: string): Exchange[] {
  return JSON.parse(readFileSync(new URL(`../../fixtures/transcripts/${name}.json`, import.meta.url), 'utf8'));
}

export interface Replayed {
  readonly mount: Mount;
  readonly requests: RequestLog;
  readonly diagnostics: Diagnostic[];
}

/**
 * Mounts, as `s`, a server that answers what a transcript holds: `exchanges` may be changed while it runs. Other methods do
 * not exist (-32601), other parameters are of nothing that is there (-32602).
 */
export async function replay(exchanges: readonly Exchange[], options: Partial<MountOptions> = {}): Promise<Replayed> {
  const requests: RequestLog = [];
  const [clientEnd, serverEnd] = InMemoryTransport.createLinkedPair();
  serverEnd.onmessage = (message) => {
    if (!('method' in message && 'id' in message)) return;
    const { id, method, params = {} } = message;
    if (method !== 'initialize') requests.push(`${method} ${subject(params)}`.trim());
    const { result, error } = exchanges.find((one) => isAnswerTo(one, method, params)) ?? {
      error: exchanges.some((one) => one.method === method)
        ? { code: -32602, message: `not found: ${subject(params)}` }
        : { code: -32601, message: 'Method not found' },
    };
    const answer = error === undefined ? { result } : { error };
    void serverEnd.send({ jsonrpc: '2.0', id, ...answer } as Parameters<typeof serverEnd.send>[0]);
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
  return { mount: mounted, requests, diagnostics };
}

function isAnswerTo(exchange: Exchange, method: string, params: Readonly<Record<string, unknown>>): boolean {
  if (exchange.method !== method || method === 'initialize') return exchange.method === method;
  return Object.entries(exchange.params ?? {}).every(
    ([key, value]) => JSON.stringify(params[key]) === JSON.stringify(value),
  );
}

function subject(params: Readonly<Record<string, unknown>>): string {
  const { uri, cursor, argument } = params as { uri?: string; cursor?: string; argument?: { name: string } };
  return uri ?? cursor ?? argument?.name ?? '';
}
