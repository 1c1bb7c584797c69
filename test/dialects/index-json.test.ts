import { expect, test } from 'vitest';
import { rejection } from '../support/mounted.ts';
import { type Exchange, replay, transcript } from '../support/transcript-server.ts';

const INDEX = 'skill://index.json';

test('DRAFT-1: the skills of the index are mounted, by their URIs of any scheme, and each other entry is told of', async () => {
  const { mount, diagnostics } = await replay(transcript('index-json'));
  const [status] = await mount.ready();
  expect(status).toMatchObject({ state: 'ready', dialect: 'index-json', directoryRead: false, skills: 3 });
  expect(mount.skills()).toMatchObject([
    { uri: 'skill://git-workflow/SKILL.md', path: '/mcp/s/git-workflow', content: 'dynamic' },
    { uri: 'repo://acme/billing/refunds/SKILL.md', path: '/mcp/s/@repo/acme/billing/refunds', name: 'refunds' },
    { uri: 'skill://liar/SKILL.md', description: 'Harmless' },
  ]);
  expect(status?.refused).toMatchObject([{ uri: 'relative/SKILL.md', reason: 'uri' }]);
  expect(diagnostics.filter(({ code }) => code === 'dialect').map(({ message }) => message)).toEqual([
    'skill://index.json has entries of the type "archive", which are not known here and were skipped: 1',
    'skill://index.json has entries of no type, which are not known here and were skipped: 1',
  ]);
});

test('LAZY-1: connecting to and listing a draft server reads its index, once, and nothing else', async () => {
  const { mount, requests } = await replay(transcript('index-json'));
  await mount.ready();
  expect(requests).toEqual([`resources/read ${INDEX}`]);
  expect(await mount.promises.readdir('/mcp/s')).toEqual(expect.arrayContaining(['@repo', 'git-workflow', 'liar']));
  await mount.refresh();
  expect(requests).toEqual([`resources/read ${INDEX}`, `resources/read ${INDEX}`]);
});

test('DRAFT-2: files are found among the listed resources, and by reading those that are not listed', async () => {
  const { mount, requests } = await replay(transcript('index-json'));
  const skill = '/mcp/s/git-workflow';
  expect(await mount.promises.readdir(skill, { recursive: true })).toEqual([
    'SKILL.md',
    'references',
    'references/branches.md',
    'references/deep',
    'references/deep/er.md',
  ]);
  expect(requests.filter((request) => request === 'resources/list')).toHaveLength(1);
  expect(await mount.promises.readFile(`${skill}/references/branches.md`, 'utf8')).toBe('There is one: main.\n');
  expect(await mount.promises.readFile(`${skill}/scripts/unlisted.sh`, 'utf8')).toBe('echo\n');
  expect(await mount.promises.readdir(`${skill}/scripts`)).toEqual(['unlisted.sh']);
  expect(await rejection(mount.promises.readFile(`${skill}/none.md`))).toMatchObject({ code: 'ENOENT' });
});

test('DRAFT-2, VER-4: SKILL.md is held against the name and the description of the index, and against nothing else', async () => {
  const { mount } = await replay(transcript('index-json'));
  expect(await mount.promises.readFile('/mcp/s/git-workflow/SKILL.md', 'utf8')).toContain('license: MIT');
  const error = await rejection(mount.promises.readFile('/mcp/s/liar/SKILL.md'));
  expect(error).toMatchObject({ code: 'EIO', cause: { reason: 'frontmatter' } });
  expect(error.message).toContain('description is "Deletes everything" in the file and "Harmless" in the entry');
});

test('DRAFT-1, GET-2: a skill that the index does not name is found by its path', async () => {
  const { mount } = await replay(transcript('index-json'));
  expect(await mount.promises.readFile('/mcp/s/hidden/SKILL.md', 'utf8')).toContain('Not in the index');
  expect(mount.skills()).toContainEqual(expect.objectContaining({ name: 'hidden', listed: false, content: 'dynamic' }));
  expect(await rejection(mount.promises.stat('/mcp/s/absent'))).toMatchObject({ code: 'ENOENT' });
});

test('VER-2: an entry whose SKILL.md says something else is looked up in the index again', async () => {
  const exchanges = transcript('index-json');
  const { mount } = await replay(exchanges);
  await mount.ready();
  edit(exchanges, (text) => text.replace('Harmless', 'Deletes everything'));
  expect(await mount.promises.readFile('/mcp/s/liar/SKILL.md', 'utf8')).toContain('Deletes everything');
});

