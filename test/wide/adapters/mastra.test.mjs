import assert from 'node:assert/strict';
import test from 'node:test';
import { Workspace } from '@mastra/core/workspace';
import { mastraSkillSource } from '../../../dist/adapters.js';
import { flat } from '../../../dist/index.js';
import { files, served, skill } from './served.mjs';

test('a workspace lists the skills, and reads their files', async (t) => {
  const { view } = await served(t);
  const workspace = new Workspace({ skillSource: mastraSkillSource(view), skills: ['/mcp/s'] });
  const found = await workspace.skills.list();
  assert.deepEqual(found.map(({ name, description }) => `${name}: ${description}`).sort(), [
    'notes: About notes',
    'refunds: About refunds',
  ]);
  const refunds = await workspace.skills.get('refunds');
  assert.deepEqual(refunds.references.sort(), ['long.txt', 'policy.md']);
  assert.deepEqual(refunds.assets.sort(), ['logo.png', 'table.yaml']);
  const policy = await workspace.skills.getReference('refunds', 'references/policy.md');
  assert.equal(policy, files['refunds/references/policy.md']);
  const logo = await workspace.skills.getAsset('refunds', 'assets/logo.png');
  assert.deepEqual(Buffer.from(logo), Buffer.from(files['refunds/assets/logo.png']));
});

test('relative paths and patterns are below the mount point, and a server that is gone takes no other with it', async (t) => {
  const { view } = await served(t);
  for (const skills of [['s'], ['/mcp/**'], ['/mcp/gone', '/mcp/s']]) {
    const workspace = new Workspace({ skillSource: mastraSkillSource(view), skills });
    assert.deepEqual(
      (await workspace.skills.list()).map(({ name }) => name).sort(),
      ['notes', 'refunds'],
      skills.join(),
    );
  }
});

test('a flat view is a list of skills as it is', async (t) => {
  const { view } = await served(t);
  const workspace = new Workspace({ skillSource: mastraSkillSource(flat(view)), skills: ['/skills'] });
  assert.deepEqual((await workspace.skills.list()).map(({ path }) => path).sort(), [
    '/skills/notes',
    '/skills/refunds',
  ]);
});

test('a skill that does not verify is left out, and the others stay', async (t) => {
  const { server, view } = await served(t);
  server.faults.tamper('notes/SKILL.md', () => skill('notes', 'Tampered!!!'));
  const workspace = new Workspace({ skillSource: mastraSkillSource(view), skills: ['/mcp/s'] });
  assert.deepEqual(
    (await workspace.skills.list()).map(({ name }) => name),
    ['refunds'],
  );
});

test('looks again when a refresh changed something, and only then', async (t) => {
  const { server, view } = await served(t);
  const source = mastraSkillSource(view);
  const [root, before] = [await source.stat('/mcp/s'), await source.stat('/mcp/s/refunds')];
  const workspace = new Workspace({ skillSource: source, skills: ['/mcp/s'] });
  await workspace.skills.list();
  await view.refresh('s');
  assert.deepEqual(await source.stat('/mcp/s/refunds'), before);
  server.requests.length = 0;
  await workspace.skills.maybeRefresh();
  assert.deepEqual(server.requests, []);
  await server.update({ ...files, 'new/SKILL.md': skill('new') });
  await view.refresh('s');
  assert.ok((await source.stat('/mcp/s')).modifiedAt > root.modifiedAt);
  assert.deepEqual(await source.stat('/mcp/s/refunds'), before);
  await workspace.skills.refresh();
  assert.deepEqual((await workspace.skills.list()).map(({ name }) => name).sort(), ['new', 'notes', 'refunds']);
});

test('tells what is there as Node does', async (t) => {
  const { view } = await served(t);
  const source = mastraSkillSource(view);
  assert.equal(await source.exists('/mcp/s/refunds'), true);
  assert.equal(await source.exists('/mcp/s/none'), false);
  assert.equal(await source.exists('/mcp/s/refunds/SKILL.md/x'), false);
  await assert.rejects(source.exists('/mcp/gone/other'), { code: 'EHOSTUNREACH' });
  assert.deepEqual(await source.readdir('/mcp/s/refunds'), [
    { name: 'SKILL.md', type: 'file' },
    { name: 'assets', type: 'directory' },
    { name: 'references', type: 'directory' },
  ]);
  const { name, type, size, mimeType } = await source.stat('/mcp/s/refunds/assets/logo.png');
  assert.deepEqual({ name, type, size, mimeType }, { name: 'logo.png', type: 'file', size: 6, mimeType: 'image/png' });
  assert.equal(await source.realpath('s/refunds/../notes'), '/mcp/s/notes');
});
