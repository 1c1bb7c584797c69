import { createHash } from 'node:crypto';
import { known, type Op } from '../base/op.ts';
import type { TreeNode } from '../catalog/tree.ts';
import type { Mount } from '../mount.ts';
import { internalsOf, nodeOf } from '../mounted.ts';
import { MountTable } from '../vfs/mount-table.ts';
import type { ReadFs } from '../vfs/read-fs.ts';
import type { View } from '../views/view.ts';

/** Where files come from, and what is known of their content. */
export interface Provenance {
  /** The digest that a file's manifest lists for it; `undefined` when its content cannot be verified (VER-5). */
  digestOf(path: string): string | undefined;
  /** Extended attributes by name; a value is had when it is asked for. */
  xattrsOf(path: string): ReadonlyMap<string, () => Op<string>>;
}

/**
 * What a mount knows of the paths of a view of it, or of its own, as extended attributes (SEC-2): `user.skillfs.origin` (the
 * server's label), `.uri`, and of files `.verified` (`true`, or `false` for dynamic content), `.digest` (the manifest's) and
 * `.served-digest` (of the bytes that a read gives, which are fetched for it). What is local has `user.skillfs.local`, its
 * path, and nothing else.
 */
export function provenanceOf(mount: Mount, shown: Mount | View = mount): Provenance {
  const { core } = internalsOf(shown);
  const nodeAt = nodesOf(mount, shown, core);
  const fileAt = (path: string) => {
    const node = nodeAt(path);
    return node?.kind === 'file' ? node : undefined;
  };
  return {
    digestOf: (path) => fileAt(path)?.listed?.digest,
    xattrsOf(path) {
      const origin = shown.originOf(path);
      if (origin === undefined) return new Map();
      if (origin.label === undefined) return new Map([[`${PREFIX}local`, () => known(origin.local)]]);
      const values: [string, string][] = [['origin', origin.label]];
      if (origin.uri !== undefined) values.push(['uri', origin.uri]);
      const file = fileAt(path);
      if (file !== undefined) values.push(['verified', String(file.listed !== undefined)]);
      if (file?.listed !== undefined) values.push(['digest', file.listed.digest]);
      const attributes = new Map(values.map(([name, value]) => [`${PREFIX}${name}`, () => known(value)]));
      if (file !== undefined) attributes.set(`${PREFIX}served-digest`, () => servedDigest(core, path));
      return attributes;
    },
  };
}

/** What the server's tree has at a path, as far as it is known. A view tells whose and which file it is. */
function nodesOf(mount: Mount, shown: Mount | View, core: ReadFs): (path: string) => TreeNode | undefined {
  if (core instanceof MountTable) {
    return (path) => {
      const located = core.locate(path);
      return located?.server.peek(located.below);
    };
  }
  return (path) => {
    const origin = shown.originOf(path);
    return origin?.label === undefined || origin.uri === undefined
      ? undefined
      : nodeOf(mount, origin.label, origin.uri);
  };
}

const PREFIX = 'user.skillfs.';

function* servedDigest(core: ReadFs, path: string): Op<string> {
  const { bytes } = yield* core.read(path);
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}
