import { StreamableHTTPClientTransport, withDpopFromProvider } from '@modelcontextprotocol/client';
import { HTTP_ANSWER_BYTES } from '../../base/limits.ts';
import type { HttpServer } from '../connect.ts';
import { AnswerCut } from '../wire-errors.ts';
import { type Fetch, guardedFetch } from './guarded-fetch.ts';
import { ownOriginFetch } from './own-origin-fetch.ts';
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
  const { url, headers, authProvider, fetch: given = fetch } = server;
  const authorizations = new WeakMap<Response, string | null>();
  const guarded = guardedFetch(ownOriginFetch(given, new URL(url)), HTTP_ANSWER_BYTES, (error, sent) => {
    const { id } = typeof sent?.body === 'string' ? (JSON.parse(sent.body) as { id?: string | number }) : {};
    if (id !== undefined) transport.failRequest(id, error);
  });
  const remembering: Fetch = async (to, init) => {
    const response = await guarded(to, init);
    authorizations.set(response, new Headers(init?.headers).get('authorization'));
    return response;
  };
  const dpop = authProvider !== undefined && isOAuth(authProvider) && authProvider.dpop !== undefined;
  const transport = new HttpTransport(new URL(url), {
    requestInit: { headers: { ...headers } },
    fetch: dpop ? withDpopFromProvider(authProvider)(remembering) : remembering,
    ...(authProvider !== undefined && {
      authProvider: sharedAuth(authProvider, (response) => authorizations.get(response)),
    }),
  });
  return transport;
}
