import type { Pager } from './port.ts';

/** Hands each request to the pager that keeps its server. */
export function routedPager(pagerOf: (label: string) => Pager, all: readonly Pager[]): Pager {
  return {
    request: (request, signal) => pagerOf(request.label).request(request, signal),
    requestSync(requests) {
      const outcomes: PromiseSettledResult<unknown>[] = [];
      for (const pager of all) {
        const own = requests.flatMap((request, index) =>
          pagerOf(request.label) === pager ? [{ request, index }] : [],
        );
        if (own.length === 0) continue;
        const answers = pager.requestSync(own.map(({ request }) => request));
        for (const [at, { index }] of own.entries()) outcomes[index] = answers[at] as PromiseSettledResult<unknown>;
      }
      return outcomes;
    },
    onEvent(listener) {
      for (const pager of all) pager.onEvent(listener);
    },
    async close() {
      await Promise.all(all.map((pager) => pager.close()));
    },
  };
}
