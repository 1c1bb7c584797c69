import { describe, expect, test } from 'vitest';
import { mount as mountServers } from '../../src/mount.ts';
import { OptionsError } from '../../src/options.ts';
import { flat } from '../../src/views/flat.ts';
import { union } from '../../src/views/union.ts';
import { mountScript, rejection } from '../support/mounted.ts';
import { connectScript, skillMd as scriptedMd, scriptedSkill } from '../support/scripted-server.ts';
import { directory, serve, skillMd } from '../views/views.ts';

const outer = {
  'acme/outer/SKILL.md': skillMd('outer'),
  'acme/outer/a.md': 'a',
  'acme/outer/inner/SKILL.md': skillMd('inner'),
  'acme/fine/SKILL.md': skillMd('fine'),
};
const denied = (...uris: string[]) => ({
  policy: { skills: { s: Object.fromEntries(uris.map((uri) => [uri, 'deny' as const])) } },
});

describe('SEC-7: a denied skill', () => {
  test('is in no listing, and gives EACCES on direct lookup, in the tree', async () => {
    const { mount } = await serve({ s: outer }, denied('skill://acme/outer/SKILL.md'));
    await mount.ready();
    expect(await mount.promises.readdir('/mcp/s/acme')).toEqual(['fine']);
    expect(await mount.promises.readdir('/mcp/s', { recursive: true })).toEqual([
      'acme',
      'acme/fine',
      'acme/fine/SKILL.md',
    ]);
    expect(mount.skills().map(({ name }) => name)).toEqual(['fine']);
    for (const path of ['', '/SKILL.md', '/a.md', '/none', '/inner', '/inner/SKILL.md']) {
      const error = await rejection(mount.promises.stat(`/mcp/s/acme/outer${path}`));
      expect(error).toMatchObject({ code: 'EACCES' });
      expect(error.message).toContain('acme/outer');
      expect(() => mount.fs.readFileSync(`/mcp/s/acme/outer${path}`)).toThrow(/EACCES/);
      expect(mount.fs.existsSync(`/mcp/s/acme/outer${path}`)).toBe(false);
    }
    await expect(mount.promises.readdir('/mcp/s/acme/outer')).rejects.toMatchObject({ code: 'EACCES' });
    expect(mount.originOf('/mcp/s/acme/outer/a.md')).toMatchObject({ label: 's', approved: false });
  });

  test('is in no flat view and no union, and keeps nothing from others', async () => {
    const { mount } = await serve(
      { s: outer, t: { 'outer/SKILL.md': skillMd('outer', 'of t') } },
      denied('skill://acme/outer/SKILL.md'),
    );
    const view = flat(mount);
    expect(await view.promises.readdir('/skills')).toEqual(['fine', 'outer']);
    expect(await view.promises.readFile('/skills/outer/SKILL.md', 'utf8')).toContain('of t');
    expect(view.collisions()).toEqual([]);
    await expect(view.promises.readFile('/skills/inner/SKILL.md')).rejects.toMatchObject({ code: 'EACCES' });
    const local = directory({ 'inner/SKILL.md': skillMd('inner', 'local') });
    const merged = union([{ path: local }, flat(mount)]);
    expect(await merged.promises.readdir('/skills')).toEqual(['fine', 'inner', 'outer']);
    expect(await merged.promises.readFile('/skills/inner/SKILL.md', 'utf8')).toContain('local');
    const none = union([{ path: directory({}) }, flat(mount)]);
    await expect(none.promises.readFile('/skills/inner/SKILL.md')).rejects.toMatchObject({ code: 'EACCES' });
    expect(() => none.fs.readFileSync('/skills/inner/SKILL.md')).toThrow(/EACCES/);
  });

  test('of one mount leaves the skill of that name of another in a union', async () => {
    const one = await serve({ s: { 'tool/SKILL.md': skillMd('tool', 'of one') } }, denied('skill://tool/SKILL.md'));
    const two = await serve({ t: { 'tool/SKILL.md': skillMd('tool', 'of two') } });
    const view = union([flat(one.mount), flat(two.mount)]);
    expect(await view.promises.readdir('/skills')).toEqual(['tool']);
    expect(await view.promises.readFile('/skills/tool/SKILL.md', 'utf8')).toContain('of two');
  });

  test('nested in another one is left out of it alone', async () => {
    const { mount } = await serve({ s: outer }, denied('skill://acme/outer/inner/SKILL.md'));
    expect(await mount.promises.readdir('/mcp/s/acme/outer')).toEqual(['SKILL.md', 'a.md']);
    expect(await mount.promises.readFile('/mcp/s/acme/outer/a.md', 'utf8')).toBe('a');
    await expect(mount.promises.stat('/mcp/s/acme/outer/inner/SKILL.md')).rejects.toMatchObject({ code: 'EACCES' });
  });

  test('is not asked for, whether or not the server has it, in any spelling', async () => {
    const { mount, requests } = await mountScript(
      { skills: [scriptedSkill('a-b', { 'SKILL.md': scriptedMd('a-b') })] },
      denied('skill://a%2Db/SKILL.md', 'skill://hidden/SKILL.md'),
    );
    expect(await mount.promises.readdir('/mcp/s')).toEqual([]);
    await expect(mount.promises.stat('/mcp/s/hidden/SKILL.md')).rejects.toMatchObject({ code: 'EACCES' });
    await expect(mount.promises.readFile('/mcp/s/a-b/SKILL.md')).rejects.toMatchObject({ code: 'EACCES' });
    expect(requests).toEqual(['skills/list']);
  });
});

test('SEC-7: a denied server is not connected to, is in no listing, and gives EACCES', async () => {
  const { client, requests, close } = await connectScript({ skills: [scriptedSkill('x')] });
  const mount = mountServers({
    servers: { s: client, bad: { command: '/no/such/command' } },
    policy: { servers: { bad: 'deny' } },
  });
  const status = await mount.ready();
  expect(status.map(({ label, state }) => [label, state])).toEqual([
    ['s', 'ready'],
    ['bad', 'denied'],
  ]);
  expect(await mount.promises.readdir('/mcp')).toEqual(['s']);
  const error = await rejection(mount.promises.readFile('/mcp/bad/x/SKILL.md'));
  expect(error).toMatchObject({ code: 'EACCES' });
  expect(error.message).toContain('the server "bad" is denied');
  await expect(mount.promises.readdir('/mcp/bad')).rejects.toMatchObject({ code: 'EACCES' });
  const tree = union([mount], { mountPoint: '/tree' });
  expect(await tree.promises.readdir('/tree')).toEqual(['s']);
  await expect(tree.promises.stat('/tree/bad/x')).rejects.toMatchObject({ code: 'EACCES' });
  expect(requests).toEqual(['skills/list']);
  await mount.close();
  await close();
});

test('a rule that cannot be meant is refused, and none gets lost', () => {
  const servers = {};
  const refused = (policy: unknown) => () => mountServers({ servers, policy: policy as never });
  expect(refused({ skills: { s: { 'skill://a': 'deny' } } })).toThrow(/policy\.skills\.s\S*: .*SKILL\.md/);
  expect(refused({ servers: { s: 'block' } })).toThrow(OptionsError);
  expect(refused({ grants: { s: 'skill://a/SKILL.md' } })).toThrow(OptionsError);
  expect(refused({ deny: [] })).toThrow(/policy/);
  expect(refused({ servers: JSON.parse('{"__proto__": "deny"}') })).toThrow(
    /policy\.servers: has the name "__proto__"/,
  );
  expect(refused({ approvals: 'relative.json' })).toThrow(/policy\.approvals: .*no absolute path/);
});
