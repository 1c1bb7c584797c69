import { expect, test, vi } from 'vitest';
import { listSkills } from './list-skills.ts';

const skillMd = '---\nname: refunds\ndescription: Pays back\n---\n\n# Refunds\n';

vi.mock('node:fs', async () => {
  const { mount } = await import('../../src/mount.ts');
  const { memoryServer } = await import('../../src/testing/index.ts');
  const server = await memoryServer({
    'refunds/SKILL.md': '---\nname: refunds\ndescription: Pays back\n---\n\n# Refunds\n',
  });
  const skills = mount({ servers: { shop: server.client } });
  await skills.preload();
  return { ...skills.fs, default: skills.fs };
});

test('a program that imports node:fs finds the skills of a server in memory', () => {
  expect(listSkills('/mcp/shop')).toEqual([{ name: 'refunds', text: skillMd }]);
});
