import { AnswerTooLarge, ServerBusy } from '../wire-errors.ts';

/** The part of `fetch` that a connection uses. */
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * A `fetch` whose answers are bounded: a body, or one event of an event stream, that is larger than `limit` bytes fails with
 * {@link AnswerTooLarge}. A server that is busy and says for how long fails the call with {@link ServerBusy}.
 *
 * @param tooLarge told of the first, with what was sent: whoever reads the body may keep its failure to themselves
 */
export function guardedFetch(
  fetch: Fetch,
  limit: number,
  tooLarge: (error: AnswerTooLarge, sent: RequestInit | undefined) => void,
): Fetch {
  return async (url, init) => {
    const response = await fetch(url, init);
    const { status, body } = response;
    if (status === 429 || status === 503) {
      const wait = retryAfterMs(response.headers.get('retry-after'), Date.now());
      if (wait !== undefined) {
        await body?.cancel();
        throw new ServerBusy(status, wait);
      }
    }
    if (typeof body?.pipeThrough !== 'function') return response;
    const events = /^text\/event-stream\b/i.test(response.headers.get('content-type') ?? '');
    const counting = bounded(limit, events, (error) => tooLarge(error, init));
    return new Response(body.pipeThrough(counting), response);
  };
}

/** What `Retry-After` asks for, in milliseconds from `now`: seconds, or a date. */
export function retryAfterMs(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  if (/^\s*\d+\s*$/.test(header)) return Number(header) * 1_000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Counts bytes, of an event stream those of one event: an empty line ends it, and with it the count. */
function bounded(
  limit: number,
  events: boolean,
  tooLarge: (error: AnswerTooLarge) => void,
): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  let lineIsEmpty = true;
  const count = (chunk: Uint8Array) => {
    for (let at = 0; at < chunk.length; ) {
      const end = events ? chunk.indexOf(LINE_FEED, at) : -1;
      const line = chunk.subarray(at, end === -1 ? chunk.length : end);
      bytes += line.length;
      if (line.length > 1 || (line.length === 1 && line[0] !== CARRIAGE_RETURN)) lineIsEmpty = false;
      if (bytes > limit) {
        const error = new AnswerTooLarge(limit);
        tooLarge(error);
        throw error;
      }
      if (end === -1) return;
      if (lineIsEmpty) bytes = 0;
      lineIsEmpty = true;
      at = end + 1;
    }
  };
  return new TransformStream({
    transform(chunk, controller) {
      count(chunk);
      controller.enqueue(chunk);
    },
  });
}

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
