import type { Pager } from './port.ts';

/** Hands each request to the pager that keeps its server. */
export function routedPager(pagerOf: (label: string) => Pager, all: readonly Pager[]): Pager {
  return {
    request: (request, signal) => pagerOf(request.label).request(request, signal),
    requestSync: (request) => pagerOf(request.label).requestSync(request),
    onEvent(listener) {
      for (const pager of all) pager.onEvent(listener);
    },
    async close() {
      await Promise.all(all.map((pager) => pager.close()));
    },
  };
}
