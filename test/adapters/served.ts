import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Mount, mount } from '../../src/index.ts';
import { type MemoryServer, type MemoryServerOptions, memoryServer } from '../../src/testing/index.ts';

const skill = (name: string) => `---\nname: ${name}\ndescription: About ${name}\n---\n`;

export const files: Readonly<Record<string, string | Uint8Array>> = {
  'acme/billing/refunds/SKILL.md': skill('refunds'),
  'acme/billing/refunds/references/policy.md': 'Refunds\ntake ten days\n',
  'acme/billing/refunds/assets/logo.png': new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 0xff]),
  'acme/billing/invoices/SKILL.md': skill('invoices'),
  'notes/SKILL.md': skill('notes'),
  'notes/.hidden': 'hidden',
  'notes/a b [1].txt': 'äöü',
};

export interface Served extends AsyncDisposable {
  readonly server: MemoryServer;
  /** The files of the server, mounted as `/mcp/s`. */
  readonly mounted: Mount;
}

export async function served(options: MemoryServerOptions = {}): Promise<Served> {
  const server = await memoryServer(files, options);
  const mounted = mount({ servers: { s: server.client } });
  const close = async () => {
    await mounted.close();
    await server.close();
  };
  return { server, mounted, [Symbol.asyncDispose]: close };
}

/** The same files on the disk. */
export function onDisk(): { readonly directory: string; remove(): void } {
  const directory = mkdtempSync(join(tmpdir(), 'skillfs-adapters-'));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), content);
  }
  return { directory, remove: () => rmSync(directory, { recursive: true }) };
}
