import { expect, test, vi } from 'vitest';
import { listSkills } from './list-skills.ts';

const { server, skills } = await vi.hoisted(async () => {
  const { mount } = await import('../../src/mount.ts');
  const { memoryServer } = await import('../../src/testing/index.ts');
  const server = await memoryServer({
    'refunds/SKILL.md': '---\nname: refunds\ndescription: Pays back\n---\n\n# Refunds\n',
  });
  const skills = mount({ servers: { shop: server.client } });
  await skills.preload();
  return { server, skills };
});
vi.mock('node:fs', () => ({ ...skills.fs, default: skills.fs }));

test('a program that imports node:fs finds the skills of a server in memory', () => {
  const text = '---\nname: refunds\ndescription: Pays back\n---\n\n# Refunds\n';
  expect(listSkills('/mcp/shop')).toEqual([{ name: 'refunds', text }]);
});

test('LST-1: and other skills when the server has others', async () => {
  const text = '---\nname: returns\ndescription: Takes back\n---\n';
  await server.update({ 'returns/SKILL.md': text });
  await skills.refresh();
  await skills.preload();
  expect(listSkills('/mcp/shop')).toEqual([{ name: 'returns', text }]);
});
