import { posix } from 'node:path';
import { mimeTypeOf, textOf } from '../base/mime-types.ts';
import type { Mount } from '../mount.ts';
import { visible } from './escape.ts';

/** A result as MCP's `CallToolResult` has it. */
export interface ToolResult {
  [key: string]: unknown;
  content: (
    | { type: 'text'; text: string }
    | { type: 'resource'; resource: { uri: string; mimeType: string; blob: string } }
  )[];
  isError?: boolean;
}

/** What {@link readResourceTool} is called with. */
export interface ReadResourceArguments {
  /** The host's label of the server. */
  readonly server: string;
  readonly uri: string;
}

/** A tool for a model, with the fields MCP and most model APIs know it by. */
export interface ReadResourceTool {
  readonly name: 'read_resource';
  readonly description: string;
  /** JSON Schema. */
  readonly inputSchema: {
    readonly type: 'object';
    readonly properties: Readonly<Record<'server' | 'uri', Readonly<Record<string, unknown>>>>;
    readonly required: string[];
    readonly additionalProperties: false;
  };
  /** Never rejects: what fails is a result with `isError`, whose text says what happened and what can be done. */
  handler(args: ReadResourceArguments): Promise<ToolResult>;
}

export interface ReadResourceOptions {
  /** Bytes of a file, or of the list of a directory, that one call may give. Default 1 MiB. */
  readonly maxBytes?: number;
}

type Readable = Pick<Mount, 'pathOf' | 'originOf' | 'promises' | 'status'>;

/**
 * A tool with which a model without a file system reads the files of skills, by server and URI as a catalog with `location:
 * 'uri'` gives them. It reads through the mount, so that content is verified, and asks the named server and no other
 * (SEC-4); the model cannot name one that is not mounted. Text comes as text, all else as base64, and a directory as the
 * URIs of its children, one a line.
 */
export function readResourceTool(mount: Readable, options: ReadResourceOptions = {}): ReadResourceTool {
  const { maxBytes = 2 ** 20 } = options;
  if (typeof mount?.status !== 'function' || typeof mount.pathOf !== 'function') {
    throw new TypeError('readResourceTool takes what mount() returned: a view does not know servers by their URIs');
  }
  const labels = mount.status().map(({ label }) => label);
  return {
    name: 'read_resource',
    description:
      'Reads a file of a skill, or lists a directory of it, from the server the skill is from. Relative references in a ' +
      'SKILL.md are relative to its own directory: resolve them against its URI, and keep its server.',
    inputSchema: {
      type: 'object',
      properties: {
        server: { type: 'string', enum: labels, description: 'The server the skill is from, as the catalog names it' },
        uri: { type: 'string', description: 'The URI of the file, such as skill://acme/refunds/SKILL.md' },
      },
      required: ['server', 'uri'],
      additionalProperties: false,
    },
    async handler(args) {
      // Models write the arguments, or leave them out.
      const { server, uri } = { ...args };
      if (typeof server !== 'string' || typeof uri !== 'string') return failure('server and uri have to be strings');
      if (!labels.includes(server)) {
        return failure(`there is no server ${JSON.stringify(server)}; there is ${labels.join(', ') || 'none'}`);
      }
      try {
        return await read(mount, mount.pathOf(server, uri), uri, maxBytes);
      } catch (error) {
        return failure(reasonOf(error, server, uri));
      }
    },
  };
}

async function read(mount: Readable, path: string, uri: string, maxBytes: number): Promise<ToolResult> {
  const stats = await mount.promises.stat(path);
  if (stats.isDirectory()) return list(mount, path, maxBytes);
  // Before it is fetched where the size is known, and after it where it is not.
  if (stats.size > maxBytes) return tooBig(uri, stats.size, maxBytes);
  const bytes = await mount.promises.readFile(path);
  if (bytes.byteLength > maxBytes) return tooBig(uri, bytes.byteLength, maxBytes);
  const text = textOf(bytes);
  if (text !== undefined) return { content: [{ type: 'text', text }] };
  const resource = { uri, mimeType: mimeTypeOf(uri) ?? 'application/octet-stream', blob: bytes.toString('base64') };
  return { content: [{ type: 'resource', resource }] };
}

async function list(mount: Readable, path: string, maxBytes: number): Promise<ToolResult> {
  const entries = await mount.promises.readdir(path, { withFileTypes: true });
  const lines = entries.map((entry) => {
    const uri = mount.originOf(posix.join(path, entry.name))?.uri ?? entry.name;
    return visible(entry.isDirectory() ? `${uri}/` : uri);
  });
  const text = lines.join('\n');
  if (Buffer.byteLength(text) > maxBytes) return failure(`the directory has ${lines.length} entries, too many to list`);
  return { content: [{ type: 'text', text }] };
}

function tooBig(uri: string, size: number, maxBytes: number): ToolResult {
  return failure(`${uri} has ${size} bytes, and no more than ${maxBytes} can be read with this tool`);
}

function reasonOf(error: unknown, server: string, uri: string): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return `the server ${server} has no ${uri}, or the skill does not list it; list its directory to see what is there`;
  }
  return message;
}

/** Messages hold what servers and models wrote: they stay one line. */
function failure(message: string): ToolResult {
  return { content: [{ type: 'text', text: visible(message) }], isError: true };
}
