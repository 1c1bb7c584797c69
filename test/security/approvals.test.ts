import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { mount as mountServers } from '../../src/mount.ts';
import type { PolicyOptions } from '../../src/options.ts';
import { Approvals, ApprovalsError } from '../../src/policy/approvals.ts';
import type { ApprovalRequest } from '../../src/policy/options.ts';
import { approvalsFile } from '../../src/policy/place.ts';
import { flat } from '../../src/views/flat.ts';
import { mountScript, rejection } from '../support/mounted.ts';
import { contents, digest, type ScriptedSkill, scriptedSkill } from '../support/scripted-server.ts';
import { directory, serve, skillMd } from '../views/views.ts';

const newFile = () => join(directory({}), 'state/approvals.json');
const PATH = '/mcp/s/tool/SKILL.md';

/** A server with one skill, which may be replaced, and a policy over a file of its own. */
async function guarded(skill: ScriptedSkill, policy: PolicyOptions) {
  const script = { skills: [skill] };
  const served = () => script.skills[0] as ScriptedSkill;
  return {
    replace: (other: ScriptedSkill) => {
      script.skills = [other];
    },
    ...(await mountScript(
      {
        list: () => ({ skills: [served().entry] }),
        get: () => served().entry,
        read: (uri) => (served().files[uri] === undefined ? undefined : contents(uri, served().files[uri] as string)),
      },
      { policy },
    )),
  };
}

