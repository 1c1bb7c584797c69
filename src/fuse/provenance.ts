import { createHash } from 'node:crypto';
import { known, type Op } from '../base/op.ts';
import { isUriProblem, parseSkillUri, toTreePath } from '../catalog/uri.ts';
import type { Mount } from '../mount.ts';
import { internalsOf, mountInternalsOf } from '../mounted.ts';
import { MountTable } from '../vfs/mount-table.ts';
import type { ReadFs } from '../vfs/read-fs.ts';
import type { SkillFs } from '../vfs/skill-fs.ts';
import type { View } from '../views/view.ts';

/** Where files come from, and what is known of their content. */
export interface Provenance {
  /**
   * What identifies the content that a read of a file gives; `undefined` when it cannot be verified (VER-5), or may not be read
   * now (SEC-6).
   */
  digestOf(path: string): string | undefined;
  /** Extended attributes by name; a value is had when it is asked for. */
  xattrsOf(path: string): ReadonlyMap<string, () => Op<string>>;
}

/**
 * What a mount knows of the paths of a view of it, or of its own, as extended attributes (SEC-2): `user.skillfs.origin` (the
 * server's label), `.uri`, and of files `.verified` (`true`, or `false` for dynamic content), `.digest` (the manifest's),
 * `.served-digest` (of the bytes that a read gives, which are fetched for it) and, once it was read, `.masked` (the fields that
 * a read does not show); where an approval is needed, `.approved`. What is local has `user.skillfs.local`, its
 * path, and nothing else.
 */
export function provenanceOf(mount: Mount, shown: Mount | View = mount): Provenance {
  const { core } = internalsOf(shown);
  const locate = locatorOf(mount, shown, core);
  const fileAt = (path: string) => {
    const located = locate(path);
    const node = located?.server.peek(located.below);
    return node?.kind === 'file' ? node : undefined;
  };
  return {
    digestOf(path) {
      const located = locate(path);
      return located?.server.versionAt(located.below);
    },
    xattrsOf(path) {
      const origin = shown.originOf(path);
      if (origin === undefined) return new Map();
      if (origin.label === undefined) return new Map([[`${PREFIX}local`, () => known(origin.local)]]);
      const values: [string, string][] = [['origin', origin.label]];
      if (origin.uri !== undefined) values.push(['uri', origin.uri]);
      const file = fileAt(path);
      if (file !== undefined) values.push(['verified', String(file.listed !== undefined)]);
      if (file?.listed !== undefined) values.push(['digest', file.listed.digest]);
      if (origin.approved !== undefined) values.push(['approved', String(origin.approved)]);
      if (origin.masked !== undefined && origin.masked.length > 0) values.push(['masked', origin.masked.join(',')]);
      const attributes = new Map(values.map(([name, value]) => [`${PREFIX}${name}`, () => known(value)]));
      if (file !== undefined) attributes.set(`${PREFIX}served-digest`, () => servedDigest(core, path));
      return attributes;
    },
  };
}

/** Whose a path is, and where in its server's tree, as far as it is known. A view tells whose and which file it is. */
function locatorOf(mount: Mount, shown: Mount | View, core: ReadFs) {
  return (path: string): { readonly server: SkillFs; readonly below: string } | undefined => {
    if (core instanceof MountTable) return core.locate(path);
    const origin = shown.originOf(path);
    if (origin?.label === undefined || origin.uri === undefined) return undefined;
    const server = mountInternalsOf(mount).servers.get(origin.label);
    const parsed = parseSkillUri(origin.uri);
    return server === undefined || isUriProblem(parsed) ? undefined : { server, below: toTreePath(parsed) };
  };
}

const PREFIX = 'user.skillfs.';

function* servedDigest(core: ReadFs, path: string): Op<string> {
  const { bytes } = yield* core.read(path);
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}
