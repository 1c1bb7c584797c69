import type { Fetch } from './guarded-fetch.ts';

/** Headers of requests that the connection itself answers for: with others, it would break. */
const RESERVED: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'content-type',
  'expect',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** What `fetch` sends: characters of one byte each, and none that ends a line. */
const VALUE = /^[\t\x20-\x7E\x80-\xFF]*$/;

/** Why a header cannot be sent. Says nothing of its value, which may be a secret. */
export function headerProblem(name: string, value: string): string | undefined {
  if (!NAME.test(name)) return 'is no name of a header';
  if (RESERVED.has(name.toLowerCase())) return 'is set by the connection itself';
  if (!VALUE.test(value)) return 'has a value with a line end, a control character or one that is not Latin-1';
  return undefined;
}

/**
 * A `fetch` that sends the headers a server is configured with to that server only: the same `fetch` is used to find and to ask
 * whoever gives credentials for it, which may be anybody whom the server names. What a request has already stays.
 */
export function withOwnHeaders(fetch: Fetch, server: URL, headers: Readonly<Record<string, string>>): Fetch {
  return (to, init) => {
    if (!isOfServer(new URL(to), server)) return fetch(to, init);
    const all = new Headers(init?.headers);
    for (const [name, value] of Object.entries(headers)) if (!all.has(name)) all.set(name, value);
    return fetch(to, { ...init, headers: all });
  };
}

/** The server itself, or the same over TLS, where it leads there. */
function isOfServer(to: URL, server: URL): boolean {
  if (to.origin === server.origin) return true;
  return (
    to.protocol === 'https:' &&
    server.protocol === 'http:' &&
    to.hostname === server.hostname &&
    !to.port &&
    !server.port
  );
}