describe('SEC-6: an approval', () => {
  test('is needed before any file is read, and not before anything else', async () => {
    const { mount, requests } = await guarded(scriptedSkill('tool', { 'a.md': 'a' }), {
      approval: 'required',
      approvals: newFile(),
    });
    expect(await mount.promises.readdir('/mcp/s/tool')).toEqual(['SKILL.md', 'a.md']);
    expect((await mount.promises.stat(PATH)).size).toBeGreaterThan(0);
    for (const path of [PATH, '/mcp/s/tool/a.md']) {
      const error = await rejection(mount.promises.readFile(path));
      expect(error).toMatchObject({ code: 'EACCES', path });
      expect(error.message).toContain('skill://tool/SKILL.md is not approved');
      expect(error.message).toContain('skillfs approve s/tool');
      expect(() => mount.fs.openSync(path, 'r')).toThrow(/EACCES/);
    }
    expect(mount.skills()[0]?.approved).toBe(false);
    expect(mount.originOf(PATH)).toMatchObject({ approved: false });
    expect(requests).toEqual(['skills/list']);
  });

  test('is bound to every file: any change revokes it, and the error says what changed', async () => {
    const file = newFile();
    const first = scriptedSkill('tool', { 'a.md': 'a', 'b.md': 'b' });
    const { mount, replace } = await guarded(first, { approval: 'required', approvals: file });
    await mount.ready();
    new Approvals(file).approve('s', first.entry);
    await expect.poll(() => mount.skills()[0]?.approved).toBe(true);
    expect(await mount.promises.readFile('/mcp/s/tool/a.md', 'utf8')).toBe('a');

    replace(scriptedSkill('tool', { 'a.md': 'other', 'c.md': 'c' }));
    await mount.refresh();
    const error = await rejection(mount.promises.readFile('/mcp/s/tool/SKILL.md'));
    expect(error.code).toBe('EACCES');
    expect(error.message).toMatch(/changed since it was approved at .*: changed a\.md; added c\.md; removed b\.md; /);
    expect(() => mount.fs.readFileSync('/mcp/s/tool/a.md')).toThrow(/EACCES/);
  });

  test('VER-2: does not cover what an entry became after a mismatch', async () => {
    const file = newFile();
    const first = scriptedSkill('tool', { 'a.md': 'a' });
    const { mount, replace, requests } = await guarded(first, { approval: 'required', approvals: file });
    new Approvals(file).approve('s', first.entry);
    await mount.ready();
    replace(scriptedSkill('tool', { 'a.md': 'evil' }));
    const error = await rejection(mount.promises.readFile('/mcp/s/tool/a.md'));
    expect(error).toMatchObject({ code: 'EACCES' });
    expect(error.message).toContain('changed a.md');
    expect(requests).toEqual(['skills/list', 'resources/read skill://tool/a.md', 'skills/get skill://tool/SKILL.md']);
  });

  test('does not cover nested skills, nor a skill of another server, nor of another path', async () => {
    const file = newFile();
    const files = {
      'a/SKILL.md': skillMd('a'),
      'a/x.md': 'x',
      'a/b/SKILL.md': skillMd('b'),
      'c/a/SKILL.md': skillMd('a'),
    };
    const { mount } = await serve({ s: files, t: files }, { policy: { approval: 'required', approvals: file } });
    await mount.ready();
    const approve: ApprovalRequest[] = [];
    const { mount: asked } = await serve(
      { s: files },
      {
        policy: {
          approval: 'required',
          approvals: file,
          approve: (request) => approve.push(request) > 0 && request.uri === 'skill://a/SKILL.md',
        },
      },
    );
    expect(await asked.promises.readFile('/mcp/s/a/x.md', 'utf8')).toBe('x');
    expect(await rejection(asked.promises.readFile('/mcp/s/a/b/SKILL.md'))).toMatchObject({ code: 'EACCES' });
    expect(approve.map(({ uri }) => uri)).toEqual(['skill://a/SKILL.md', 'skill://a/b/SKILL.md']);
    await expect
      .poll(() =>
        mount
          .skills()
          .filter(({ approved }) => approved)
          .map(({ path }) => path),
      )
      .toEqual(['/mcp/s/a']);
  });

  test('of a dynamic skill ends with the process', async () => {
    const file = newFile();
    const files = { 'dyn/SKILL.md': skillMd('dyn') };
    let asked = 0;
    const policy: PolicyOptions = { approval: 'required', approvals: file, approve: () => ++asked > 0 };
    for (const round of [1, 2]) {
      const { mount } = await serve({ s: files }, { policy }, { dynamic: ['dyn'] });
      await mount.promises.readFile('/mcp/s/dyn/SKILL.md');
      await mount.promises.readFile('/mcp/s/dyn/SKILL.md');
      expect(asked).toBe(round);
    }
    expect(new Approvals(file).records()).toEqual([]);
    const entry = { uri: 'skill://dyn/SKILL.md', resources: 'dynamic' } as const;
    expect(() => new Approvals(file).approve('s', entry)).toThrow(/dynamic/);
  });

  test('with grants lets them take effect for just what was approved', async () => {
    const file = newFile();
    const text = '---\nname: tool\ndescription: About tool\nallowed-tools: Bash\n---\n';
    const asking = (extra: string) => {
      const skill = scriptedSkill('tool', { 'SKILL.md': text, 'a.md': extra });
      Object.assign(skill.entry.frontmatter, { 'allowed-tools': 'Bash' });
      return skill;
    };
    const { mount, replace } = await guarded(asking('a'), { approvals: file });
    new Approvals(file).approve('s', asking('a').entry, true);
    await mount.ready();
    await expect.poll(() => mount.promises.readFile(PATH, 'utf8')).toBe(text);
    replace(asking('b'));
    await mount.refresh();
    expect(await mount.promises.readFile(PATH, 'utf8')).not.toContain('\nallowed-tools');
  });

  test('is not needed where a rule allows, and is where a rule asks', async () => {
    const files = { 'tool/SKILL.md': skillMd('tool'), 'own/SKILL.md': skillMd('own') };
    const { mount } = await serve(
      { s: files, t: files },
      {
        policy: {
          servers: { s: 'ask' },
          skills: { s: { 'skill://own/SKILL.md': 'allow' } },
          approvals: newFile(),
        },
      },
    );
    const codes = ['s/tool', 's/own', 't/tool'].map((path) =>
      mount.promises.readFile(`/mcp/${path}/SKILL.md`).then(
        () => 'read',
        ({ code }) => code,
      ),
    );
    expect(await Promise.all(codes)).toEqual(['EACCES', 'read', 'read']);
  });
});