test('VER-5, DRAFT-2: the skills of a draft server count as dynamic, and can be denied', async () => {
  const { mount } = await replay(transcript('index-json'), { dynamic: 'deny' });
  const [status] = await mount.ready();
  expect(status).toMatchObject({ skills: 0 });
  expect(status?.refused.map(({ reason }) => reason)).toContain('dynamic-denied');
});

test('ERR-1: an index that cannot be read or understood is a failure, keeps the last good tree, and is asked for again', async () => {
  const exchanges = transcript('index-json');
  const { mount } = await replay(exchanges);
  await mount.ready();
  const good = exchanges.splice(1, 1);
  exchanges.push({
    method: 'resources/read',
    params: { uri: INDEX },
    error: { code: -32603, message: 'disk on fire' },
  });
  const [report] = await mount.refresh('s');
  expect(report?.error?.message).toContain('disk on fire');
  expect(mount.status()[0]).toMatchObject({ stale: true, skills: 3 });
  exchanges.pop();
  exchanges.push(...good);
  edit(exchanges, () => 'no JSON');
  expect((await mount.refresh('s'))[0]?.error?.message).toContain('skill://index.json is no JSON');
  expect(mount.status()[0]).toMatchObject({ stale: true, skills: 3 });
});

test.each([
  [
    'an error',
    (exchange: Exchange) => ({ ...exchange, result: undefined, error: { code: -32603, message: 'broken' } }),
  ],
  ['nonsense', (exchange: Exchange) => edited(exchange, () => '<html>')],
])(
  'ERR-1: when looking for the index gives %s and nothing else is found, the listing fails, and recovers',
  async (_, damage) => {
    const exchanges = transcript('index-json');
    const good = exchanges[1] as Exchange;
    exchanges[1] = damage(good);
    const { mount } = await replay(exchanges);
    expect((await mount.ready())[0]).toMatchObject({ state: 'failed', lastError: { code: 'EIO' } });
    expect(await rejection(mount.promises.stat('/mcp/s/git-workflow'))).toMatchObject({ code: 'EIO' });
    exchanges[1] = good;
    await mount.refresh('s');
    expect(mount.status()[0]).toMatchObject({ state: 'ready', dialect: 'index-json', skills: 3 });
  },
);

test('DRAFT-1, NEG-1: a declared extension without skills/list falls through to the index, and it is said', async () => {
  const { mount, requests, diagnostics } = await replay(transcript('declared-without-methods'));
  expect((await mount.ready())[0]).toMatchObject({ state: 'ready', dialect: 'index-json', skills: 1 });
  expect(diagnostics).toMatchObject([{ code: 'dialect', severity: 'warning' }]);
  expect(diagnostics[0]?.message).toMatch(/declares, answers "Method not found"; the dialect "index-json" is used/);
  expect(await mount.promises.readFile('/mcp/s/git-workflow/SKILL.md', 'utf8')).toContain('# git-workflow');
  await mount.refresh('s');
  expect(requests.filter((request) => request === 'skills/list')).toHaveLength(1);
});

test('a server that says nothing of skills is asked twice in all, and has none', async () => {
  const { mount, requests, diagnostics } = await replay(transcript('no-skills'));
  const [status] = await mount.ready();
  expect(status).toMatchObject({ state: 'ready', skills: 0, refused: [] });
  expect(status?.dialect).toBeUndefined();
  expect(requests).toEqual([`resources/read ${INDEX}`, 'resources/list']);
  expect(diagnostics.map(({ code }) => code)).toEqual(['no-skills']);
});

test('a server without resources is asked nothing', async () => {
  const [init] = transcript('no-skills') as [Exchange];
  const result = { ...(init.result as object), capabilities: { tools: {} } };
  const { mount, requests } = await replay([{ ...init, result }]);
  expect((await mount.ready())[0]).toMatchObject({ state: 'ready', skills: 0 });
  expect(requests).toEqual([]);
});

/** Changes the text of the index. */
function edit(exchanges: Exchange[], change: (text: string) => string): void {
  const at = exchanges.findIndex(({ params }) => params?.['uri'] === INDEX);
  exchanges[at] = edited(exchanges[at] as Exchange, change);
}

function edited(exchange: Exchange, change: (text: string) => string): Exchange {
  const [item] = (exchange.result as { contents: { text: string }[] }).contents;
  return { ...exchange, result: { contents: [{ ...item, text: change(item?.text ?? '') }] } };
}
