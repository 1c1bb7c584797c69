import type { CallOptions, McpClient } from './client.ts';
import type { Dialect, DialectFactory, Listing, Spoken } from './dialect.ts';
import { ResourceWalk } from './resources.ts';
import { isAnswer, isUnknownMethod, isUnknownResource } from './wire-errors.ts';

/** What looking for a dialect came to. */
interface Found {
  readonly dialect: Dialect | undefined;
  /** The place of `dialect` among those tried. */
  readonly place: number;
  /** Why it is not known whether the server speaks any, where none was found. */
  readonly failure?: unknown;
  readonly notes: readonly string[];
}

/**
 * The dialect that is spoken with one connected server: the first of those tried that it speaks. Found when connecting;
 * given up for a later one when listing shows that the server has not the method it is listed by.
 */
export class DialectChoice {
  readonly client: McpClient;
  readonly #tried: readonly DialectFactory[];
  #found: Found;

  private constructor(client: McpClient, tried: readonly DialectFactory[], found: Found) {
    this.client = client;
    this.#tried = tried;
    this.#found = found;
  }

  /**
   * An answer that is neither a yes nor a no does not make this fail: what it means is told by {@link list}.
   *
   * @throws what kept the server from answering
   */
  static async make(client: McpClient, tried: readonly DialectFactory[], options: CallOptions): Promise<DialectChoice> {
    return new DialectChoice(client, tried, await look(client, tried, 0, options));
  }

  /** Absent when the server speaks of skills in no way known here, or could not say. */
  get current(): Dialect | undefined {
    return this.#found.dialect;
  }

  get spoken(): Spoken | undefined {
    const { dialect } = this.#found;
    if (dialect === undefined) return undefined;
    return {
      dialect: dialect.name,
      directoryRead: dialect.readDirectory !== undefined,
      findsChildren: dialect.findChildren !== undefined,
      verbatim: dialect.verbatim,
    };
  }

  /** @throws what the dialect's listing throws; what kept the server from saying whether it speaks one */
  async list(options: CallOptions): Promise<Listing> {
    const before = this.current;
    if (this.#found.failure !== undefined) this.#found = await look(this.client, this.#tried, 0, options);
    if (this.#found.failure !== undefined) throw this.#found.failure;
    const listing = (await this.#listed(options)) ?? { entries: [] };
    const notes = [...this.#found.notes, ...(listing.notes ?? [])];
    return {
      ...listing,
      ...(notes.length > 0 && { notes }),
      ...(this.spoken !== undefined && this.current !== before && { spoken: this.spoken }),
    };
  }

  async #listed(options: CallOptions): Promise<Listing | undefined> {
    const { dialect, place } = this.#found;
    try {
      return await dialect?.list(options);
    } catch (error) {
      if (!isUnknownMethod(error)) throw error;
      const other = await look(this.client, this.#tried, place + 1, options);
      // It declared this one, and nothing else is known of it: its skills may be readable all the same.
      if (other.dialect === undefined) throw error;
      const why = `listing in the dialect "${dialect?.name}", which the server declares, answers "${(error as Error).message}"`;
      this.#found = { ...other, notes: [...other.notes, `${why}; the dialect "${other.dialect.name}" is used`] };
      return other.dialect.list(options);
    }
  }
}

/** Tries dialects in order, beginning with the one at `from`. */
async function look(
  client: McpClient,
  tried: readonly DialectFactory[],
  from: number,
  options: CallOptions,
): Promise<Found> {
  const walk = new ResourceWalk(client);
  const failures: Error[] = [];
  const notes = () => failures.map(({ message }) => `looking for skills: ${message}`);
  for (let place = from; place < tried.length; place++) {
    try {
      const dialect = await tried[place]?.(client, options, walk);
      if (dialect !== undefined) return { dialect, place, notes: notes() };
    } catch (error) {
      options.signal.throwIfAborted();
      if (isUnknownMethod(error) || isUnknownResource(error)) continue;
      if (!isAnswer(error)) throw error;
      failures.push(error as Error);
    }
  }
  const [failure] = failures;
  return { dialect: undefined, place: tried.length, notes: [], ...(failure !== undefined && { failure }) };
}
