import type { ChangeSource } from '../node/index.ts';

interface Mapped {
  readonly source: ChangeSource;
  /** The paths of the view that a path of the source stands at. */
  pathsOf(path: string): readonly string[];
}

/** Tells of the changes of several sources, by the paths of a view. */
export function changedBy(sources: readonly Mapped[]): ChangeSource {
  return {
    subscribe(listener) {
      const ends = sources.map(({ source, pathsOf }) =>
        source.subscribe((path) => {
          for (const shown of pathsOf(path)) listener(shown);
        }),
      );
      return () => {
        for (const end of ends) end();
      };
    },
  };
}
