import type { Op } from '../base/op.ts';
import { rootUriOf, type SkillNode, type SkillTree } from '../catalog/tree.ts';
import { isUriProblem, parseSkillUri, toTreePath } from '../catalog/uri.ts';
import { ask, type ServerState } from './server-state.ts';

/** What a server shows of a skill's directories beside what the held manifest lists. Paths are below the skill's directory. */
export interface DirectoryDifference {
  /** The SKILL.md URI. */
  readonly uri: string;
  /** Shown, and not listed. Neither readable nor listed until the entry is refreshed (DIR-2). */
  readonly unlisted: readonly string[];
  /** Listed, and not shown. */
  readonly missing: readonly string[];
}

/**
 * Asks the server for the directories of a skill with a manifest, and compares. The tree stays as it is: the manifest is the
 * truth, and a difference means that the skill changed on the server (DIR-2). Nothing is asked of a server that does not
 * declare directory reads (NEG-2).
 */
export function* directoryDifference(state: ServerState, skill: SkillNode): Op<DirectoryDifference | undefined> {
  const { entry } = skill;
  const { tree, negotiated } = state;
  if (tree === undefined || entry.resources === 'dynamic' || negotiated?.directoryRead !== true) return undefined;
  const listed = new Map([...below(tree, entry.root)].map(({ path, kind }) => [path, kind]));
  const shown = new Set<string>();
  const unlisted: string[] = [];
  const pending = [{ path: entry.root, uri: rootUriOf(entry) }];
  for (let dir = pending.pop(); dir !== undefined; dir = pending.pop()) {
    for (const { uri, kind } of (yield* ask({ kind: 'directory', label: state.label, uri: dir.uri })) ?? []) {
      const parsed = parseSkillUri(uri);
      const path = isUriProblem(parsed) ? undefined : toTreePath(parsed);
      // What a server shows elsewhere than in the directory asked about is nothing of it.
      if (path === undefined || !path.startsWith(`${dir.path}/`) || path.slice(dir.path.length + 1).includes('/'))
        continue;
      if (listed.get(path) !== kind) unlisted.push(path);
      else {
        shown.add(path);
        if (kind === 'directory') pending.push({ path, uri });
      }
    }
  }
  const missing = [...listed].flatMap(([path, kind]) => (kind === 'file' && !shown.has(path) ? [path] : []));
  if (unlisted.length === 0 && missing.length === 0) return undefined;
  const relative = (path: string) => path.slice(entry.root.length + 1);
  return { uri: entry.uri, unlisted: unlisted.map(relative).sort(), missing: missing.map(relative).sort() };
}

function* below(tree: SkillTree, path: string): Generator<{ path: string; kind: 'file' | 'directory' }> {
  const { node } = tree.lookup(path);
  if (node?.kind !== 'directory') return;
  for (const child of tree.list(node)) {
    const own = `${path}/${child.name}`;
    yield { path: own, kind: child.node.kind };
    if (child.node.kind === 'directory') yield* below(tree, own);
  }
}
