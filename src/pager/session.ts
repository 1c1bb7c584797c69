import { upToDepth } from '../base/depth.ts';
import { Fault, isFault } from '../base/fault.ts';
import { ENTRY_DEPTH } from '../base/limits.ts';
import { shortened } from '../base/quote.ts';
import type { SharedContent } from '../content/shared/shared-content.ts';
import { bytesOf, type Expected, VerificationError, verifyBytes } from '../content/verify.ts';
import type { CallOptions } from '../protocol/client.ts';
import type { DialectChoice } from '../protocol/dialect-choice.ts';
import { walkResources } from '../protocol/resources.ts';
import { complete, listTemplates } from '../protocol/templates.ts';
import { busyFor, isCut, isLostSession } from '../protocol/wire-errors.ts';
import { Backoff } from './backoff.ts';
import { ChangeNotices } from './change-notices.ts';
import { Connector, type ConnectorOptions, type Open } from './connector.ts';
import { within } from './deadline.ts';
import type { Place } from './places.ts';
import type { PageReply, PageRequest } from './port.ts';

/** Deadlines in milliseconds. */
export interface Deadlines {
  readonly connect: number;
  readonly request: number;
  readonly list: number;
}

export interface SessionOptions extends Omit<ConnectorOptions, 'changed' | 'lost'> {
  readonly deadlines: Deadlines;
  /** Bounds the requests under way; waiting for a place does not count against a deadline. */
  readonly place: Place;
  readonly tell: (what: 'changed' | 'lost') => void;
  /** Where files are looked for before the server is asked, and put when it was. */
  readonly shared?: SharedContent | undefined;
}

/**
 * One server: puts each question under a deadline, and once more where that is likely to help. Every question is a mere
 * read, so asking twice does no harm.
 */
