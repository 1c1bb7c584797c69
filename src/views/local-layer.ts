import { resolve } from 'node:path';
import { readFrontmatter } from '../catalog/frontmatter.ts';
import type { SkillFrontmatter } from '../catalog/types.ts';
import type { ChangeSource } from '../node/index.ts';
import { isNodes, native } from '../node/native.ts';
import { OptionsError } from '../options.ts';
import { Diagnostics } from '../vfs/diagnostics.ts';
import { callDriver } from '../vfs/driver.ts';
import { LocalFs, type LocalSource } from '../vfs/local-fs.ts';
import type { LocalSkill, SourceLayer } from './layer.ts';
import { watchTree } from './watch-tree.ts';

/** A directory with the user's own skills. */
export interface LocalDirectory {
  /** It need not be there yet. On the disk, relative paths are the working directory's. */
  readonly path: string;
  /** The file system it is in: `node:fs` (default), a memfs volume, or another of this shape. */
  readonly fs?: LocalSource;
  /** Whether what programs write in the union is written here. Default true. */
  readonly writable?: boolean;
}

/** Directories deep that local skills are looked for. */
const DEPTH = 6;

/** @throws OptionsError naming what cannot be used */
export function localLayer(directory: LocalDirectory, where: string): SourceLayer {
  const { path, writable = true } = directory;
  // Were `node:fs` replaced to show this very union, looking through the replacement would not end.
  const fs = directory.fs === undefined || isNodes(directory.fs as object) ? native : directory.fs;
  if (typeof path !== 'string' || path === '')
    throw new OptionsError(`${where}.path: expected the path of a directory`);
  for (const name of ['statSync', 'readdirSync', 'readFileSync', 'realpathSync'] as const) {
    if (typeof fs[name] !== 'function') throw new OptionsError(`${where}.fs: has no ${name}`);
  }
  if (typeof fs.promises?.readFile !== 'function') throw new OptionsError(`${where}.fs: has no promises`);
  const root = resolve(path);
  const diagnostics = new Diagnostics();
  const report = (message: string) => diagnostics.emit({ severity: 'warning', code: 'local', message });
  const local = new LocalFs(fs, root, { report });
  return {
    kind: 'local',
    fs: local,
    writable,
    changes: watched(fs, root),
    originOf: (below) => ({ local: local.pathOf(below) }),
    skills: () => [...skillsBelow(local, '', 0)],
    collisions: () => [],
    onReplaced: () => {},
    onDiagnostic: (listener) => diagnostics.on(listener),
  };
}

/** A walk stops at a skill: what lies in it is its own. */
function* skillsBelow(local: LocalFs, path: string, depth: number): Generator<LocalSkill> {
  let names: readonly { readonly name: string; readonly kind: string }[];
  try {
    names = callDriver.sync(local.readdir(path));
  } catch {
    // A directory that is not there, or that may not be looked into, has no skills to show; a scan of it tells why.
    return;
  }
  if (path !== '' && names.some(({ name, kind }) => name === 'SKILL.md' && kind === 'file')) {
    const skill = skillAt(local, path);
    if (skill !== undefined) yield skill;
    return;
  }
  if (depth >= DEPTH) return;
  for (const { name, kind } of names) {
    if (kind === 'directory') yield* skillsBelow(local, path === '' ? name : `${path}/${name}`, depth + 1);
  }
}

function skillAt(local: LocalFs, path: string): LocalSkill | undefined {
  let frontmatter: SkillFrontmatter;
  try {
    frontmatter = readFrontmatter(callDriver.sync(local.read(`${path}/SKILL.md`)).bytes)
      .frontmatter as SkillFrontmatter;
  } catch {
    // Not a skill that could be listed; it is there for whoever reads it.
    return undefined;
  }
  const { name, description } = frontmatter;
  if (typeof name !== 'string' || typeof description !== 'string') return undefined;
  return { path: `/${path}`, local: local.pathOf(path), name, description, frontmatter, content: 'local' };
}

/** Changes on the disk are told of while somebody listens; other file systems do not tell of theirs. */
function watched(fs: LocalSource, root: string): ChangeSource {
  return { subscribe: (listener) => (fs === native ? watchTree(root, listener) : () => {}) };
}
