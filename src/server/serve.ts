import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostHeaderValidation, originValidation, toNodeHandler } from '@modelcontextprotocol/node';
import {
  createMcpHandler,
  localhostAllowedHostnames,
  localhostAllowedOrigins,
  McpServer,
} from '@modelcontextprotocol/server';
import { serveStdio as serveOverStdio } from '@modelcontextprotocol/server/stdio';
import { VERSION } from '../base/version.ts';
import { type ServeOptions, SkillDirectory } from './directory.ts';

const LOOPBACK = /^(?:localhost|::1|127(?:\.\d{1,3}){3})$/;

/** A running server. */
export interface SkillServer {
  /** Skills published when it started. */
  readonly skills: number;
  /** Settles when the other side ended the connection (stdio). */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

export interface HttpSkillServer extends SkillServer {
  readonly url: string;
}

/**
 * Opens a directory once, for any number of servers.
 *
 * @returns a factory of servers that publish it
 * @throws what the file system gives when the directory cannot be read
 */
export async function skillsServer(
  directory: string,
  options: ServeOptions = {},
): Promise<{ readonly directory: SkillDirectory; readonly create: () => McpServer }> {
  const opened = await SkillDirectory.open(directory, false, options);
  return {
    directory: opened,
    create() {
      const server = new McpServer({ name: 'skillfs', version: VERSION });
      opened.attach(server);
      return server;
    },
  };
}

/** Serves a directory over standard input and output, on both protocol eras, until the input ends. */
export async function serveStdio(directory: string, options: ServeOptions = {}): Promise<SkillServer> {
  const { directory: opened, create } = await skillsServer(directory, options);
  const handle = serveOverStdio(create);
  const unwatch = opened.watch();
  const closed = new Promise<void>((resolve) => process.stdin.once('close', resolve).once('end', resolve));
  return {
    skills: opened.skills.length,
    closed,
    async close() {
      unwatch();
      await handle.close();
    },
  };
}

/**
 * Serves a directory over Streamable HTTP at `/mcp`, on both protocol eras. Only requests addressed to this machine by one
 * of its own names are answered, so that a web page cannot reach it by another.
 *
 * @param options.port 0, the default, takes a free one
 * @param options.host an address of the loopback interface. Default `127.0.0.1`
 * @throws TypeError for any other address
 * @throws what the file system gives when the directory cannot be read, and the network when the port cannot be taken
 */
export async function serveHttp(
  directory: string,
  options: ServeOptions & { readonly port?: number; readonly host?: string } = {},
): Promise<HttpSkillServer> {
  const { port = 0, host = '127.0.0.1', ...rest } = options;
  if (!LOOPBACK.test(host)) throw new TypeError(`${host} is no address of the loopback interface`);
  const { directory: opened, create } = await skillsServer(directory, rest);
  const handler = createMcpHandler(create);
  opened.onChange(() => handler.notify.resourcesChanged());
  const answer = toNodeHandler(handler);
  const authority = host.includes(':') ? `[${host}]` : host;
  const validHost = hostHeaderValidation([...localhostAllowedHostnames(), authority]);
  const validOrigin = originValidation([...localhostAllowedOrigins(), authority]);
  const server = createServer((request, response) => {
    if (!validHost(request, response) || !validOrigin(request, response)) return;
    if (request.url?.split('?', 1)[0] === '/mcp') void answer(request as Parameters<typeof answer>[0], response);
    else response.writeHead(404, { 'content-type': 'text/plain' }).end('The MCP endpoint is /mcp\n');
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, () => resolve());
  });
  const { port: taken } = server.address() as AddressInfo;
  const unwatch = opened.watch();
  const closed = new Promise<void>((resolve) => server.once('close', resolve));
  return {
    url: `http://${authority}:${taken}/mcp`,
    skills: opened.skills.length,
    closed,
    async close() {
      unwatch();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await handler.close();
    },
  };
}
