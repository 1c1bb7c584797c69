import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Mount, mount } from '../../src/mount.ts';
import { type MemoryServer, memoryServer } from '../../src/testing/index.ts';

export const skillMd = (name: string, body = '') => `---\nname: ${name}\ndescription: About ${name}\n---\n${body}`;

/** A directory of its own for a test; where it is says nothing of skills. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'skillfs-copies-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

export type Files = Record<string, string>;

export interface Served {
  readonly mount: Mount;
  readonly servers: Readonly<Record<string, MemoryServer>>;
  /** Publishes other files, and has the mount list them. */
  update(label: string, files: Files): Promise<void>;
}

export async function served(files: Readonly<Record<string, Files>>, dynamic: readonly string[] = []): Promise<Served> {
  const servers: Record<string, MemoryServer> = {};
  for (const [label, of] of Object.entries(files)) servers[label] = await memoryServer(of, { dynamic });
  const mounted = mount({
    servers: Object.fromEntries(Object.entries(servers).map(([label, { client }]) => [label, client])),
    listen: false,
  });
  onTestFinished(async () => {
    await mounted.close();
    for (const server of Object.values(servers)) await server.close();
  });
  return {
    mount: mounted,
    servers,
    async update(label, of) {
      await servers[label]?.update(of);
      await mounted.refresh(label);
    },
  };
}

/** The files of a directory with their contents, without the lock. */
export function contentsOf(directory: string): Files {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    files
      .map((entry) => join(entry.parentPath, entry.name))
      .map((file) => [file.slice(directory.length + 1), readFileSync(file, 'utf8')])
      .filter(([path]) => path !== 'skillfs.lock.json'),
  );
}
