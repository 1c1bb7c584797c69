import type { Fetch } from './guarded-fetch.ts';
import { isOfServer } from './own-headers.ts';

/** Redirects followed one after the other. */
const REDIRECTS = 5;

/**
 * A `fetch` that is sent elsewhere only within the server's own origin, or to the same over TLS, and with the same method: what is asked of a server,
 * and the headers it is asked with, go to no other (SEC-4). Requests for other URLs, such as those of an authorization server, are
 * left alone.
 *
 * @throws Error naming the other origin
 */
export function ownOriginFetch(fetch: Fetch, server: URL): Fetch {
  return async (url, init) => {
    if (String(url) !== server.href) return fetch(url, init);
    let at = url;
    for (let followed = 0; followed <= REDIRECTS; followed++) {
      const response = await fetch(at, { ...init, redirect: 'manual' });
      const location = response.headers.get('location');
      if (response.status < 300 || response.status > 399 || location === null) return response;
      await response.body?.cancel();
      const next = new URL(location, at);
      const keepsMethod = response.status === 307 || response.status === 308 || (init?.method ?? 'GET') === 'GET';
      if (!isOfServer(next, server) || !keepsMethod) {
        throw new Error(
          `${server.origin} redirects to ${next.href}, which is not followed; give that URL if it is meant`,
        );
      }
      at = next;
    }
    throw new Error(`${server.origin} redirects without end`);
  };
}
