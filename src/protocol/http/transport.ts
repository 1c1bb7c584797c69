import { StreamableHTTPClientTransport, withDpopFromProvider } from '@modelcontextprotocol/client';
import { HTTP_ANSWER_BYTES, STREAM_AGAIN } from '../../base/limits.ts';
import type { HttpServer } from '../server-config.ts';
import { AnswerCut } from '../wire-errors.ts';
import { type Fetch, guardedFetch } from './guarded-fetch.ts';
import { withOwnHeaders } from './own-headers.ts';
import { isOAuth, sharedAuth } from './shared-auth.ts';

type Send = StreamableHTTPClientTransport['send'];

/** Streamable HTTP with bounded answers, in which a request whose answer breaks off fails at once. */
class HttpTransport extends StreamableHTTPClientTransport {
  override send(...[message, options]: Parameters<Send>): Promise<void> {
    if (Array.isArray(message) || !('id' in message && 'method' in message)) return super.send(message, options);
    const { id } = message;
    return super.send(message, {
      ...options,
      onRequestStreamEnd: () => {
        options?.onRequestStreamEnd?.();
        this.failRequest(id, new AnswerCut());
      },
    });
  }

  /** Answers a request that is still waiting, in the server's place. */
  failRequest(id: string | number, error: Error): void {
    this.onmessage?.({ jsonrpc: '2.0', id, error: { code: -32000, message: error.message, data: error } });
  }
}

/** A transport to a server over Streamable HTTP. */
export function httpTransport(server: HttpServer): StreamableHTTPClientTransport {
  const { headers = {}, authProvider, fetch: given = fetch } = server;
  const url = new URL(server.url);
  const authorizations = new WeakMap<Response, string | null>();
  const guarded = guardedFetch(withOwnHeaders(given, url, headers), HTTP_ANSWER_BYTES, (error, sent) => {
    const { id } = typeof sent?.body === 'string' ? (JSON.parse(sent.body) as { id?: string | number }) : {};
    if (id !== undefined) transport.failRequest(id, error);
  });
  const remembering: Fetch = async (to, init) => {
    const response = await guarded(to, init);
    authorizations.set(response, new Headers(init?.headers).get('authorization'));
    return response;
  };
  const dpop = authProvider !== undefined && isOAuth(authProvider) && authProvider.dpop !== undefined;
  const transport = new HttpTransport(url, {
    reconnectionScheduler: reconnectLater,
    fetch: dpop ? withDpopFromProvider(authProvider)(remembering) : remembering,
    ...(authProvider !== undefined && {
      authProvider: sharedAuth(authProvider, (response) => authorizations.get(response)),
    }),
  });
  return transport;
}

/** A stream that ended is opened again when the server asks for it, but neither at once nor in a year. */
function reconnectLater(reconnect: () => void, delay: number): () => void {
  const { least, most } = STREAM_AGAIN;
  const timer = setTimeout(reconnect, Math.min(Math.max(delay, least), most));
  (timer as { unref?: () => void }).unref?.();
  return () => clearTimeout(timer);
}
