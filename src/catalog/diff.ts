import { rootUriOf, type SkillTree } from './tree.ts';
import type { SkillEntry } from './types.ts';
import { isUriProblem, pathBelow } from './uri.ts';

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

/**
 * The paths below the server's directory that two snapshots differ in: files with other content, files and directories that
 * came or went, and the directories whose entries these are.
 */
export function changedPaths(before: SkillTree | undefined, after: SkillTree): ReadonlySet<string> {
  const changed = new Set<string>();
  const skills = (tree: SkillTree | undefined) => new Map(tree?.skills.map(({ entry }) => [entry.root, entry]));
  const [old, now] = [skills(before), skills(after)];
  for (const root of new Set([...old.keys(), ...now.keys()])) {
    const [then, current] = [old.get(root), now.get(root)];
    if (then === current) continue;
    const [was, is] = [filesOf(then), filesOf(current)];
    for (const [path, digest] of [...was, ...is]) {
      if (was.get(path) === is.get(path) && digest !== '') continue;
      changed.add(path);
      if (was.has(path) === is.has(path)) continue;
      for (let parent = parentOf(path); parent !== undefined; parent = parentOf(parent)) {
        if (changed.has(parent)) break;
        const node = (tree: SkillTree | undefined) => tree?.lookup(parent as string).node;
        changed.add(parent);
        if (node(before) !== undefined && node(after) !== undefined) break;
      }
    }
  }
  return changed;
}

/** Digests by path below the server's directory; of a dynamic skill only SKILL.md is known, without digest. */
function filesOf(entry: SkillEntry | undefined): ReadonlyMap<string, string> {
  if (entry === undefined) return new Map();
  if (entry.resources === 'dynamic') return new Map([[`${entry.root}/SKILL.md`, '']]);
  const root = rootUriOf(entry);
  const files = new Map<string, string>();
  for (const { uri, digest } of entry.resources) {
    const below = pathBelow(root, entry.root, uri);
    if (!isUriProblem(below)) files.set(`${entry.root}/${below}`, digest);
  }
  return files;
}

function parentOf(path: string): string | undefined {
  if (path === '') return undefined;
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}
