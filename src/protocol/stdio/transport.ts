import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { STDIO_MESSAGE_BYTES } from '../../base/limits.ts';
import type { StdioServer } from '../connect.ts';
import { LineBuffer } from './line-buffer.ts';

/**
 * Keeps the negotiation probe on this very process. The SDK's own class is probed through a second, short-lived process
 * of the same command; one process per server is what users expect to see.
 */
class OneProcessTransport extends StdioClientTransport {
  constructor(...args: ConstructorParameters<typeof StdioClientTransport>) {
    super(...args);
    // The SDK has no public place for it; where it looks elsewhere one day, its own, slower buffer is in use.
    Object.assign(this, { _readBuffer: new LineBuffer(STDIO_MESSAGE_BYTES) });
  }
}

/** A transport to a server in a child process. */
export function stdioTransport({ command, args, env, cwd, stderr }: StdioServer): StdioClientTransport {
  return new OneProcessTransport({
    command,
    args: [...(args ?? [])],
    stderr: stderr ?? 'inherit',
    maxBufferSize: STDIO_MESSAGE_BYTES,
    ...(env !== undefined && { env: { ...env } }),
    ...(cwd !== undefined && { cwd }),
  });
}
