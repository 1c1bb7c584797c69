import { expect, test } from 'vitest';
import { mountScript, rejection } from '../support/mounted.ts';
import { contents, fileOf, skillMd } from '../support/scripted-server.ts';

const root = 'skill://live';
const files = { [`${root}/SKILL.md`]: skillMd('live'), [`${root}/big.md`]: 'x'.repeat(600) };
const entry = {
  uri: `${root}/SKILL.md`,
  frontmatter: { name: 'live', description: 'About live' },
  resources: 'dynamic' as const,
};
const script = {
  skills: [{ entry, files }],
  capability: { directoryRead: true },
  readDirectory: (uri: string) =>
    uri === root ? { resources: Object.keys(files).map((file) => ({ uri: file })) } : undefined,
};

test('LAZY-1: looking around a dynamic skill reads no file; asking for a size reads that one', async () => {
  const { mount, requests } = await mountScript(script);
  expect(await mount.promises.readdir('/mcp/s/live')).toEqual(['SKILL.md', 'big.md']);
  await mount.promises.access('/mcp/s/live/big.md');
  expect(mount.fs.existsSync('/mcp/s/live/big.md')).toBe(true);
  const looked = ['skills/list', `resources/directory/read ${root}`];
  expect(requests).toEqual(looked);
  expect((await mount.promises.stat('/mcp/s/live/big.md')).size).toBe(600);
  expect((await mount.promises.lstat('/mcp/s/live/big.md')).size).toBe(600);
  expect(requests).toEqual([...looked, `resources/read ${root}/big.md`]);
});

test('a synchronous stat that cannot wait gives size 0 until the file was read', async () => {
  const { mount } = await mountScript(script);
  await mount.promises.readdir('/mcp/s/live');
  expect(mount.fs.statSync('/mcp/s/live/big.md')).toMatchObject({ size: 0 });
  expect(mount.fs.statSync('/mcp/s/live/big.md').isFile()).toBe(true);
  await mount.promises.readFile('/mcp/s/live/big.md');
  expect(mount.fs.statSync('/mcp/s/live/big.md').size).toBe(600);
});

test('LIM-1: a size is not told of what is over the limits, nor of what fails', async () => {
  const { mount } = await mountScript(script, { limits: { bytes: 500 } });
  expect(await rejection(mount.promises.stat('/mcp/s/live/big.md'))).toMatchObject({ code: 'EFBIG' });
  const liar = await mountScript({
    ...script,
    read: (uri) => (uri === entry.uri ? contents(uri, skillMd('other')) : fileOf(script.skills, uri)),
  });
  expect(await rejection(liar.mount.promises.stat('/mcp/s/live/SKILL.md'))).toMatchObject({ code: 'EIO' });
});
