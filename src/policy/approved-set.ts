import type { SkillEntry } from '../catalog/types.ts';

/** A file as it was approved. */
export interface ApprovedFile {
  readonly uri: string;
  /** Bytes. */
  readonly size: number;
  /** `sha256:` and hexadecimal digits. */
  readonly digest: string;
}

/** How one set of files differs from an approved one, by URI. */
export interface SetDifference {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Of the same URI, with another content. */
  readonly changed: readonly string[];
}

/** What an approval of a skill is bound to: every file with its digest, in the order of URIs; nothing for a dynamic one (SEC-6). */
export function filesOf({ resources }: Pick<SkillEntry, 'resources'>): readonly ApprovedFile[] | undefined {
  if (resources === 'dynamic') return undefined;
  const files = resources.map(({ uri, size, digest }) => ({ uri, size, digest }));
  return files.sort((a, b) => (a.uri < b.uri ? -1 : 1));
}

/** `undefined` when both are the same, whatever their order. */
export function differenceOf(
  approved: readonly ApprovedFile[],
  now: readonly ApprovedFile[],
): SetDifference | undefined {
  const before = new Map(approved.map(({ uri, digest }) => [uri, digest]));
  const after = new Map(now.map(({ uri, digest }) => [uri, digest]));
  const added = [...after.keys()].filter((uri) => !before.has(uri));
  const removed = [...before.keys()].filter((uri) => !after.has(uri));
  const changed = [...after].flatMap(([uri, digest]) => (before.has(uri) && before.get(uri) !== digest ? [uri] : []));
  if (added.length + removed.length + changed.length === 0) return undefined;
  return { added: added.sort(), removed: removed.sort(), changed: changed.sort() };
}

/** URIs named in one sentence. */
const NAMED = 5;

/** What changed, in words. Names below `rootUri` are given without it. */
export function changesInWords({ added, removed, changed }: SetDifference, rootUri: string): string {
  const parts = [
    ['changed', changed],
    ['added', added],
    ['removed', removed],
  ] as const;
  const said = parts.flatMap(([what, uris]) => {
    if (uris.length === 0) return [];
    const names = uris
      .slice(0, NAMED)
      .map((uri) => (uri.startsWith(`${rootUri}/`) ? uri.slice(rootUri.length + 1) : uri));
    const more = uris.length > NAMED ? ` and ${uris.length - NAMED} more` : '';
    return [`${what} ${names.join(', ')}${more}`];
  });
  return said.join('; ');
}
