import type { Mount, Origin, SkillInfo } from '../mount.ts';
import { keepViewInternals, mountInternalsOf, type OnServerError } from '../mounted.ts';
import { createNodeFs } from '../node/index.ts';
import { OptionsError } from '../options.ts';
import { Diagnostics } from '../vfs/diagnostics.ts';
import type { Candidate, NameCollision } from '../vfs/flat-names.ts';
import { FlatView } from '../vfs/flat-view.ts';
import { HarmlessFs } from '../vfs/harmless-fs.ts';
import { InodeTable } from '../vfs/inodes.ts';
import { ORIGIN_NOTE } from '../vfs/origin-note.ts';
import { Placed } from '../vfs/placed.ts';
import type { SkillSource } from '../vfs/skill-source.ts';
import { changedBy } from './changes.ts';
import type { Claimant, Collision, SourceLayer } from './layer.ts';
import { belowOf, checkMountPoint, pathBelow, type View } from './view.ts';

export interface FlatViewOptions {
  /** An absolute path. Default `/skills`. */
  readonly mountPoint?: string;
  /**
   * What becomes of a skill whose name another one has: a directory made of name, server and path (`rename`, the default),
   * or nothing (`hide`). Either way it is reported.
   */
  readonly collisions?: 'rename' | 'hide';
  /** Names that skills elsewhere have, and that none of these gets: they count as collisions (SEC-5). */
  readonly reserved?: Iterable<string>;
  /**
   * `hide` (default): what a server that is down or lies cannot serve is not there, so that a scan never fails for it; the
   * mount's own paths tell the error. `throw`: the view tells it too.
   */
  readonly onServerError?: OnServerError;
  /**
   * Whether each skill's directory has a file `ORIGIN` that names its server and URI, in place of a file of that name of the
   * skill's own. Default `false`.
   */
  readonly originNotes?: boolean;
}

/**
 * Every skill of every server of a mount at one level, in a real directory of its name: `/skills/refunds/SKILL.md`. That is
 * where most skill loaders look.
 *
 * Of skills with one name, the server that comes first in the mount's options keeps it, and of one server's the first by
 * path. A name never passes to another origin while mounted. The others get a directory of their own, and show in
 * `collisions()`.
 *
 * @throws OptionsError naming the option that cannot be used; TypeError when `mount` is not what `mount()` returned
 */
export function flat(mount: Mount, options: FlatViewOptions = {}): View {
  const { collisions = 'rename', onServerError = 'hide', originNotes = false } = options;
  const mountPoint = checkMountPoint(options.mountPoint ?? '/skills');
  if (!['rename', 'hide'].includes(collisions)) throw new OptionsError('collisions: expected "rename" or "hide"');
  if (!['hide', 'throw'].includes(onServerError)) throw new OptionsError('onServerError: expected "hide" or "throw"');
  const mounted = mountInternalsOf(mount);
  const diagnostics = new Diagnostics();
  const told = new Set<string>();

  const view = new FlatView(sourcesOf(mounted.servers, onServerError), {
    collisions,
    originNotes,
    inodes: new InodeTable(),
    now: Date.now,
    named: (named) => {
      for (const collision of named.collisions) {
        const message = sentenceOf(collision);
        if (!told.has(message)) diagnostics.emit({ severity: 'warning', code: 'collision', message });
        told.add(message);
      }
    },
  });
  view.reserve(options.reserved ?? []);
  mounted.onReplaced(() => view.changed());

  const core = new Placed(mountPoint, view, new InodeTable(), Math.trunc(Date.now()));
  const changes = changedBy([
    {
      source: mounted.changes,
      pathsOf: (path) => {
        const [label = '', ...below] = (belowOf(mounted.mountPoint, path) ?? '').split('/');
        return view.pathsOf(label, below.join('/')).map((shown) => pathBelow(mountPoint, shown));
      },
    },
  ]);
  const { driver } = mounted;
  const fs = createNodeFs(core, driver, { mountPoint, changes });

  const originBelow = (below: string): Origin | undefined => {
    // A note is ours; what it says is where the skill's directory is from.
    const noted = originNotes && below.split('/')[1] === ORIGIN_NOTE && below.split('/').length === 2;
    const located = view.locate(noted ? below.slice(0, below.indexOf('/')) : below);
    return located && mount.originOf(pathBelow(mounted.mountPoint, `${located.label}/${located.below}`));
  };
  const skillsAt = (root: string) =>
    [...view.named.directories].map(
      ([name, { label, skill }]): SkillInfo => mounted.skillInfo(label, skill, pathBelow(root, name)),
    );
  const collisionsAt = (root: string) => view.named.collisions.map((collision) => collisionAt(collision, root));
  const on = (listener: Parameters<View['on']>[1]) => {
    const ends = [mount.on('diagnostic', listener), diagnostics.on(listener)];
    return () => {
      for (const end of ends) end();
    };
  };

  const made: View = {
    fs,
    promises: fs.promises,
    mountPoint,
    skills: () => skillsAt(mountPoint),
    originOf(path) {
      const below = belowOf(mountPoint, path);
      return below === undefined || below === '' ? undefined : originBelow(below);
    },
    collisions: () => collisionsAt(mountPoint),
    on: (_, listener) => on(listener),
  };
  const layer: SourceLayer = {
    kind: 'servers',
    fs: view,
    driver,
    reserve: (names) => view.reserve(names),
    changes: changedBy([{ source: changes, pathsOf: (path) => [belowOf(mountPoint, path) ?? ''] }]),
    originOf: originBelow,
    skills: () => skillsAt(''),
    collisions: () => collisionsAt(''),
    onReplaced: (listener) => mounted.onReplaced(listener),
    onDiagnostic: on,
  };
  keepViewInternals(made, { core, driver, changes, mountPoint, layers: [layer] });
  return made;
}

/** The servers as a view shows them. */
export function sourcesOf(
  servers: ReturnType<typeof mountInternalsOf>['servers'],
  onServerError: OnServerError,
): ReadonlyMap<string, SkillSource> {
  if (onServerError === 'throw') return servers;
  return new Map([...servers].map(([label, server]) => [label, new HarmlessFs(server)]));
}

function collisionAt({ name, kept, others }: NameCollision, root: string): Collision {
  const claimant = (candidate: Candidate, directory: string | undefined): Claimant => ({
    origin: { label: candidate.label, uri: candidate.skill.entry.uri, skill: candidate.skill.entry.uri },
    ...(directory !== undefined && { path: pathBelow(root, directory) }),
  });
  return {
    name,
    ...(kept !== undefined && { kept: claimant(kept, name) }),
    others: others.map((other) => claimant(other, other.directory)),
  };
}

function sentenceOf({ name, kept, local, others }: NameCollision): string {
  const holder =
    kept === undefined
      ? local
        ? 'a local skill'
        : 'a skill that is gone'
      : `${kept.skill.entry.uri} of server "${kept.label}"`;
  const rest = others.map(({ label, skill, directory }) => {
    const where = directory === undefined ? 'left out' : `in the directory "${directory}"`;
    return `${skill.entry.uri} of server "${label}" is ${where}`;
  });
  return `the name "${name}" belongs to ${holder}; ${rest.join(', ')}`;
}
