import type { Mount, Origin, SkillInfo } from '../mount.ts';
import { nodeOf } from '../mounted.ts';
import { type FlatViewOptions, flat } from '../views/flat.ts';
import { LOCK_FILE, WORK_DIRECTORY } from './lock.ts';
import { portablePaths } from './portable-names.ts';

export type Layout = 'tree' | 'flat';

/** A file that is to be copied. */
export interface PlannedFile {
  /** Its path below the target. */
  readonly path: string;
  readonly uri: string;
  /** The digest that the manifest lists. */
  readonly manifest?: string;
  /** @throws what a mount gives; nothing but verified content comes back, where there are digests */
  read(): Promise<Uint8Array>;
}

/** A skill that is to be copied, with all its files, or why it cannot be. */
export interface PlannedSkill {
  readonly label: string;
  readonly uri: string;
  readonly content: SkillInfo['content'];
  readonly files: readonly PlannedFile[];
  readonly error?: Error;
}

interface Source {
  readonly promises: Mount['promises'];
  readonly skills: readonly SkillInfo[];
  /** What a copied path is called, as a path below the target. */
  below(path: string): string;
  originOf(path: string): Origin | undefined;
}

/** What a mount's servers, which have been listed, have to copy. Of skills with manifests nothing is asked for it. */
export async function planOf(
  mount: Mount,
  layout: Layout,
  naming: Pick<FlatViewOptions, 'collisions' | 'reserved'>,
): Promise<readonly PlannedSkill[]> {
  const source = layout === 'flat' ? flatSource(mount, naming) : treeSource(mount);
  const walked = await Promise.all(
    source.skills.map(async (skill) => {
      try {
        return { skill, paths: await filesBelow(source, skill.path) };
      } catch (error) {
        return { skill, paths: [], error: error as Error };
      }
    }),
  );
  const below = new Set(walked.flatMap(({ paths }) => paths.map(source.below)));
  const spelled = portablePaths(below, [LOCK_FILE, WORK_DIRECTORY]);
  return walked.map(({ skill: { label, uri, content }, paths, error }) => ({
    label,
    uri,
    content,
    files: paths.map((path): PlannedFile => {
      const fileUri = source.originOf(path)?.uri ?? uri;
      const node = nodeOf(mount, label, fileUri);
      const manifest = node?.kind === 'file' ? node.listed?.digest : undefined;
      return {
        path: spelled.get(source.below(path)) as string,
        uri: fileUri,
        ...(manifest !== undefined && { manifest }),
        read: () => source.promises.readFile(path),
      };
    }),
    ...(error !== undefined && { error }),
  }));
}

/** Nested skills are part of the skill they are in (MAP-8). */
function treeSource(mount: Mount): Source {
  const all = mount.skills();
  const roots = new Set(all.map(({ path }) => path));
  const isNested = (path: string) => ancestorsOf(path).some((above) => roots.has(above));
  const start = mount.mountPoint === '/' ? 1 : mount.mountPoint.length + 1;
  return {
    promises: mount.promises,
    skills: all.filter(({ path }) => !isNested(path)),
    below: (path) => path.slice(start),
    originOf: (path) => mount.originOf(path),
  };
}

function flatSource(mount: Mount, naming: Pick<FlatViewOptions, 'collisions' | 'reserved'>): Source {
  // A copy needs to know what is wrong, not to look harmless.
  const view = flat(mount, { ...naming, mountPoint: '/', onServerError: 'throw' });
  return {
    promises: view.promises,
    skills: view.skills() as readonly SkillInfo[],
    below: (path) => path.slice(1),
    originOf: (path) => view.originOf(path) as Origin | undefined,
  };
}

function ancestorsOf(path: string): readonly string[] {
  const names = path.split('/');
  return names.slice(1, -1).map((_, index) => names.slice(0, index + 2).join('/'));
}

async function filesBelow({ promises }: Source, directory: string): Promise<readonly string[]> {
  const entries = await promises.readdir(directory, { withFileTypes: true });
  const below = entries.map(async (entry) => {
    const path = `${directory}/${entry.name}`;
    return entry.isDirectory() ? filesBelow({ promises } as Source, path) : [path];
  });
  return (await Promise.all(below)).flat();
}
