import pLimit from 'p-limit';
import { Fault } from '../base/fault.ts';
import { PATIENCE } from '../base/limits.ts';
import { SharedContent, type SharedSetup } from '../content/shared/shared-content.ts';
import { isMcpClient, type McpClient } from '../protocol/client.ts';
import type { DialectFactory } from '../protocol/dialect.ts';
import type { ProcessObserver } from '../protocol/processes.ts';
import { keptInHost, type ServerConfig } from '../protocol/server-config.ts';
import { type Place, places } from './places.ts';
import { keyOf, type PageReply, type PageRequest, type Pager, type PagerEvent } from './port.ts';
import { type Deadlines, Session } from './session.ts';
import { singleFlight } from './single-flight.ts';

export interface HostPagerOptions {
  readonly servers: ReadonlyMap<string, ServerConfig | McpClient>;
  readonly dialects: readonly DialectFactory[];
  readonly deadlines: Deadlines;
  /** Requests under way at once; as many connections as requests in all may be in the making beside them. */
  readonly concurrency: { readonly perServer: number; readonly total: number };
  /** Whether to listen to what servers say of changes. */
  readonly listen: boolean;
  /** A store that other processes share. */
  readonly shared?: SharedSetup | undefined;
  /** Told of the processes of stdio servers. */
  readonly processes?: ProcessObserver;
}

/** A pager in the thread that uses it: everything works but a synchronous call that would have to wait. */
export function hostPager(options: HostPagerOptions): Pager {
  const total = places(options.concurrency.total, PATIENCE);
  // Requests keep their places while a connection is replaced: it needs one that is not theirs.
  const connecting = places(options.concurrency.total, PATIENCE);
  const sessions = new Map<string, Session>();
  const listeners: ((event: PagerEvent) => void)[] = [];
  const emit = (event: PagerEvent) => {
    for (const listener of listeners) listener(event);
  };
  const shared = options.shared && new SharedContent(options.shared, (problem) => emit({ what: 'shared', ...problem }));
  for (const [label, source] of options.servers) {
    const own = pLimit(options.concurrency.perServer);
    const place: Place = (task) => own(() => total(task));
    const tell = (what: 'changed' | 'lost') => emit({ label, what });
    sessions.set(label, new Session({ ...options, label, source, place, connecting, tell, shared }));
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
    requestSync: (requests) =>
      requests.map((request) => ({
        status: 'rejected',
        reason: wouldBlock(request, keptHere(options.servers.get(request.label))),
      })),
    onEvent(listener) {
      listeners.push(listener);
    },
    async close() {
      await Promise.all([...sessions.values()].map((session) => session.close()));
      await shared?.close();
    },
  };
}

function wouldBlock(request: PageRequest, why: string): Fault {
  return new Fault('EAGAIN', {
    detail:
      `server "${request.label}": ${what(request)} is not in memory, and a synchronous call cannot wait for it in ` +
      `this thread${why}; await mount.preload([path]) (or mount.ready()) first, or use the asynchronous call`,
  });
}

function what(request: PageRequest): string {
  return 'uri' in request ? request.uri : 'its listing';
}

/** Why a server's connection lives in this thread, where it is not told otherwise. */
function keptHere(source: ServerConfig | McpClient | undefined): string {
  if (source === undefined || isMcpClient(source)) return '';
  const kept = keptInHost(source);
  return kept === undefined ? '' : `, where the server is because its ${kept} cannot leave it`;
}
