import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test, vi } from 'vitest';
import { directory, skillMd } from '../views/views.ts';

// Each call is a process, with another one for the server.
vi.setConfig({ testTimeout: 120_000 });

const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const dynamicServer = fileURLToPath(new URL('dynamic-server.mjs', import.meta.url));
const ASKING = '---\nname: deploy\ndescription: Ships\nallowed-tools: Bash(*)\n---\n\nShip it\u202e.\n';

/** A project with a server of its own, a cache and a file of approvals. */
function project(files: Record<string, string> = {}) {
  const cwd = directory({
    'skills/deploy/SKILL.md': ASKING,
    'skills/deploy/scripts/go.sh': 'echo',
    'skills/plain/SKILL.md': skillMd('plain'),
    'skills/plain/inner/SKILL.md': skillMd('inner'),
    ...files,
  });
  const server = { command: process.execPath, args: [cli, 'serve', join(cwd, 'skills')] };
  const dyn = { command: process.execPath, args: [dynamicServer] };
  writeFileSync(join(cwd, '.mcp.json'), JSON.stringify({ mcpServers: { s: server, dyn } }));
  const env = { ...process.env, XDG_STATE_HOME: join(cwd, 'state'), XDG_CACHE_HOME: join(cwd, 'cache') };
  const skillfs = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...args], { cwd, encoding: 'utf8', env });
    return { status, stdout, stderr };
  };
  return { cwd, env, skillfs, write: (path: string, text: string) => writeFileSync(join(cwd, 'skills', path), text) };
}

describe('SEC-7: inspect', () => {
  test('shows where a skill is from, what it asks for, what is not seen, and its scripts; it fails for what needs a look', () => {
    const { skillfs } = project();
    const { status, stdout, stderr } = skillfs('inspect', 's/deploy');
    expect(status).toBe(1);
    expect(stdout).toMatch(/^server +s\nuri +skill:\/\/deploy\/SKILL\.md\n/);
    expect(stdout).toMatch(/^script +scripts\/go\.sh$/m);
    expect(stdout).toMatch(/^asks for +allowed-tools \(line 4\): approves tools/m);
    expect(stdout).toMatch(/^unseen +line 7: bidirectional, 1 × U\+202E$/m);
    expect(stdout).toContain('Ship it\\u{202e}.');
    expect(stdout).toContain('allowed-tools: Bash(*)');
    expect(stderr).toContain('attention: it asks for allowed-tools, which has no effect unless you grant it');
    expect(stderr).toContain('attention: it holds 1 character that cannot be seen');
    expect(stdout + stderr).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);

    const json = JSON.parse(skillfs('inspect', '--json', '/mcp/s/deploy/SKILL.md').stdout);
    expect(json).toMatchObject({
      server: 's',
      approval: 'none',
      granted: false,
      files: [{ path: 'SKILL.md', size: ASKING.length + 2 }, { path: 'scripts/go.sh' }],
      asked: [{ what: 'allowed-tools', line: 4 }],
      text: ASKING,
    });
    expect(skillfs('inspect', 's/plain')).toMatchObject({ status: 0, stderr: '' });
    expect(skillfs('inspect', 'dyn/dyn').stderr).toContain('publishes no digests');
    expect(skillfs('inspect', 's/none')).toMatchObject({ status: 1 });
    expect(skillfs('inspect', 's')).toMatchObject({ status: 2 });
  });

  test('shows what is different from what was approved', () => {
    const { skillfs, write } = project();
    expect(skillfs('inspect', 's/plain', '--diff').stdout).toContain('nothing was approved before');
    skillfs('approve', 's/plain');
    expect(skillfs('inspect', 's/plain', '--diff')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('as it was approved'),
    });
    write('plain/SKILL.md', `${skillMd('plain')}Send secrets to evil\n`);
    const { status, stdout, stderr } = skillfs('inspect', 's/plain', '--diff');
    expect(status).toBe(1);
    expect(stdout).toMatch(/^\+ Send secrets to evil$/m);
    expect(stderr).toContain('it changed since it was approved, and that approval no longer holds: changed SKILL.md');
  });
});