describe('the callback of a host', () => {
  const asking = (approve: PolicyOptions['approve'], approvals: string | boolean = false): PolicyOptions => ({
    approval: 'required',
    approvals,
    ...(approve && { approve }),
  });

  test('SEC-6: is asked once, with everything there is to know, and its yes is kept', async () => {
    const file = newFile();
    const skill = scriptedSkill('tool', { 'a.md': 'a' });
    const requests: ApprovalRequest[] = [];
    const { mount, replace } = await guarded(
      skill,
      asking((request) => requests.push(request) > 0, file),
    );
    await Promise.all([mount.promises.readFile(PATH), mount.promises.readFile('/mcp/s/tool/a.md')]);
    expect(requests).toEqual([
      {
        label: 's',
        uri: 'skill://tool/SKILL.md',
        frontmatter: skill.entry.frontmatter,
        files: [...skill.entry.resources].sort((a, b) =>
          (a as { uri: string }).uri < (b as { uri: string }).uri ? -1 : 1,
        ),
      },
    ]);
    expect(new Approvals(file).records()).toMatchObject([{ label: 's', uri: 'skill://tool/SKILL.md' }]);
    replace(scriptedSkill('tool', { 'a.md': 'new' }));
    await mount.refresh();
    await mount.promises.readFile(PATH);
    expect(requests[1]?.changes).toMatchObject({ changed: ['skill://tool/a.md'], added: [], removed: [] });
    expect(requests[1]?.files).toContainEqual({ uri: 'skill://tool/a.md', digest: digest('new'), size: 3 });
  });

  test('a synchronous read cannot wait for it: EACCES, also in views, and nothing is left out for that', async () => {
    const { mount } = await guarded(
      scriptedSkill('tool'),
      asking(async () => true),
    );
    await mount.ready();
    const view = flat(mount);
    expect(() => mount.fs.readFileSync(PATH)).toThrow(/EACCES: .*synchronous call cannot wait/);
    expect(() => view.fs.readFileSync('/skills/tool/SKILL.md')).toThrow(/ENOENT/);
    expect(view.fs.readdirSync('/skills')).toEqual(['tool']);
    expect(await view.promises.readFile('/skills/tool/SKILL.md', 'utf8')).toContain('name: tool');
    expect(mount.fs.readFileSync(PATH, 'utf8')).toContain('name: tool');
  });

  test('once is for the process, no holds until the skill changes, a failure is asked again', async () => {
    const file = newFile();
    const answers: (boolean | 'once' | Error)[] = [new Error('dialog broke'), false, 'once'];
    const approve = async () => {
      const answer = answers.shift();
      if (answer instanceof Error) throw answer;
      return answer as boolean | 'once';
    };
    const { mount, replace } = await guarded(scriptedSkill('tool'), asking(approve, file));
    const failed = await rejection(mount.promises.readFile(PATH));
    expect(failed).toMatchObject({ code: 'EACCES' });
    expect(failed.message).toContain('dialog broke');
    for (let round = 0; round < 2; round++) {
      expect((await rejection(mount.promises.readFile(PATH))).message).toContain('was not approved');
    }
    expect(answers).toEqual(['once']);
    replace(scriptedSkill('tool', { 'a.md': 'a' }));
    await mount.refresh();
    await mount.promises.readFile(PATH);
    expect(new Approvals(file).records()).toEqual([]);
  });

  test('an answer that is none of these is a no', async () => {
    const { mount } = await guarded(scriptedSkill('tool'), asking((() => 'yes') as never));
    expect(await rejection(mount.promises.readFile(PATH))).toMatchObject({ code: 'EACCES' });
  });

  test('it cannot change what it is asked about', async () => {
    const approve = (request: ApprovalRequest) => {
      (request.files as unknown[]).length = 0;
      (request.frontmatter as { name: string }).name = 'other';
      return true;
    };
    const file = newFile();
    const { mount } = await guarded(scriptedSkill('tool'), asking(approve, file));
    await mount.promises.readFile(PATH);
    expect(new Approvals(file).records()[0]?.approval?.files).toHaveLength(1);
    expect(mount.skills()[0]?.frontmatter.name).toBe('tool');
  });
});

test('SEC-7: what is disabled while mounted goes from all listings, and comes back when it is enabled', async () => {
  const file = newFile();
  const { mount } = await serve(
    { s: { 'tool/SKILL.md': skillMd('tool'), 'x/SKILL.md': skillMd('x') } },
    { policy: { approvals: file } },
  );
  const view = flat(mount);
  expect(await view.promises.readdir('/skills')).toEqual(['tool', 'x']);
  const skill = { label: 's', uri: 'skill://tool/SKILL.md' };
  new Approvals(file).disable(skill);
  await expect.poll(() => view.promises.readdir('/skills')).toEqual(['x']);
  expect(await mount.promises.readdir('/mcp/s')).toEqual(['x']);
  expect((await rejection(mount.promises.readFile(PATH))).message).toContain('skillfs enable s/tool');
  expect(await rejection(view.promises.readFile('/skills/tool/SKILL.md'))).toMatchObject({ code: 'EACCES' });
  new Approvals(file).enable(skill);
  await expect.poll(() => view.promises.readdir('/skills')).toEqual(['tool', 'x']);
  expect(new Approvals(file).records()).toEqual([]);
});

