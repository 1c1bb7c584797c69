import { readdirSync, readFileSync, statSync } from 'node:fs';
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as HttpV2,
  InMemoryTransport as MemoryV2,
} from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { InMemoryTransport as MemoryV1 } from '@modelcontextprotocol/sdk/inMemory.js';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mount } from '../../src/mount.ts';
import type { ServerSource } from '../../src/options.ts';
import { call, type McpClient } from '../../src/protocol/client.ts';
import { serveHttp, skillsServer } from '../../src/server/index.ts';

const cli = new URL('../../dist/cli.js', import.meta.url).pathname;
const fixtures = new URL('../../fixtures/skills', import.meta.url).pathname;
const stdio = { command: process.execPath, args: [cli, 'serve', fixtures], stderr: 'ignore' } as const;

let http: Awaited<ReturnType<typeof serveHttp>>;
beforeAll(async () => {
  http = await serveHttp(fixtures, { port: 0 });
});
afterAll(() => http.close());

const info = { name: 'test', version: '1' };
const auto = { versionNegotiation: { mode: 'auto' } } as const;

async function v1(transport: StdioV1 | HttpV1): Promise<McpClient & { close(): Promise<void> }> {
  const client = new ClientV1(info);
  await client.connect(transport as never);
  return client;
}

async function v2(transport: StdioV2 | HttpV2, modern: boolean): Promise<McpClient & { close(): Promise<void> }> {
  const client = new ClientV2(info, modern ? auto : {});
  await client.connect(transport);
  return client;
}

const url = () => new URL(http.url);
const ways: Record<string, { open: () => Promise<ServerSource>; version: string | undefined }> = {
  'stdio config': { open: async () => stdio, version: '2026-07-28' },
  'HTTP config': { open: async () => ({ url: http.url }), version: '2026-07-28' },
  'stdio config in this thread': { open: async () => stdio, version: '2026-07-28' },
  'SDK 1 over stdio': { open: () => v1(new StdioV1({ ...stdio, args: [...stdio.args] })), version: undefined },
  'SDK 1 over HTTP': { open: () => v1(new HttpV1(url())), version: undefined },
  'SDK 2 over stdio, 2025 era': {
    open: () => v2(new StdioV2({ ...stdio, args: [...stdio.args] }), false),
    version: '2025-11-25',
  },
  'SDK 2 over stdio, 2026 era': {
    open: () => v2(new StdioV2({ ...stdio, args: [...stdio.args] }), true),
    version: '2026-07-28',
  },
  'SDK 2 over HTTP, 2025 era': { open: () => v2(new HttpV2(url()), false), version: '2025-11-25' },
  'SDK 2 over HTTP, 2026 era': { open: () => v2(new HttpV2(url()), true), version: '2026-07-28' },
};

/** A client that is connected in memory to a server of the same directory. */
async function inMemory(major: 1 | 2, modern: boolean): Promise<McpClient & { close(): Promise<void> }> {
  const { create } = await skillsServer(fixtures);
  const [a, b] = major === 1 ? MemoryV1.createLinkedPair() : MemoryV2.createLinkedPair();
  serveStdio(create, { transport: b as never });
  const client = major === 1 ? new ClientV1(info) : new ClientV2(info, modern ? auto : {});
  await client.connect(a as never);
  return client;
}
Object.assign(ways, {
  'SDK 1 in memory': { open: () => inMemory(1, false), version: undefined },
  'SDK 2 in memory, 2025 era': { open: () => inMemory(2, false), version: '2025-11-25' },
  'SDK 2 in memory, 2026 era': { open: () => inMemory(2, true), version: '2026-07-28' },
});

const expected = readdirSync(fixtures, { recursive: true, encoding: 'utf8' }).sort();

describe('NEG-4, SRV-1: every client and transport gives the same tree and bytes', () => {
  test.each(Object.entries(ways))('%s', async (name, { open, version }) => {
    const source = await open();
    // What one of them asks for would be masked, and its bytes others.
    const policy = { grants: { s: ['skill://acme/billing/refunds/SKILL.md'] } };
    const thread = name.endsWith('this thread') ? 'host' : 'worker';
    const mounted = mount({ servers: { s: source }, thread, policy });
    const [status] = await mounted.ready();
    expect(status).toMatchObject({ state: 'ready', refused: [], dialect: 'skills', directoryRead: true });
    expect(status?.protocolVersion).toBe(version);
    expect((await mounted.promises.readdir('/mcp/s', { recursive: true })).sort()).toEqual(expected);
    for (const file of expected) {
      if (statSync(`${fixtures}/${file}`).isDirectory()) continue;
      expect(await mounted.promises.readFile(`/mcp/s/${file}`), file).toEqual(readFileSync(`${fixtures}/${file}`));
    }
    await mounted.close();
    if ('request' in source) {
      // A client of the host's is never closed by the mount.
      const options = { signal: AbortSignal.timeout(5000), timeout: 5000 };
      expect(await call(source, 'skills/list', {}, options)).toHaveProperty('skills');
      await (source as unknown as { close(): Promise<void> }).close();
    }
  });
});
