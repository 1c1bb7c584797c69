import type { RefusalReason, SkillEntry } from './types.ts';
import { isUriProblem, pathBelow } from './uri.ts';

export interface EntryConflict {
  readonly reason: RefusalReason;
  readonly message: string;
}

/**
 * Why a skill cannot stand inside another's directory: the enclosing manifest has a file where the inner skill's
 * directory is, or the two list one file with different digests or sizes (ENT-4, ENT-7).
 */
export function conflictBetween(outer: SkillEntry, inner: SkillEntry): EntryConflict | undefined {
  if (outer.resources === 'dynamic') return undefined;
  const innerRoot = inner.root.slice(outer.root.length + 1);
  const outerUri = outer.uri.slice(0, -'/SKILL.md'.length);
  const shared = new Map<string, { uri: string; size: number; digest: string }>();
  for (const file of outer.resources) {
    const below = pathBelow(outerUri, outer.root, file.uri);
    if (isUriProblem(below)) continue;
    if (innerRoot === below || innerRoot.startsWith(`${below}/`)) {
      return {
        reason: 'file-and-directory',
        message: `${file.uri} is a file of ${outer.uri}, and a directory on the way to ${inner.uri}`,
      };
    }
    if (below.startsWith(`${innerRoot}/`)) shared.set(below.slice(innerRoot.length + 1), file);
  }
  if (inner.resources === 'dynamic' || shared.size === 0) return undefined;
  const innerUri = inner.uri.slice(0, -'/SKILL.md'.length);
  for (const file of inner.resources) {
    const below = pathBelow(innerUri, inner.root, file.uri);
    if (isUriProblem(below)) continue;
    const other = shared.get(below);
    if (other !== undefined && (other.digest !== file.digest || other.size !== file.size)) {
      return {
        reason: 'conflicting-digest',
        message: `${file.uri} has digest ${file.digest} in ${inner.uri} and ${other.digest} in ${outer.uri}`,
      };
    }
  }
  return undefined;
}