export class Session {
  readonly #options: SessionOptions;
  readonly #connector: Connector;
  readonly #notices: ChangeNotices;
  readonly #backoff = new Backoff();

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#notices = new ChangeNotices(() => options.tell('changed'));
    this.#connector = new Connector({ ...options, changed: this.#notices.changed, lost: () => options.tell('lost') });
  }

  async answer(request: PageRequest, signal: AbortSignal): Promise<PageReply[PageRequest['kind']]> {
    if (request.kind === 'blob') return this.#file(request.uri, request.expected, signal);
    return this.#answer(request, signal);
  }

  async #answer(
    request: Exclude<PageRequest, { kind: 'blob' }>,
    signal: AbortSignal,
  ): Promise<PageReply[PageRequest['kind']]> {
    // Whoever connects and lists decides for themselves when to try again.
    if (request.kind !== 'connect' && request.kind !== 'list') this.#backoff.check();
    const open = await this.#opened();
    signal.throwIfAborted();
    const { choice } = open;
    const { deadlines } = this.#options;
    switch (request.kind) {
      case 'connect':
        return { ...open.negotiated, ...choice.spoken };
      case 'list':
        return this.#notices.during(() =>
          this.#ask(deadlines.list, listingWith(choice), signal, async (choice, options) => {
            const listing = await choice.list(options);
            return { ...listing, entries: listing.entries.map((entry) => upToDepth(entry, ENTRY_DEPTH)) };
          }),
        );
      case 'resources':
        return this.#ask(deadlines.list, 'resources/list', signal, ({ client }, options) =>
          walkResources(client, options),
        );
      case 'templates':
        return this.#ask(deadlines.list, 'resources/templates/list', signal, ({ client }, options) =>
          listTemplates(client, options),
        );
      case 'complete':
        return this.#ask(deadlines.request, `completion/complete ${request.uri}`, signal, ({ client }, options) =>
          complete(client, request.question, options),
        );
      case 'get':
        return this.#ask(deadlines.request, `skills/get ${request.uri}`, signal, async ({ current }, options) =>
          upToDepth(await current?.get(request.uri, options), ENTRY_DEPTH),
        );
      case 'directory':
        return this.#ask(
          deadlines.request,
          `resources/directory/read ${request.uri}`,
          signal,
          async ({ current }, options) =>
            (current?.readDirectory ?? current?.findChildren)?.call(current, request.uri, options),
        );
    }
  }

  /** A file as the shared store has it, else as the server has it. */
  async #file(uri: string, expected: Expected | undefined, signal: AbortSignal): Promise<Uint8Array | undefined> {
    const { label, shared, deadlines } = this.#options;
    const file = expected && shared?.file(label, uri, expected);
    const found = await file?.find();
    signal.throwIfAborted();
    if (found !== undefined) return found;
    this.#backoff.check();
    const answer = await this.#ask(
      deadlines.request,
      `resources/read ${uri}`,
      signal,
      async ({ current }, options) => (await file?.findOrClaim()) ?? current?.read(uri, options),
    );
    if (answer === undefined || answer instanceof Uint8Array) return answer;
    const bytes = this.#verified(answer, uri, expected);
    file?.keep(bytes);
    return bytes;
  }

  async close(): Promise<void> {
    this.#notices.close();
    await this.#connector.close();
  }

  async #opened(): Promise<Open> {
    const since = performance.now();
    try {
      return await this.#connector.open();
    } catch (error) {
      this.#count(error, since);
      throw error;
    }
  }

  async #ask<T>(
    ms: number,
    asked: string,
    signal: AbortSignal,
    exchange: (choice: DialectChoice, options: CallOptions) => Promise<T>,
  ): Promise<T> {
    const { label, place } = this.#options;
    const bounds = { label, asked: shortened(asked), ms, signal };
    return place(async () => {
      const since = performance.now();
      try {
        const answer = await within(bounds, (options, left) =>
          this.#persist(options, left, (choice) => exchange(choice, options)),
        );
        this.#backoff.worked();
        return answer;
      } catch (error) {
        this.#count(error, since);
        throw error;
      }
    });
  }

  /** Asks again, once for each reason: after a wait that the server asked for, over a connection that broke, in a new session. */
  async #persist<T>(
    { signal }: CallOptions,
    left: () => number,
    exchange: (choice: DialectChoice) => Promise<T>,
  ): Promise<T> {
    const tried = new Set<Remedy>();
    for (;;) {
      const open = await this.#connector.open();
      try {
        return await exchange(open.choice);
      } catch (thrown) {
        const error = (isCut(thrown) ? open.brokenBy() : undefined) ?? thrown;
        const remedy = remedyFor(error, open, left());
        if (remedy === undefined || tried.has(remedy) || signal.aborted) throw error;
        tried.add(remedy);
        if (remedy === 'wait') await pause(busyFor(error) ?? 0, signal);
        if (remedy === 'new session') await this.#connector.drop(open);
      }
    }
  }

  #verified(result: unknown, uri: string, expected: { size: number; digest: string } | undefined): Uint8Array {
    try {
      const bytes = bytesOf(result, uri);
      if (expected !== undefined) verifyBytes(bytes, expected, uri);
      return bytes;
    } catch (error) {
      if (!(error instanceof VerificationError)) throw error;
      throw new Fault('EIO', { detail: `server "${this.#options.label}": ${error.message}`, cause: error });
    }
  }

  #count(error: unknown, since: number): void {
    if (!isFault(error)) return;
    if (error.code === 'EHOSTUNREACH' || error.code === 'ETIMEDOUT') this.#backoff.failed(error, since);
    else this.#backoff.worked();
  }
}

function listingWith({ current }: DialectChoice): string {
  return current === undefined || current.name === 'skills' ? 'skills/list' : `listing (${current.name})`;
}

type Remedy = 'wait' | 'new connection' | 'new session';

function remedyFor(error: unknown, open: Open, left: number): Remedy | undefined {
  const busy = busyFor(error);
  if (busy !== undefined) return busy < left ? 'wait' : undefined;
  if (open.hasSession && isLostSession(error)) return 'new session';
  // A client of the host's is not connected anew by us: what it lost stays lost.
  return isCut(error) && (open.isAlive() || open.reopens) ? 'new connection' : undefined;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', leave);
      resolve();
    }, ms);
    signal.addEventListener('abort', leave, { once: true });
  });
}