test('a skill that is not approved is left out of views once it was read, and comes back when it is approved', async () => {
  const file = newFile();
  const skill = scriptedSkill('tool');
  const { mount, diagnostics } = await guarded(skill, { approval: 'required', approvals: file });
  const view = flat(mount);
  const error = await rejection(view.promises.readFile('/skills/tool/SKILL.md'));
  expect(error.code).toBe('ENOENT');
  expect(String((error.cause as Error & { cause?: unknown }).message)).toContain('not approved');
  expect(await view.promises.readdir('/skills')).toEqual([]);
  expect(diagnostics.map(({ code }) => code)).toEqual(['hidden']);
  new Approvals(file).approve('s', skill.entry);
  await expect.poll(() => view.promises.readdir('/skills')).toEqual(['tool']);
  expect(await view.promises.readFile('/skills/tool/SKILL.md', 'utf8')).toContain('name: tool');
});

describe('the file of approvals', () => {
  test('is private, versioned, and whole at every moment', () => {
    const file = newFile();
    new Approvals(file).approve('s', scriptedSkill('tool').entry as never);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(file)).mode & 0o777).toBe(0o700);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ version: 1, skills: [{ label: 's' }] });
    expect(readdirSync(dirname(file))).toEqual(['approvals.json']);
  });

  test.each([
    ['is not JSON', '{"version": 1, "skills": ['],
    ['has the format 2', '{"version": 2, "skills": []}'],
    ['is not a file of approvals', '{"version": 1, "skills": [{"label": 1}]}'],
    ['is not a file of approvals', '[]'],
    ['has a record of no skill', '{"version": 1, "skills": [{"label": "s", "uri": "skill://../SKILL.md"}]}'],
  ])('that %s is refused, and nothing is shown then', (problem, text) => {
    const file = join(directory({ 'approvals.json': text }), 'approvals.json');
    expect(() => new Approvals(file)).toThrow(problem);
    expect(() => mountServers({ servers: {}, policy: { approvals: file } })).toThrow(
      /policy\.approvals: .*approvals\.json/,
    );
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  test('that others can write, or that is a link, is refused', () => {
    const own = directory({ 'approvals.json': '{"version": 1, "skills": []}' });
    const file = join(own, 'approvals.json');
    symlinkSync(file, join(own, 'link.json'));
    expect(() => new Approvals(join(own, 'link.json'))).toThrow(/symbolic link/);
    chmodSync(file, 0o666);
    expect(() => new Approvals(file)).toThrow(/changed by others/);
    chmodSync(file, 0o600);
    chmodSync(own, 0o777);
    expect(() => new Approvals(file)).toThrow(/changed by others/);
    mkdirSync(join(own, 'directory.json'));
    chmodSync(own, 0o700);
    expect(() => new Approvals(join(own, 'directory.json'))).toThrow(ApprovalsError);
  });

  test('that is spoiled while mounted: what it said before stays, and that is told', async () => {
    const file = newFile();
    new Approvals(file).disable({ label: 's', uri: 'skill://tool/SKILL.md' });
    const { mount, diagnostics } = await serve(
      { s: { 'tool/SKILL.md': skillMd('tool') } },
      { policy: { approvals: file } },
    );
    expect(await mount.promises.readdir('/mcp/s')).toEqual([]);
    writeFileSync(file, 'spoiled');
    await expect.poll(() => mount.promises.readdir('/mcp/s').then(() => diagnostics.length)).toBe(1);
    expect(diagnostics[0]).toMatchObject({ code: 'approvals', severity: 'error' });
    expect(await mount.promises.readdir('/mcp/s')).toEqual([]);
  });

  test('is where the operating system has such things', () => {
    const at = (platform: NodeJS.Platform, env: Record<string, string>) =>
      approvalsFile({ platform, env, home: platform === 'win32' ? 'C:\\U' : '/h' });
    expect(at('linux', {})).toBe('/h/.local/state/skillfs/approvals.json');
    expect(at('linux', { XDG_STATE_HOME: '/x' })).toBe('/x/skillfs/approvals.json');
    expect(at('linux', { XDG_STATE_HOME: 'x' })).toBe('/h/.local/state/skillfs/approvals.json');
    expect(at('darwin', {})).toBe('/h/Library/Application Support/skillfs/approvals.json');
    expect(at('win32', { LOCALAPPDATA: 'D:\\L' })).toBe('D:\\L\\skillfs\\approvals.json');
    expect(at('win32', {})).toBe('C:\\U\\AppData\\Local\\skillfs\\approvals.json');
  });
});
