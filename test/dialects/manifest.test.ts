import { expect, test } from 'vitest';
import { rejection } from '../support/mounted.ts';
import { type Exchange, replay, transcript } from '../support/transcript-server.ts';

const SKILL = '/mcp/s/git-workflow';
const MANIFEST = 'skill://git-workflow/_manifest';

test('DRAFT-4: the manifests of FastMCP make verified skills', async () => {
  const { mount, requests } = await replay(transcript('manifest'));
  expect((await mount.ready())[0]).toMatchObject({ dialect: 'manifest', skills: 2, refused: [] });
  expect(mount.skills()).toMatchObject([
    { name: 'notes', content: 'verified', files: 1 },
    { name: 'git-workflow', content: 'verified', files: 2, description: 'How this team uses Git' },
  ]);
  const asked = requests.length;
  expect((await mount.promises.readdir('/mcp/s', { recursive: true })).sort()).toEqual([
    'git-workflow',
    'git-workflow/SKILL.md',
    'git-workflow/docs',
    'git-workflow/docs/long lived branches.md',
    'notes',
    'notes/SKILL.md',
  ]);
  expect((await mount.promises.stat(`${SKILL}/docs/long lived branches.md`)).size).toBe(20);
  expect(requests).toHaveLength(asked);
  expect(await mount.promises.readFile(`${SKILL}/docs/long lived branches.md`, 'utf8')).toBe('There is one: main.\n');
  expect(requests.at(-1)).toBe('resources/read skill://git-workflow/docs/long%20lived%20branches.md');
});

test('LAZY-1: listing walks the resources once and reads one manifest for each skill', async () => {
  const { mount, requests } = await replay(transcript('manifest'));
  await mount.ready();
  expect(requests.slice(0, 2)).toEqual(['resources/read skill://index.json', 'resources/list']);
  expect(requests.slice(2).sort()).toEqual([`resources/read ${MANIFEST}`, 'resources/read skill://notes/_manifest']);
});

test('VER-1, DRAFT-4: what is read is held against the hash of the manifest', async () => {
  const exchanges = transcript('manifest');
  change(exchanges, 'skill://git-workflow/docs/long%20lived%20branches.md', (text) => text.replace('one', 'two'));
  const { mount } = await replay(exchanges);
  const error = await rejection(mount.promises.readFile(`${SKILL}/docs/long lived branches.md`));
  expect(error).toMatchObject({ code: 'EIO', cause: { reason: 'digest' } });
});

test('VER-2, DRAFT-4: a file that changed together with its manifest is read after one look at the manifest', async () => {
  const exchanges = transcript('manifest');
  const { mount } = await replay(exchanges);
  await mount.ready();
  const before = 'There is one: main.\n';
  change(exchanges, 'skill://git-workflow/docs/long%20lived%20branches.md', () => 'x');
  change(exchanges, MANIFEST, (text) => {
    const manifest = JSON.parse(text) as { files: { path: string; size: number; hash: string }[] };
    const digest = 'sha256:2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881';
    const files = manifest.files.map((file) =>
      file.size === before.length ? { ...file, size: 1, hash: digest } : file,
    );
    return JSON.stringify({ ...manifest, files });
  });
  expect(await mount.promises.readFile(`${SKILL}/docs/long lived branches.md`, 'utf8')).toBe('x');
});

test('VER-3, DRAFT-4: a manifest is no file of a skill, nor a skill', async () => {
  const { mount } = await replay(transcript('manifest'));
  expect(await rejection(mount.promises.readFile(`${SKILL}/_manifest`))).toMatchObject({
    code: 'ENOENT',
    cause: { reason: 'unlisted' },
  });
});

test.each([
  ['is no JSON', () => '<html>', 'resources', /_manifest cannot be used: .* is no JSON/],
  ['lists a path outside', (text: string) => text.replace('docs/', '../'), 'uri', undefined],
  ['lists an absolute path', (text: string) => text.replace('docs/', '/docs/'), 'uri', undefined],
  ['lists a path with a backslash', (text: string) => text.replace('docs/', 'docs\\\\'), 'uri', undefined],
  ['lists a file twice', withFiles((files) => [...files, files[0]]), 'duplicate-file', undefined],
  ['has a size that is none', (text: string) => text.replace(/"size":\s*\d+/, '"size":"1"'), 'size', undefined],
  ['has a file that is none', withFiles((files) => [null, ...files]), 'resources', undefined],
  ['has a hash of another kind', (text: string) => text.replaceAll('sha256:', 'md5:'), 'digest', undefined],
])('ENT-5, DRAFT-4: a skill whose manifest %s is refused by name, the others load', async (_, damage, reason, note) => {
  const exchanges = transcript('manifest');
  change(exchanges, MANIFEST, damage);
  const { mount, diagnostics } = await replay(exchanges);
  const [status] = await mount.ready();
  expect(status?.refused).toMatchObject([{ uri: 'skill://git-workflow/SKILL.md', reason }]);
  expect(mount.skills().map(({ name }) => name)).toEqual(['notes']);
  if (note !== undefined) expect(diagnostics.find(({ code }) => code === 'dialect')?.message).toMatch(note);
});

test('DRAFT-4: a skill without a manifest beside those with one is dynamic', async () => {
  const exchanges = transcript('manifest').filter(({ params }) => params?.['uri'] !== MANIFEST);
  const { mount } = await replay(exchanges);
  await mount.ready();
  expect(
    mount
      .skills()
      .map(({ name, content }) => `${name} ${content}`)
      .sort(),
  ).toEqual(['git-workflow dynamic', 'notes verified']);
  expect(await mount.promises.readdir(SKILL)).toEqual(['SKILL.md']);
});

test('DRAFT-4, MAP-8: a SKILL.md that only an outer manifest lists is a file of that skill', async () => {
  const exchanges = transcript('manifest');
  const at = exchanges.findIndex(({ method }) => method === 'resources/list');
  const { resources } = (exchanges[at] as Exchange).result as { resources: object[] };
  const inner = { uri: 'skill://git-workflow/docs/inner/SKILL.md', name: 'inner' };
  exchanges[at] = { method: 'resources/list', result: { resources: [...resources, inner] } };
  const { mount } = await replay(exchanges);
  await mount.ready();
  expect(mount.skills().map(({ name }) => name)).toEqual(['notes', 'git-workflow']);
});

function withFiles(change: (files: readonly unknown[]) => readonly unknown[]): (text: string) => string {
  return (text) => {
    const manifest = JSON.parse(text);
    return JSON.stringify({ ...manifest, files: change(manifest.files) });
  };
}

/** Changes the text that is served for a URI. */
function change(exchanges: Exchange[], uri: string, edit: (text: string) => string): void {
  const at = exchanges.findIndex(({ params }) => params?.['uri'] === uri);
  const exchange = exchanges[at] as Exchange;
  const [item] = (exchange.result as { contents: { text: string }[] }).contents;
  exchanges[at] = {
    ...exchange,
    result: { contents: [{ ...item, text: edit(item?.text ?? '') }] },
  };
}

test('VER-1, DRAFT-4: a manifest with the size of another file serves nothing of it', async () => {
  const exchanges = transcript('manifest');
  change(exchanges, MANIFEST, (text) => text.replace(/"size":\s*\d+/g, '"size":1'));
  const { mount } = await replay(exchanges);
  expect(await rejection(mount.promises.readFile(`${SKILL}/SKILL.md`))).toMatchObject({
    code: 'EIO',
    cause: { reason: 'size' },
  });
});
