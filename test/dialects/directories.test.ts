import { expect, test } from 'vitest';
import { mountScript } from '../support/mounted.ts';
import { scriptedSkill } from '../support/scripted-server.ts';

const root = 'skill://acme/pdf';
const skills = [scriptedSkill('acme/pdf', { 'references/a.md': 'a', 'references/b.md': 'b' }), scriptedSkill('same')];
const children: Record<string, readonly string[]> = {
  [root]: ['SKILL.md', 'references/', 'new/', 'extra.md'],
  [`${root}/references`]: ['a.md'],
  'skill://same': ['SKILL.md'],
};
const readDirectory = (uri: string) => ({
  resources: (children[uri] ?? []).map((name) =>
    name.endsWith('/')
      ? { uri: `${uri}/${name.slice(0, -1)}`, name, mimeType: 'inode/directory' }
      : { uri: `${uri}/${name}`, name },
  ),
});

test('DIR-2: what a server shows beside its manifest is told when asked for, and never mounted', async () => {
  const { mount, requests } = await mountScript({ skills, capability: { directoryRead: true }, readDirectory });
  const listed = ['SKILL.md', 'references', 'references/a.md', 'references/b.md'];
  expect(await mount.promises.readdir('/mcp/s/acme/pdf', { recursive: true })).toEqual(listed);
  expect(requests).toEqual(['skills/list']);
  expect(await mount.compareDirectories()).toEqual([
    { label: 's', uri: `${root}/SKILL.md`, unlisted: ['extra.md', 'new'], missing: ['references/b.md'] },
  ]);
  expect(await mount.promises.readdir('/mcp/s/acme/pdf', { recursive: true })).toEqual(listed);
  expect(mount.fs.existsSync('/mcp/s/acme/pdf/extra.md')).toBe(false);
});

test('NEG-2: a server that does not declare directory reads is not asked for comparison either', async () => {
  const { mount, requests } = await mountScript({ skills, readDirectory });
  expect(await mount.compareDirectories('s')).toEqual([]);
  expect(requests).toEqual(['skills/list']);
  await expect(mount.compareDirectories('nobody')).rejects.toThrow(TypeError);
});
