import type { Command } from 'commander';
import { serveHttp, serveStdio } from '../../server/index.ts';
import { UsageError } from '../failures.ts';
import { note, plural } from '../output.ts';

interface ServeOptions {
  readonly http?: string | true;
  readonly host: string;
  readonly prefix?: string;
  readonly draft?: boolean;
}

export function register(program: Command): void {
  program
    .command('serve')
    .description('Publish a directory of skills as an MCP server, over standard input and output.')
    .argument('<dir>')
    .option('--http [port]', 'over HTTP instead, at /mcp; without a port, on a free one')
    .option('--host <address>', 'the loopback address to listen on', '127.0.0.1')
    .option('--prefix <path>', 'an organisational prefix of every skill path')
    .option('--draft', 'let hosts of the earlier draft find the skills too, by skill://index.json')
    .action(run);
}

async function run(directory: string, { http, host, prefix, draft }: ServeOptions): Promise<void> {
  const options = { ...(prefix !== undefined && { prefix }), ...(draft !== undefined && { draft }) };
  const server =
    http === undefined
      ? await serveStdio(directory, options)
      : await serveHttp(directory, { ...options, host: loopback(host), port: portOf(http) });
  const stopped = new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  const where = 'url' in server ? ` at ${server.url}` : '';
  note(`serving ${plural(server.skills, 'skill')} of ${directory}${where}`);
  await Promise.race([server.closed, stopped]);
  await server.close();
  process.exit();
}

function portOf(given: string | true): number {
  const port = given === true ? 0 : Number(given);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new UsageError(`--http ${given}: expected a port`);
  return port;
}

function loopback(host: string): string {
  if (host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)) return host;
  throw new UsageError(`--host ${host}: only loopback addresses are served; put a proxy with authentication in front`);
}
