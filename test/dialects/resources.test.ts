import { expect, test } from 'vitest';
import { mountRaw, RawError } from '../support/raw-server.ts';
import { replay, transcript } from '../support/transcript-server.ts';

test('DRAFT-4: skills are guessed among plain resources only on request', async () => {
  const silent = await replay(transcript('resources'));
  expect((await silent.mount.ready())[0]).toMatchObject({ state: 'ready', skills: 0 });
  const { mount, requests } = await replay(transcript('resources'), { probe: true });
  expect((await mount.ready())[0]).toMatchObject({ dialect: 'resources', skills: 3, refused: [] });
  expect(requests).toEqual(['resources/read skill://index.json', 'resources/list']);
  expect(mount.skills()).toMatchObject([
    { uri: 'skill://explicit/SKILL.md', path: '/mcp/s/explicit', content: 'dynamic' },
    { path: '/mcp/s/git-workflow', content: 'dynamic', description: 'How this team uses Git' },
    { path: '/mcp/s/nimble/code-review', content: 'dynamic' },
  ]);
});

test('DRAFT-4: a skill without an explicit SKILL.md has one, read by the URI as the server spells it', async () => {
  const { mount, requests } = await replay(transcript('resources'), { probe: true });
  expect((await mount.promises.readdir('/mcp/s', { recursive: true })).sort()).toEqual([
    'explicit',
    'explicit/SKILL.md',
    'explicit/license',
    'git-workflow',
    'git-workflow/SKILL.md',
    'git-workflow/references',
    'git-workflow/references/branches.md',
    'nimble',
    'nimble/code-review',
    'nimble/code-review/SKILL.md',
  ]);
  expect(await mount.promises.readFile('/mcp/s/git-workflow/SKILL.md', 'utf8')).toContain('# git-workflow');
  expect(requests.at(-1)).toBe('resources/read skill://git-workflow');
  expect(mount.originOf('/mcp/s/git-workflow/SKILL.md')).toMatchObject({ uri: 'skill://git-workflow' });
  expect(await mount.promises.readFile('/mcp/s/git-workflow/references/branches.md', 'utf8')).toContain('main');
  expect(await mount.promises.readFile('/mcp/s/nimble/code-review/SKILL.md', 'utf8')).toContain('# code-review');
});

test('DRAFT-4: names that are reserved for resources about skills are no skills', async () => {
  const uris = ['prompt-xml', 'acme/prompt-xml', '_manifest', 'index.json', 'real'].map((name) => `skill://${name}`);
  const resources = [...uris, 'skill://prompt-xml/SKILL.md', 'skill://a/_manifest/SKILL.md'].map((uri) => ({
    uri,
    name: uri,
  }));
  const { mount } = await mountRaw(
    {
      capabilities: { resources: {} },
      answer: (method) => {
        if (method === 'resources/list') return { resources };
        throw new RawError({ code: -32602, message: 'not found' });
      },
    },
    { probe: true },
  );
  expect((await mount.ready())[0]).toMatchObject({ dialect: 'resources', skills: 1, refused: [] });
  expect(mount.skills()).toMatchObject([{ uri: 'skill://real/SKILL.md', content: 'dynamic' }]);
});
