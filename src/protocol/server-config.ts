import type { Fetch } from './http/guarded-fetch.ts';
import type { CredentialSource } from './http/shared-auth.ts';

/** A server started as a child process that speaks over its standard input and output. */
export interface StdioServer {
  readonly command: string;
  readonly args?: readonly string[];
  /** Added to the small set of variables that MCP clients pass on by default. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Where the server's standard error goes. Default `inherit`, as with a plain client. */
  readonly stderr?: 'inherit' | 'ignore';
}

/** A server reached over Streamable HTTP. */
export interface HttpServer {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * Gives and renews credentials, in the SDK's own interfaces. It cannot cross a thread: the connection then lives in this
   * one, where a synchronous call cannot wait for content that is not in memory.
   */
  readonly authProvider?: CredentialSource;
  /** Used instead of the global `fetch`; keeps the connection in this thread, too. */
  readonly fetch?: Fetch;
}

export type ServerConfig = StdioServer | HttpServer;

/** Whether a server's connection must live in the thread of the host, and why. */
export function keptInHost(config: ServerConfig): 'authProvider' | 'fetch' | undefined {
  if (!('url' in config)) return undefined;
  return config.authProvider !== undefined ? 'authProvider' : config.fetch !== undefined ? 'fetch' : undefined;
}
