import { fromTreePath } from '../catalog/uri.ts';

/** A volume of memfs, or whatever tells its files as one does. */
export interface FileVolume {
  /** The files' contents by absolute path; `null` for a directory without any. */
  toJSON(): object;
  /** Asked for the bytes, which `toJSON` has as text only. */
  readFileSync?(path: string): string | Uint8Array;
}

/**
 * The files a server serves: contents by path (`{'acme/billing/refunds/SKILL.md': '---\n…'}`), or a volume. The path says
 * what the URI is: `skill://acme/billing/refunds/SKILL.md`; one that begins with `@repo/` is below `repo://`.
 */
export type MemoryFiles = Readonly<Record<string, string | Uint8Array>> | FileVolume;

/**
 * Contents by path, in the order of the paths.
 *
 * @param root the directory of a volume in which the files are
 * @throws TypeError for a path that no skill URI can have
 */
export function readMemoryFiles(files: MemoryFiles, root: string): ReadonlyMap<string, Uint8Array> {
  const prefix = root.endsWith('/') ? root : `${root}/`;
  const found: [string, Uint8Array][] = [];
  for (const [key, content] of contentsOf(files)) {
    const absolute = key.startsWith('/') ? key : prefix + key;
    if (!absolute.startsWith(prefix)) continue;
    const path = absolute.slice(prefix.length);
    if (fromTreePath(path) === undefined)
      throw new TypeError(`${JSON.stringify(key)} cannot be the path of a skill URI`);
    found.push([path, typeof content === 'string' ? new TextEncoder().encode(content) : Uint8Array.from(content)]);
  }
  return new Map(found.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function contentsOf(files: MemoryFiles): readonly (readonly [string, string | Uint8Array])[] {
  if (!isVolume(files)) return Object.entries(files);
  const texts = Object.entries(files.toJSON()) as [string, string | null][];
  return texts.flatMap(([path, text]) => (text === null ? [] : [[path, files.readFileSync?.(path) ?? text] as const]));
}

function isVolume(files: MemoryFiles): files is FileVolume {
  return typeof files['toJSON'] === 'function';
}
