import { isAbsence } from '../wire-errors.ts';

export interface Page {
  readonly items: readonly unknown[];
  readonly nextCursor: unknown;
}

export interface Walk {
  readonly fetch: (cursor: string | undefined) => Promise<Page>;
  /** What makes an item the same as one seen before. */
  readonly keyOf: (item: unknown) => unknown;
  readonly pages: number;
  readonly items: number;
  /** Milliseconds that the whole walk has. */
  readonly ms: number;
}

/** The part of its time in which a walk asks for more: what came by then is of use, what comes too late is not. */
const ASKING = 0.75;

/**
 * Walks a paged listing to its end (LST-1): on while `nextCursor` is a string, the empty one included, and no further
 * than a page that brings nothing new. What ended the walk before the server did is told in `partial`. A failure of the
 * first page is thrown; a later one keeps what came before it.
 */
export async function walkPages(walk: Walk): Promise<{ items: readonly unknown[]; partial: string | undefined }> {
  const items: unknown[] = [];
  const seen = new Set<unknown>();
  let cursor: string | undefined;
  const until = performance.now() + walk.ms * ASKING;
  for (let pages = 1; ; pages++) {
    let page: Page;
    try {
      page = await walk.fetch(cursor);
    } catch (error) {
      if (cursor === undefined) throw error;
      // Servers that mean "no more" by an empty cursor refuse to be asked with it.
      if (cursor === '' && isAbsence(error)) return { items, partial: undefined };
      return { items, partial: `page ${pages} failed: ${error instanceof Error ? error.message : String(error)}` };
    }
    const fresh = page.items.filter((item) => !seen.has(walk.keyOf(item) ?? item));
    if (cursor !== undefined && fresh.length === 0) {
      return { items, partial: cursor === '' ? undefined : `page ${pages} brought nothing new` };
    }
    for (const item of page.items) {
      if (items.length >= walk.items) return { items, partial: `cut at ${walk.items} items` };
      items.push(item);
      seen.add(walk.keyOf(item) ?? item);
    }
    if (typeof page.nextCursor !== 'string') return { items, partial: undefined };
    if (pages >= walk.pages) return { items, partial: `cut after ${walk.pages} pages` };
    if (performance.now() > until) return { items, partial: `cut after ${pages} pages, which took too long` };
    cursor = page.nextCursor;
  }
}
