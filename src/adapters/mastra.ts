import { posix } from 'node:path';
import { mimeTypeOf } from '../base/mime-types.ts';
import type { View } from './view.ts';

/** Fits Mastra's `SkillSourceStat`. */
export interface MastraSkillStat {
  name: string;
  type: 'file' | 'directory';
  /** Bytes; 0 for a directory. */
  size: number;
  createdAt: Date;
  /** Moves only when a refresh changes something, so that Mastra looks again then, and only then. */
  modifiedAt: Date;
  mimeType?: string;
}

/** Fits Mastra's `SkillSource`. */
export interface MastraSkillSource {
  exists(path: string): Promise<boolean>;
  stat(path: string): Promise<MastraSkillStat>;
  readFile(path: string): Promise<Buffer>;
  readdir(path: string): Promise<{ name: string; type: 'file' | 'directory' }[]>;
  realpath(path: string): Promise<string>;
}

/**
 * A view as the `skillSource` of a Mastra `Workspace`. Paths are those of the view; a relative one is below its mount point.
 *
 * Mastra looks one level deep: `skills: ['/mcp/acme']` finds `/mcp/acme/<skill>`, `'/mcp/**'` looks deeper, and a flat view
 * needs neither. Errors are Node's; `exists` says `false` for absence alone and fails otherwise, which Mastra reports
 * for that skill, and loads the others.
 */
export function mastraSkillSource(view: View): MastraSkillSource {
  const { promises } = view;
  const at = (path: string) => posix.resolve(view.mountPoint, path);
  return {
    async exists(path) {
      try {
        await promises.stat(at(path));
        return true;
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (code === 'ENOENT' || code === 'ENOTDIR') return false;
        throw error;
      }
    },
    async stat(path) {
      const stats = await promises.stat(at(path));
      const isDirectory = stats.isDirectory();
      const mimeType = isDirectory ? undefined : mimeTypeOf(path);
      return {
        name: posix.basename(at(path)),
        type: isDirectory ? 'directory' : 'file',
        size: isDirectory ? 0 : stats.size,
        createdAt: stats.birthtime,
        modifiedAt: stats.mtime,
        ...(mimeType !== undefined && { mimeType }),
      };
    },
    readFile: async (path) => promises.readFile(at(path)),
    async readdir(path) {
      const entries = await promises.readdir(at(path), { withFileTypes: true });
      return entries.map((entry) => ({ name: entry.name, type: entry.isDirectory() ? 'directory' : 'file' }));
    },
    realpath: async (path) => promises.realpath(at(path)),
  };
}
