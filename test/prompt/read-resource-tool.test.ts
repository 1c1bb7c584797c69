import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';
import { expect, onTestFinished, test } from 'vitest';
import { mount, type ReadResourceOptions, readResourceTool, type ToolResult } from '../../src/index.ts';
import { type MemoryFiles, type MemoryServerOptions, memoryServer } from '../../src/testing/index.ts';

const skillMd = (name: string) => `---\nname: ${name}\ndescription: About ${name}\n---\n`;
const files = {
  'acme/refunds/SKILL.md': skillMd('refunds'),
  'acme/refunds/references/policy.md': 'policy',
  'acme/refunds/assets/logo.png': new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 0xff]),
  'acme/refunds/assets/data.unknown': new Uint8Array([0, 1, 2]),
};

/** Two servers with the same skill, mounted as `a` and `b`, and the tool over both. */
async function served(
  options: ReadResourceOptions = {},
  server: MemoryServerOptions = {},
  b: MemoryFiles = { ...files, 'acme/refunds/references/policy.md': "b's own" },
) {
  const servers = { a: await memoryServer(files, server), b: await memoryServer(b) };
  const mounted = mount({ servers: { a: servers.a.client, b: servers.b.client } });
  onTestFinished(async () => {
    await mounted.close();
    await Promise.all([servers.a.close(), servers.b.close()]);
  });
  await mounted.ready();
  servers.a.requests.length = 0;
  servers.b.requests.length = 0;
  const { handler, ...tool } = readResourceTool(mounted, options);
  const call = async (server: unknown, uri: unknown): Promise<ToolResult> => {
    const result = await handler({ server, uri } as never);
    return CallToolResultSchema.parse(result satisfies CallToolResult) as ToolResult;
  };
  return { ...servers, tool, call };
}

const text = (one: string) => ({ content: [{ type: 'text', text: one }] });
const failed = (message: RegExp) => ({
  isError: true,
  content: [{ type: 'text', text: expect.stringMatching(message) }],
});

test('describes itself, with the servers there are', async () => {
  const { tool } = await served();
  expect(tool.name).toBe('read_resource');
  expect(tool.inputSchema).toMatchObject({
    type: 'object',
    properties: { server: { type: 'string', enum: ['a', 'b'] }, uri: { type: 'string' } },
    required: ['server', 'uri'],
    additionalProperties: false,
  });
});

test('gives text as text and all else as base64 with its type', async () => {
  const { call } = await served();
  expect(await call('a', 'skill://acme/refunds/SKILL.md')).toEqual(text(skillMd('refunds')));
  const blob = (uri: string, mimeType: string, bytes: Uint8Array) => ({
    content: [{ type: 'resource', resource: { uri, mimeType, blob: Buffer.from(bytes).toString('base64') } }],
  });
  const [logo, data] = ['skill://acme/refunds/assets/logo.png', 'skill://acme/refunds/assets/data.unknown'];
  expect(await call('a', logo)).toEqual(blob(logo, 'image/png', files['acme/refunds/assets/logo.png']));
  expect(await call('a', data)).toEqual(
    blob(data, 'application/octet-stream', files['acme/refunds/assets/data.unknown']),
  );
});

test('asks the server that is named, and no other (SEC-4)', async () => {
  const { a, b, call } = await served();
  expect(await call('b', 'skill://acme/refunds/references/policy.md')).toEqual(text("b's own"));
  expect(a.requests).toEqual([]);
  b.requests.length = 0;
  expect(await call('a', 'skill://acme/refunds/references/policy.md')).toEqual(text('policy'));
  expect(await call('a', 'skill://acme/none/SKILL.md')).toMatchObject({ isError: true });
  expect(b.requests).toEqual([]);
});

test('lists a directory as the URIs of its children', async () => {
  const { call } = await served();
  const under = 'skill://acme/refunds';
  const listing = text([`${under}/SKILL.md`, `${under}/assets/`, `${under}/references/`].join('\n'));
  expect(await call('a', under)).toEqual(listing);
  expect(await call('a', 'skill://acme')).toEqual(text(`${under}/`));
});

test('gives nothing that does not verify, and says why (VER-2)', async () => {
  const { a, call } = await served();
  a.faults.tamper('acme/refunds/references/policy.md', () => 'POLICY');
  expect(await call('a', 'skill://acme/refunds/references/policy.md')).toMatchObject(failed(/^EIO: .*digest/));
});

test.each([
  ['a server that is not mounted', 'c', 'skill://acme/refunds/SKILL.md', /there is no server "c"; there is a, b/],
  ['no server', undefined, 'skill://acme/refunds/SKILL.md', /have to be strings/],
  ['no URI', 'a', 5, /have to be strings/],
  ['a property of objects', 'constructor', 'skill://acme', /there is no server/],
  ['a URI without a path', 'a', 'skill:', /has no path/],
  ['no URI at all', 'a', 'acme/refunds', /has no path/],
  ['a URI that leads out', 'a', 'skill://acme/../../b/acme/refunds/SKILL.md', /has no path/],
  ['a URI that leads out by an escape', 'a', 'skill://acme/..%2f..%2fb/SKILL.md', /has no path/],
  ['a file that is not listed', 'a', 'skill://acme/refunds/secret.md', /has no skill:\/\/acme\/refunds\/secret\.md/],
  ['a path below a file', 'a', 'skill://acme/refunds/SKILL.md/x', /has no skill/],
  ['lines of its own', 'a', 'skill://acme/refunds/x\ny', /has no skill:\/\/acme\/refunds\/x\\u\{a\}y/],
])('answers %s with an error that says so', async (_, server, uri, message) => {
  const { call } = await served();
  expect(await call(server, uri)).toMatchObject(failed(message));
});

test('answers a call without arguments', async () => {
  const tool = readResourceTool(mount({ servers: {} }));
  expect(await tool.handler(undefined as never)).toMatchObject(failed(/have to be strings/));
  expect(await tool.handler({ server: 'a', uri: 'skill://a' })).toMatchObject(failed(/there is no server "a"; .*none/));
});

test('a server that is gone is an error, not an absence', async () => {
  const { a, call } = await served();
  await a.close();
  const result = await call('a', 'skill://acme/refunds/SKILL.md');
  expect(result).toMatchObject(failed(/^E(HOSTUNREACH|IO)/));
});

test('does not fetch what is too big, and does not give it where that shows later', async () => {
  const { a, call } = await served({ maxBytes: 5 });
  expect(await call('a', 'skill://acme/refunds/references/policy.md')).toMatchObject(failed(/has 6 bytes, .* than 5 /));
  expect(a.requests).toEqual([]);
  expect(await call('a', 'skill://acme/refunds')).toMatchObject(failed(/has 3 entries, too many/));
  expect(await call('a', 'skill://acme/refunds/assets/data.unknown')).not.toHaveProperty('isError');
  const dynamic = await served({ maxBytes: 5 }, { dynamic: ['acme/refunds'] });
  expect(await dynamic.call('a', 'skill://acme/refunds/references/policy.md')).toMatchObject(failed(/has 6 bytes/));
});
