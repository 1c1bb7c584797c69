// Building the tree of a large listing: time and memory as ratios to JSON.parse of the same pages.
// Usage: npm run bench
import { createHash } from 'node:crypto';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import { mount } from '../dist/index.js';

const SKILLS = 10_000;
const FILES = 8;
const digest = (text) => `sha256:${createHash('sha256').update(text).digest('hex')}`;
const entries = Array.from({ length: SKILLS }, (_, index) => {
  const root = `skill://acme/team-${index % 100}/skill-${index}`;
  const files = ['SKILL.md', ...Array.from({ length: FILES - 1 }, (_, file) => `references/file-${file}.md`)];
  return {
    uri: `${root}/SKILL.md`,
    frontmatter: { name: `skill-${index}`, description: `Skill number ${index}` },
    resources: files.map((file) => ({ uri: `${root}/${file}`, digest: digest(root + file), size: 1234 })),
  };
});
const pages = [];
for (let first = 0; first < entries.length; first += 500) {
  const last = first + 500 >= entries.length;
  pages.push({ skills: entries.slice(first, first + 500), ...(!last && { nextCursor: String(pages.length + 1) }) });
}
const texts = pages.map((page) => JSON.stringify(page));

let started = performance.now();
for (const text of texts) JSON.parse(text);
const parse = performance.now() - started;

const [a, b] = InMemoryTransport.createLinkedPair();
serveStdio(
  () => {
    const server = new Server(
      { name: 'bench', version: '1' },
      { capabilities: { resources: {}, extensions: { 'io.modelcontextprotocol/skills': {} } } },
    );
    server.setRequestHandler('skills/list', { params: z.unknown() }, async (params) => ({
      ttlMs: 0,
      cacheScope: 'private',
      ...JSON.parse(texts[Number(params?.cursor ?? 0)]),
    }));
    return server;
  },
  { transport: b },
);
const client = new Client({ name: 'bench', version: '1' }, { versionNegotiation: { mode: 'auto' } });
await client.connect(a);

started = performance.now();
for (let cursor; ; ) {
  const page = await client.request({ method: 'skills/list', params: cursor ? { cursor } : {} }, z.unknown());
  cursor = page.nextCursor;
  if (cursor === undefined) break;
}
const requests = performance.now() - started;

const mounted = mount({ servers: { s: client } });
started = performance.now();
await mounted.ready();
const tree = performance.now() - started;

started = performance.now();
const all = mounted.fs.readdirSync('/mcp/s', { recursive: true });
const walk = performance.now() - started;

const line = (name, ms) => console.log(`  ${name.padEnd(40)}${ms.toFixed(0)} ms (${(ms / parse).toFixed(1)}x)`);
console.log(`${SKILLS} skills of ${FILES} files in ${pages.length} pages (ratio to JSON.parse of the pages)`);
line('JSON.parse of the pages', parse);
line('the pages through the SDK client', requests);
line('mount, ready: pages, checks and tree', tree);
line(`recursive readdir of ${all.length} names`, walk);
await mounted.close();
await client.close();
