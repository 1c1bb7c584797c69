import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import type { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { onTestFinished } from 'vitest';
import { call } from '../../src/protocol/client.ts';
import { type ServeOptions, skillsServer } from '../../src/server/index.ts';

export const fixtures = new URL('../../fixtures/skills', import.meta.url).pathname;

/** An entry as it is on the wire. */
export interface Entry {
  readonly uri: string;
  readonly resources: readonly { readonly uri: string; readonly digest: string; readonly size: number }[];
}

/** A directory for one test, with these files. */
export function temporary(files: Record<string, string> = {}): string {
  const directory = mkdtempSync(join(tmpdir(), 'skillfs-serve-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  for (const [path, content] of Object.entries(files)) write(directory, path, content);
  return directory;
}

export function write(directory: string, path: string, content: string): void {
  mkdirSync(join(directory, path, '..'), { recursive: true });
  writeFileSync(join(directory, path), content);
}

/** A client, in memory, of servers that are made as told. */
export async function clientOf(create: () => McpServer, era: 'modern' | 'legacy' = 'modern'): Promise<Client> {
  const [a, b] = InMemoryTransport.createLinkedPair();
  serveStdio(create, { transport: b });
  const client = new Client(
    { name: 'test', version: '1' },
    era === 'modern' ? { versionNegotiation: { mode: 'auto' } } : {},
  );
  await client.connect(a);
  onTestFinished(() => client.close());
  return client;
}

/** A directory that is served to one client. */
export async function serve(path: string, options: ServeOptions = {}) {
  const warnings: string[] = [];
  const onWarning: ServeOptions['onWarning'] = ({ path, message }) => warnings.push(`${path}: ${message}`);
  const { directory, create } = await skillsServer(path, { onWarning, ...options });
  const client = await clientOf(create);
  const ask = async <T = unknown>(method: string, params: Record<string, unknown> = {}) =>
    (await call(client, method, params, { signal: AbortSignal.timeout(10_000), timeout: 10_000 })) as T;
  const list = async () => (await ask<{ skills: Entry[] }>('skills/list')).skills;
  const get = async (uri: string) => (await ask<{ skill: Entry }>('skills/get', { uri })).skill;
  const read = async (uri: string) => (await client.readResource({ uri })).contents[0] as { text: string };
  return { client, create, directory, warnings, ask, list, get, read };
}
