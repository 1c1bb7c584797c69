import { expect, test } from 'vitest';
import { mount } from '../../src/mount.ts';
import { fixtures, serve, temporary, write } from '../server/served.ts';
import { skillMd } from '../support/scripted-server.ts';

/** A client that sees a server as a host of the draft does: without the extension. */
function ofTheDraft<T extends object>(client: T): T {
  return new Proxy(client, {
    get(target, key) {
      if (key === 'getServerCapabilities') return () => ({ resources: {} });
      const value = Reflect.get(target, key);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

test('SRV-4, DRAFT-1: on request the skills are published in the index of the draft, as they are when it is read', async () => {
  const directory = temporary({ 'a/SKILL.md': skillMd('a'), 'acme/b/SKILL.md': skillMd('b') });
  const { read, client } = await serve(directory, { draft: true });
  const index = async () => JSON.parse((await read('skill://index.json')).text) as { skills: object[] };
  expect(await index()).toMatchObject({
    $schema: expect.stringContaining('agentskills.io'),
    skills: [
      { type: 'skill-md', name: 'a', description: 'About a', url: 'skill://a/SKILL.md' },
      { type: 'skill-md', name: 'b', description: 'About b', url: 'skill://acme/b/SKILL.md' },
    ],
  });
  write(directory, 'c/SKILL.md', skillMd('c'));
  expect((await index()).skills).toHaveLength(3);
  const { resourceTemplates } = await client.listResourceTemplates();
  expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual(['skill://{+path}']);
});

test('SRV-4: without the request there is no index', async () => {
  const { read } = await serve(fixtures);
  await expect(read('skill://index.json')).rejects.toMatchObject({ code: -32602 });
});

test('SRV-4, DRAFT-2: a host of the draft finds the same files as one of the extension', async () => {
  const { client } = await serve(fixtures, { draft: true });
  const now = mount({ servers: { s: client } });
  const then = mount({ servers: { s: ofTheDraft(client) } });
  expect((await now.ready())[0]).toMatchObject({ dialect: 'skills', refused: [] });
  expect((await then.ready())[0]).toMatchObject({ dialect: 'index-json', refused: [] });
  const files = (await now.promises.readdir('/mcp/s', { recursive: true })).sort();
  expect((await then.promises.readdir('/mcp/s', { recursive: true })).sort()).toEqual(files);
  expect(files.length).toBeGreaterThan(20);
  for (const skill of now.skills()) {
    const path = `${skill.path}/SKILL.md`;
    expect(await then.promises.readFile(path)).toEqual(await now.promises.readFile(path));
  }
  expect(await then.promises.readFile('/mcp/s/pdf-forms/assets/filled example.png')).toEqual(
    await now.promises.readFile('/mcp/s/pdf-forms/assets/filled example.png'),
  );
  await now.close();
  await then.close();
});
