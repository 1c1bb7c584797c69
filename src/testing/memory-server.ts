import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { SKILLS_EXTENSION_ID } from '@modelcontextprotocol/core/ext/skills';
import { McpServer } from '@modelcontextprotocol/server';
import { SkillsExtension } from '@modelcontextprotocol/server/ext/skills';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { FaultSwitches, type Faults, FaultyTransport, type ServerRequest } from './faults.ts';
import { type MemoryFiles, readMemoryFiles } from './memory-files.ts';
import { catalogOf, memorySource } from './memory-source.ts';

export interface MemoryServerOptions {
  /** The directory of a volume in which the files are. Default `/`. */
  readonly root?: string;
  /** The protocol's era: `modern` is 2026-07-28 (default), `legacy` is 2025-11-25 and older (NEG-4). */
  readonly era?: 'modern' | 'legacy';
  /** Paths of the skills that publish no manifest (`acme/billing/refunds`). */
  readonly dynamic?: readonly string[];
  /** Whether directories can be read (DIR-1). Default `true`. */
  readonly directoryRead?: boolean;
  /** Milliseconds for which clients need not ask again. Default 0. */
  readonly ttlMs?: number;
}

/** A server of skills in memory, and a client that is connected to it. */
export interface MemoryServer {
  /** Fits `mount({ servers: { label: server.client } })`. */
  readonly client: Client;
  /** Every request that came in, in order, the handshake among them. Empty it to count anew. */
  readonly requests: ServerRequest[];
  /** What goes wrong; may be changed at any time. */
  readonly faults: Faults;
  /**
   * Serves other files from now on, and says that the list has changed.
   *
   * @throws Error when a SKILL.md makes no valid entry; the files from before stay
   */
  update(files: MemoryFiles): Promise<void>;
  /** Ends the client and the server. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Serves skills from memory: a real server over the SDK's Skills extension, connected to a real client, without a process
 * or a port. A directory with a SKILL.md is a skill; skills inside skills are listed too (MAP-8, ENT-4).
 *
 * @example Tests of a program that imports `node:fs`, with vitest. The mount is made before `node:fs` is replaced.
 * ```ts
 * const { server, skills } = await vi.hoisted(async () => {
 *   const { mount } = await import('skillfs');
 *   const { memoryServer } = await import('skillfs/testing');
 *   const server = await memoryServer({
 *     'refunds/SKILL.md': '---\nname: refunds\ndescription: Pays back\n---\n',
 *   });
 *   const skills = mount({ servers: { shop: server.client } });
 *   await skills.preload();
 *   return { server, skills };
 * });
 * vi.mock('node:fs', () => ({ ...skills.fs, default: skills.fs }));
 * vi.mock('node:fs/promises', () => ({ ...skills.promises, default: skills.promises }));
 * ```
 * The program then finds `/mcp/shop/refunds/SKILL.md`, and nothing else.
 *
 * @throws Error when a SKILL.md makes no valid entry
 */
export async function memoryServer(files: MemoryFiles, options: MemoryServerOptions = {}): Promise<MemoryServer> {
  const { root = '/', era = 'modern', dynamic = [], directoryRead = true, ttlMs = 0 } = options;
  const read = (from: MemoryFiles) => catalogOf(readMemoryFiles(from, root), new Set(dynamic));
  let catalog = read(files);
  const requests: ServerRequest[] = [];
  const [clientEnd, serverEnd] = InMemoryTransport.createLinkedPair();
  const faults = new FaultSwitches(() => serverEnd.close());
  const extension = new SkillsExtension({
    source: memorySource({
      catalog: () => catalog,
      directoryRead,
      listed: () => faults.listed,
      serve: (path, bytes) => faults.serve(path, bytes),
    }),
    cacheHint: { ttlMs, cacheScope: 'private' },
    strict: true,
  });
  const servers = new Set<McpServer>();
  const factory = () => {
    const server = new McpServer({ name: 'skillfs-testing', version: '1.0.0' });
    extension.attach(server);
    servers.add(server);
    return server;
  };
  const connection = serveStdio(factory, { transport: new FaultyTransport(serverEnd, faults, requests) });
  const client = new Client(
    { name: 'skillfs-testing', version: '1.0.0' },
    {
      capabilities: { extensions: { [SKILLS_EXTENSION_ID]: {} } },
      ...(era === 'modern' && { versionNegotiation: { mode: 'auto' } }),
    },
  );
  await client.connect(clientEnd);
  const close = async () => {
    await client.close();
    await connection.close();
  };
  return {
    client,
    requests,
    faults,
    async update(changed) {
      catalog = read(changed);
      for (const server of servers) if (server.isConnected()) server.sendResourceListChanged();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
