import * as nodeFs from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Mount, mount } from '../../src/mount.ts';
import { checkFs, type MemoryServer, memoryServer } from '../../src/testing/index.ts';

const skillMd = (name: string) => `---\nname: ${name}\ndescription: About ${name}\n---\n\n# ${name} für alle\n`;
const files: Readonly<Record<string, string | Buffer>> = {
  'acme/billing/refunds/SKILL.md': skillMd('refunds'),
  'acme/billing/refunds/references/a b.md': '100 %',
  'acme/billing/refunds/references/Ünïcode 😀.md': '\ufeffwith a mark\r\n',
  'acme/billing/refunds/logo.png': Buffer.of(0x89, 0x50, 0x4e, 0x47, 0, 0xff, 0xfe, 0x80),
  'acme/billing/refunds/large.bin': Buffer.alloc(100_000, 'skills'),
  'acme/billing/refunds/partial/SKILL.md': skillMd('partial'),
  'notes/SKILL.md': skillMd('notes'),
  'notes/empty.txt': '',
};

let server: MemoryServer;
let skills: Mount;
let copy: string;

beforeAll(async () => {
  copy = nodeFs.realpathSync(nodeFs.mkdtempSync(join(tmpdir(), 'skillfs-mount-')));
  for (const [path, bytes] of Object.entries(files)) {
    nodeFs.mkdirSync(join(copy, dirname(path)), { recursive: true });
    nodeFs.writeFileSync(join(copy, path), bytes);
  }
  server = await memoryServer(files);
  skills = mount({ servers: { s: server.client } });
});

afterAll(async () => {
  await skills.close();
  await server.close();
  nodeFs.rmSync(copy, { recursive: true });
});

test('LAZY-1 LAZY-2 VER-1: a mounted server is a read-only disk that holds its skills, and says what node:fs says of a copy', async () => {
  const oracle = { fs: nodeFs, root: copy };
  const requests = () => server.requests.length;
  expect(await checkFs(skills.fs, '/mcp/s', { expected: files, oracle, requests })).toEqual([]);
});

test.each(['/mcp', '/mcp/s/acme/billing/refunds'])('SEC-2: so is what is at %s', async (root) => {
  expect(await checkFs(skills.fs, root)).toEqual([]);
});

test('so are the directories above the mount point, next to which a copy out of it lands on the disk', async () => {
  expect(await checkFs(skills.fs, '/', { skip: ['read-only'] })).toEqual([]);
});
