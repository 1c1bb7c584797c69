import pLimit, { type LimitFunction } from 'p-limit';
import { Fault } from '../base/fault.ts';
import type { McpClient } from '../protocol/client.ts';
import type { ServerConfig } from '../protocol/connect.ts';
import type { DialectFactory } from '../protocol/dialect.ts';
import { keyOf, type PageReply, type PageRequest, type Pager } from './port.ts';
import { type Deadlines, type ProcessObserver, Session } from './session.ts';
import { singleFlight } from './single-flight.ts';

export interface HostPagerOptions {
  readonly servers: ReadonlyMap<string, ServerConfig | McpClient>;
  readonly dialects: readonly DialectFactory[];
  readonly deadlines: Deadlines;
  /** Requests under way at once. */
  readonly concurrency: { readonly perServer: number; readonly total: number };
  /** Told of the processes of stdio servers. */
  readonly processes?: ProcessObserver;
}

/** A pager in the thread that uses it: everything works but a synchronous call that would have to wait. */
export function hostPager(options: HostPagerOptions): Pager {
  const total = pLimit(options.concurrency.total);
  const sessions = new Map<string, Session>();
  for (const [label, source] of options.servers) {
    const own = pLimit(options.concurrency.perServer);
    const limit = ((run: () => Promise<unknown>) => own(() => total(run))) as LimitFunction;
    sessions.set(label, new Session({ ...options, label, source, limit }));
  }
  const flight = singleFlight<unknown>();

  return {
    async request<K extends PageRequest['kind']>(
      request: Extract<PageRequest, { kind: K }>,
      signal?: AbortSignal,
    ): Promise<PageReply[K]> {
      const session = sessions.get(request.label);
      if (session === undefined) throw new Fault('ENOENT', { detail: `no server "${request.label}"` });
      const answer = flight(keyOf(request), (shared) => session.answer(request, shared), signal);
      return (await answer) as PageReply[K];
    },
    requestSync: (requests) => requests.map((request) => ({ status: 'rejected', reason: wouldBlock(request) })),
    async close() {
      await Promise.all([...sessions.values()].map((session) => session.close()));
    },
  };
}

function wouldBlock(request: PageRequest): Fault {
  return new Fault('EAGAIN', {
    detail:
      `server "${request.label}": ${what(request)} is not in memory, and a synchronous call cannot wait for it in ` +
      'this thread; await mount.preload([path]) (or mount.ready()) first, or use the asynchronous call',
  });
}

function what(request: PageRequest): string {
  return 'uri' in request ? request.uri : 'its listing';
}
