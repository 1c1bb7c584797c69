import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Mount, mount } from '../../src/mount.ts';
import type { MountOptions } from '../../src/options.ts';
import { type MemoryServer, type MemoryServerOptions, memoryServer } from '../../src/testing/index.ts';
import type { Diagnostic } from '../../src/vfs/diagnostics.ts';

export function skillMd(name: string, description = `About ${name}`): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\n# ${name}\n`;
}

export interface Served {
  readonly mount: Mount;
  readonly servers: Readonly<Record<string, MemoryServer>>;
  readonly diagnostics: Diagnostic[];
}

/** Real servers by label, mounted; all end with the test. */
export async function serve(
  files: Readonly<Record<string, Readonly<Record<string, string>>>>,
  options: Omit<MountOptions, 'servers'> = {},
  serverOptions: MemoryServerOptions = {},
): Promise<Served> {
  const servers: Record<string, MemoryServer> = {};
  for (const [label, own] of Object.entries(files)) servers[label] = await memoryServer({ ...own }, serverOptions);
  const clients = Object.fromEntries(Object.entries(servers).map(([label, { client }]) => [label, client]));
  const mounted = mount({ servers: clients, ...options });
  const diagnostics: Diagnostic[] = [];
  mounted.on('diagnostic', (diagnostic) => diagnostics.push(diagnostic));
  onTestFinished(async () => {
    await mounted.close();
    for (const server of Object.values(servers)) await server.close();
  });
  return { mount: mounted, servers, diagnostics };
}

/** A real directory with these files, that goes with the test. */
export function directory(files: Readonly<Record<string, string>>): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'skillfs-views-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  return root;
}
