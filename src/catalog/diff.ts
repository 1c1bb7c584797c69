import type { SkillTree } from './tree.ts';

/** What a refresh changed, as SKILL.md URIs. */
export interface TreeDiff {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly string[];
}

/** Compares two snapshots of one server. Equal entries share their node, so comparing is looking at identity. */
export function treeDiff(before: SkillTree | undefined, after: SkillTree): TreeDiff {
  const old = new Map(before?.skills.map((skill) => [skill.entry.uri, skill.entry]));
  const added: string[] = [];
  const changed: string[] = [];
  for (const { entry } of after.skills) {
    const held = old.get(entry.uri);
    if (held === undefined) added.push(entry.uri);
    else if (held !== entry) changed.push(entry.uri);
    old.delete(entry.uri);
  }
  return { added, removed: [...old.keys()], changed };
}
