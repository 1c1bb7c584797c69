import type { Mount } from '../mount.ts';
import { mountInternalsOf, type OnServerError } from '../mounted.ts';
import { InodeTable } from '../vfs/inodes.ts';
import { MountTable } from '../vfs/mount-table.ts';
import { Below } from '../vfs/placed.ts';
import { changedBy } from './changes.ts';
import { sourcesOf } from './flat.ts';
import type { SourceLayer } from './layer.ts';
import { belowOf, pathBelow } from './view.ts';

/** The tree of a mount, `<server>/<skill-path>/…`, as a layer of a union. */
export function mountLayer(mount: Mount, onServerError: OnServerError): SourceLayer {
  const { servers, denied, driver, changes, mountPoint, onReplaced } = mountInternalsOf(mount);
  const table = new MountTable(
    '/',
    sourcesOf(servers, onServerError),
    new InodeTable(),
    Math.trunc(Date.now()),
    denied,
  );
  return {
    kind: 'servers',
    fs: new Below('/', table),
    driver,
    changes: changedBy([{ source: changes, pathsOf: (path) => [belowOf(mountPoint, path) ?? ''] }]),
    originOf: (path) => mount.originOf(pathBelow(mountPoint, path)),
    skills: () => mount.skills().map((skill) => ({ ...skill, path: `/${belowOf(mountPoint, skill.path)}` })),
    collisions: () => [],
    onReplaced,
    onDiagnostic: (listener) => mount.on('diagnostic', listener),
  };
}
