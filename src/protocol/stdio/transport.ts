import { StdioClientTransport, type StdioServerParameters } from '@modelcontextprotocol/client/stdio';
import { STDIO_MESSAGE_BYTES } from '../../base/limits.ts';
import type { ProcessObserver } from '../processes.ts';
import type { StdioServer } from '../server-config.ts';
import { LineBuffer } from './line-buffer.ts';

/**
 * Keeps the negotiation probe on this very process. The SDK's own class is probed through a second, short-lived process
 * of the same command; one process per server is what users expect to see.
 */
class OneProcessTransport extends StdioClientTransport {
  readonly #observer: ProcessObserver | undefined;
  #running: number | undefined;

  constructor(parameters: StdioServerParameters, observer: ProcessObserver | undefined) {
    super(parameters);
    this.#observer = observer;
    // The SDK has no public place for it; where it looks elsewhere one day, its own, slower buffer is in use.
    Object.assign(this, { _readBuffer: new LineBuffer(STDIO_MESSAGE_BYTES) });
  }

  /** From here on the process is known, whatever becomes of the connection. */
  override async start(): Promise<void> {
    await super.start();
    this.#running = this.pid ?? undefined;
    if (this.#running !== undefined) this.#observer?.started(this.#running);
    (this as unknown as { readonly _process?: Child })._process?.once('exit', endPipes);
  }

  /** A process that does not end by itself is made to, after a while; until then it may have to be ended with its host. */
  override async close(): Promise<void> {
    const pid = this.#running;
    await super.close();
    if (pid !== undefined) this.#observer?.ended(pid);
  }
}

/** What is used of a child process, which the SDK keeps to itself. */
interface Child {
  readonly stdin: { destroy(): unknown } | null;
  readonly stdout: { destroy(): unknown } | null;
  once(event: 'exit' | 'close', listener: (this: Child) => void): unknown;
}

/**
 * A server ends with its process, whatever processes of its own still hold its output: nobody answers over it any more, and to
 * read on would keep its host alive. What the process wrote last is still taken.
 */
function endPipes(this: Child): void {
  const end = () => {
    this.stdin?.destroy();
    this.stdout?.destroy();
  };
  const late = setTimeout(end, LAST_OUTPUT);
  this.once('close', () => clearTimeout(late));
}

/** Milliseconds within which what a process wrote before it ended is there. */
const LAST_OUTPUT = 500;

/** A transport to a server in a child process. */
export function stdioTransport(server: StdioServer, observer: ProcessObserver | undefined): StdioClientTransport {
  const { command, args, env, cwd, stderr } = server;
  const parameters: StdioServerParameters = {
    command,
    args: [...(args ?? [])],
    stderr: stderr ?? 'inherit',
    maxBufferSize: STDIO_MESSAGE_BYTES,
    ...(env !== undefined && { env: { ...env } }),
    ...(cwd !== undefined && { cwd }),
  };
  return new OneProcessTransport(parameters, observer);
}
