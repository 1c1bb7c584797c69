import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { mount } from '../../../dist/index.js';
import { memoryServer } from '../../../dist/testing.js';

export const skill = (name, description = `About ${name}`) =>
  `---\nname: ${name}\ndescription: ${description}\n---\n\n# ${name}\n`;

export const files = {
  'refunds/SKILL.md': skill('refunds'),
  'refunds/references/policy.md': 'Refunds\ntake ten days\näöü\n',
  'refunds/references/long.txt': Array.from({ length: 40 }, (_, line) => `line ${line + 1}`).join('\n'),
  'refunds/assets/logo.png': new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 0xff]),
  'refunds/assets/table.yaml': 'a: 1\n',
  'notes/SKILL.md': skill('notes'),
};

/** The files of a server, mounted as `/mcp/s`, beside a server that is gone, and a test's end. */
export async function served(t, options = {}) {
  const server = await memoryServer(files, options);
  const gone = await memoryServer({ 'other/SKILL.md': skill('other') });
  await gone.faults.crash();
  const view = mount({ servers: { s: server.client, gone: gone.client } });
  t.after(async () => {
    await view.close();
    await server.close();
    await gone.close();
  });
  return { server, view };
}

/** The same files on the disk. */
export function onDisk(t) {
  const directory = mkdtempSync(join(tmpdir(), 'skillfs-hosts-'));
  t.after(() => rmSync(directory, { recursive: true }));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), content);
  }
  return directory;
}
