import { createHash } from 'node:crypto';
import { Client as ClientV2, InMemoryTransport as InMemoryV2 } from '@modelcontextprotocol/client';
import { SKILLS_EXTENSION_ID } from '@modelcontextprotocol/core/ext/skills';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport as InMemoryV1 } from '@modelcontextprotocol/sdk/inMemory.js';
import { ProtocolError, Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import type { McpClient } from '../../src/protocol/client.ts';

/** A server that answers exactly as a test says, over the SDK's own protocol machinery. */
export interface Script {
  /** The extension's capability; `null` when it is not declared. Default `{}`. */
  capability?: Record<string, unknown> | null;
  /** A page of `skills/list`. Default: the entries of `skills`, in one page. */
  list?: (cursor: string | undefined) => unknown;
  get?: (uri: string) => unknown;
  /** @param signal aborts when the client takes the request back */
  read?: (uri: string, signal: AbortSignal) => unknown;
  readDirectory?: (uri: string, cursor: string | undefined) => unknown;
  instructions?: string;
  skills?: readonly ScriptedSkill[];
}

export interface ScriptedEntry {
  uri: string;
  frontmatter: Record<string, unknown>;
  resources: { uri: string; digest: string; size: number }[] | 'dynamic';
  [extra: string]: unknown;
}

export interface ScriptedSkill {
  entry: ScriptedEntry;
  files: Record<string, string | Uint8Array>;
}

export function digest(content: string | Uint8Array): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}

export function skillMd(name: string, description = `About ${name}`, body = `# ${name}\n`): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\n\n${body}`;
}

/** A valid skill at `skill://<path>`, with a SKILL.md and further files by path below its directory. */
export function scriptedSkill(path: string, files: Record<string, string | Uint8Array> = {}): ScriptedSkill {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const all: Record<string, string | Uint8Array> = { 'SKILL.md': skillMd(name), ...files };
  const byUri = Object.fromEntries(Object.entries(all).map(([file, content]) => [`skill://${path}/${file}`, content]));
  const resources = Object.entries(byUri).map(([uri, content]) => ({
    uri,
    digest: digest(content),
    size: Buffer.byteLength(content),
  }));
  const entry = { uri: `skill://${path}/SKILL.md`, frontmatter: { name, description: `About ${name}` }, resources };
  return { entry, files: byUri };
}

export function notFound(what: string): ProtocolError {
  return new ProtocolError(-32602, `not found: ${what}`);
}

/** What a server was asked, as `method uri-or-cursor`. */
export type RequestLog = string[];

export function scriptedServer(script: Script, log: RequestLog): Server {
  const skills = script.skills ?? [];
  const capability = script.capability === undefined ? {} : script.capability;
  const server = new Server(
    { name: 'scripted', version: '1.0.0' },
    {
      capabilities: {
        resources: { listChanged: true },
        ...(capability !== null && { extensions: { [SKILLS_EXTENSION_ID]: capability as never } }),
      },
      ...(script.instructions !== undefined && { instructions: script.instructions }),
    },
  );
  const anything = { params: z.looseObject({ uri: z.string().optional(), cursor: z.string().optional() }).optional() };
  const fields = { ttlMs: 0, cacheScope: 'private' };
  server.setRequestHandler('skills/list', anything, async (params) => {
    log.push(`skills/list ${params?.cursor ?? ''}`.trim());
    const page =
      script.list === undefined ? { skills: skills.map(({ entry }) => entry) } : await script.list(params?.cursor);
    return { ...fields, ...(page as object) };
  });
  server.setRequestHandler('skills/get', anything, async (params) => {
    const uri = params?.uri ?? '';
    log.push(`skills/get ${uri}`);
    const given =
      script.get === undefined ? skills.find(({ entry }) => entry.uri === uri)?.entry : await script.get(uri);
    if (given === undefined) throw notFound(uri);
    return { ...fields, skill: given };
  });
  server.setRequestHandler('resources/directory/read', anything, async (params) => {
    const uri = params?.uri ?? '';
    log.push(`resources/directory/read ${uri}`);
    const given = await script.readDirectory?.(uri, params?.cursor);
    if (given === undefined) throw notFound(uri);
    return { ...fields, ...(given as object) };
  });
  server.setRequestHandler('resources/read', async ({ params: { uri } }, { mcpReq: { signal } }) => {
    log.push(`resources/read ${uri}`);
    const given = script.read === undefined ? fileOf(skills, uri) : await script.read(uri, signal);
    if (given === undefined) throw notFound(uri);
    return { ...fields, ...(given as object) } as never;
  });
  return server;
}

export function fileOf(skills: readonly ScriptedSkill[], uri: string): unknown {
  for (const { files } of skills) {
    const content = files[uri];
    if (content !== undefined) return contents(uri, content);
  }
  return undefined;
}

export function contents(uri: string, content: string | Uint8Array): unknown {
  const item = typeof content === 'string' ? { text: content } : { blob: Buffer.from(content).toString('base64') };
  return { contents: [{ uri, ...item }] };
}

/** Connects a client of either major to a scripted server in memory. */
export async function connectScript(
  script: Script,
  client: 'v1' | 'v2' | 'v2-modern' = 'v2-modern',
): Promise<{ client: McpClient; server: Server; requests: RequestLog; close: () => Promise<void> }> {
  const requests: RequestLog = [];
  if (client === 'v1') {
    const [a, b] = InMemoryV1.createLinkedPair();
    const server = scriptedServer(script, requests);
    await server.connect(b as never);
    const v1 = new ClientV1({ name: 'test', version: '1' });
    await v1.connect(a);
    return { client: v1, server, requests, close: () => v1.close() };
  }
  const [a, b] = InMemoryV2.createLinkedPair();
  const server = scriptedServer(script, requests);
  serveStdio(() => server as never, { transport: b as never });
  const v2 = new ClientV2(
    { name: 'test', version: '1' },
    client === 'v2' ? {} : { versionNegotiation: { mode: 'auto' } },
  );
  await v2.connect(a);
  return { client: v2, server, requests, close: () => v2.close() };
}