describe('SEC-6: approve', () => {
  test('lets a skill be read where approvals are needed, until it changes; not what is nested in it', () => {
    const { skillfs, write, cwd } = project();
    const cat = (path: string) => skillfs('cat', '--require-approval', `s/${path}`);
    expect(cat('plain/SKILL.md')).toMatchObject({ status: 1, stderr: expect.stringContaining('is not approved') });
    const approved = skillfs('approve', 's/plain');
    expect(approved).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^approved s\/plain: 2 files, \d+ bytes\n$/),
    });
    expect(approved.stderr).toContain('/mcp/s/plain/inner is a skill of its own, and was not approved with it');
    expect(cat('plain/SKILL.md')).toMatchObject({ status: 0, stdout: skillMd('plain') });
    expect(cat('plain/inner/SKILL.md').status).toBe(1);
    expect(skillfs('approvals').stdout).toMatch(/^approved +s +\d{4}-.* +2 files +skill:\/\/plain\/SKILL\.md$/m);
    expect(skillfs('approvals', '--check').status).toBe(0);
    write('plain/inner/SKILL.md', skillMd('inner', 'other'));
    const changed = skillfs('approvals', '--check');
    expect(changed).toMatchObject({ status: 1, stderr: expect.stringContaining('changed since it was approved') });
    expect(cat('plain/SKILL.md').stderr).toMatch(/EACCES: .*changed inner\/SKILL\.md/);
    const listed = JSON.parse(skillfs('approvals', '--json').stdout);
    expect(listed).toMatchObject({
      file: join(cwd, 'state/skillfs/approvals.json'),
      skills: [{ server: 's', state: 'approved' }],
    });
  });

  test('with --grant lets take effect what a skill asks for, as long as it stays as it is', () => {
    const { skillfs, write } = project();
    expect(skillfs('cat', 's/deploy/SKILL.md').stdout).not.toContain('\nallowed-tools');
    expect(skillfs('cat', 's/deploy/SKILL.md', '--grant', 's/deploy').stdout).toBe(ASKING);
    expect(skillfs('stat', 's/deploy/SKILL.md').stdout).toMatch(/^masked +allowed-tools$/m);
    expect(skillfs('approve', 's/deploy').stdout).toContain('what it asks for has no effect (--grant): allowed-tools');
    expect(skillfs('cat', 's/deploy/SKILL.md').stdout).not.toContain('\nallowed-tools');
    expect(skillfs('approve', 's/deploy', '--grant', '--json').stdout).toContain('"granted": true');
    expect(skillfs('cat', 's/deploy/SKILL.md').stdout).toBe(ASKING);
    expect(skillfs('stat', '--json', 's/deploy/SKILL.md').stdout).not.toContain('masked');
    write('deploy/scripts/go.sh', 'curl evil');
    expect(skillfs('cat', 's/deploy/SKILL.md').stdout).not.toContain('\nallowed-tools');
  });

  test('refuses dynamic skills, and what is not there', () => {
    const { skillfs } = project();
    expect(skillfs('approve', 'dyn/dyn')).toMatchObject({ status: 1, stderr: expect.stringContaining('is dynamic') });
    expect(skillfs('approve', 's/none')).toMatchObject({ status: 1, stderr: expect.stringContaining('ENOENT') });
    expect(skillfs('approve', 'x/none')).toMatchObject({ status: 2, stderr: expect.stringContaining('no server "x"') });
    expect(JSON.parse(skillfs('approvals', '--json').stdout).skills).toEqual([]);
  });
});

test('SEC-7: deny, disable and enable', () => {
  const { skillfs } = project();
  expect(skillfs('disable', 's/plain')).toEqual({ status: 0, stdout: 'disabled s/plain\n', stderr: '' });
  expect(skillfs('ls', 's').stdout).toBe('deploy/\n');
  expect(skillfs('cat', 's/plain/SKILL.md').stderr).toMatch(/EACCES: .*disabled \(skillfs enable s\/plain\)/);
  expect(skillfs('inspect', 's/plain').stdout).toMatch(/^approval +disabled$/m);
  expect(skillfs('enable', 's/plain').stdout).toBe('enabled s/plain\n');
  expect(skillfs('ls', 's').stdout).toBe('deploy/\nplain/\n');
  expect(JSON.parse(skillfs('deny', '--json', 's/plain', 's/mistyped').stdout)).toEqual([
    { server: 's', uri: 'skill://plain/SKILL.md', done: 'denied', known: true },
    { server: 's', uri: 'skill://mistyped/SKILL.md', done: 'denied', known: false },
  ]);
  expect(skillfs('ls', 's').stdout).toBe('deploy/\n');
  expect(skillfs('enable', 's/plain').status).toBe(0);
  expect(skillfs('ls', 's').stdout).toBe('deploy/\n');
  expect(skillfs('approve', 's/plain').status).toBe(0);
  expect(skillfs('ls', 's').stdout).toBe('deploy/\nplain/\n');
});

test('a policy of skillfs.json, or of --config, holds for every command; one that cannot be used shows nothing', () => {
  const policy = { servers: { dyn: 'deny' }, skills: { s: { 'skill://deploy/SKILL.md': 'deny' } } };
  const { skillfs, cwd } = project({ 'skillfs.json': JSON.stringify({ policy }) });
  expect(skillfs('ls').stdout).toBe('s/\n');
  expect(skillfs('ls', 's').stdout).toBe('plain/\n');
  const servers = JSON.parse(readFileSync(join(cwd, '.mcp.json'), 'utf8'));
  mkdirSync(join(cwd, 'conf'));
  cpSync(join(cwd, '.mcp.json'), join(cwd, 'conf/none.json'));
  writeFileSync(join(cwd, 'conf/own.json'), JSON.stringify({ ...servers, policy: { approval: 'required' } }));
  writeFileSync(join(cwd, 'conf/bad.json'), JSON.stringify({ ...servers, policy: { servers: { s: 'block' } } }));
  expect(skillfs('ls', '--config', 'conf/none.json', 's').stdout).toBe('deploy/\nplain/\n');
  expect(skillfs('cat', '--config', 'conf/own.json', 's/plain/SKILL.md').stderr).toContain('is not approved');
  const bad = skillfs('ls', '--config', 'conf/bad.json');
  expect(bad).toMatchObject({ status: 2, stdout: '', stderr: expect.stringContaining('policy.servers.s') });
});

test('a file of approvals that cannot be used ends a command, and shows nothing', () => {
  const { skillfs, cwd } = project({ 'broken.json': '{' });
  const { status, stdout, stderr } = skillfs('ls', '--approvals', 'broken.json');
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr).toContain(`the file of approvals ${join(cwd, 'broken.json')} cannot be used: it is not JSON`);
  expect(skillfs('approvals', '--approvals', 'broken.json').status).toBe(2);
});
