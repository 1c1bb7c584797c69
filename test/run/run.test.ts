import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { directory, skillMd } from '../views/views.ts';

const cli = new URL('../../dist/cli.js', import.meta.url).pathname;
const fixtures = new URL('../../fixtures/skills', import.meta.url).pathname;
const servers = ['--server', `s='${process.execPath}' '${cli}' serve '${fixtures}'`];
const names = [
  ...['db-migrations', 'i18n-review', 'incident-response', 'invoices', 'pdf-forms', 'postmortem', 'refunds'],
  'release-notes',
];

interface Project {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** A project, and a home with nothing in it. Programs of the project's `bin` are found. */
function project(files: Record<string, string> = {}): Project {
  const root = directory(files);
  for (const made of ['bin', 'home', 'tmp']) mkdirSync(join(root, made), { recursive: true });
  for (const program of readdirSync(join(root, 'bin'))) chmodSync(join(root, 'bin', program), 0o755);
  const { NODE_OPTIONS: _, OPENCODE_CONFIG_CONTENT: __, ...inherited } = process.env;
  const path = `${join(root, 'bin')}:${process.env['PATH']}`;
  return { cwd: root, env: { ...inherited, PATH: path, HOME: join(root, 'home'), TMPDIR: join(root, 'tmp') } };
}

function run({ cwd, env }: Project, ...args: readonly string[]) {
  const ran = spawnSync(process.execPath, [cli, 'run', ...servers, ...args], {
    cwd,
    env,
    encoding: 'utf8',
    timeout: 25_000,
  });
  return { status: ran.status, stdout: ran.stdout, stderr: ran.stderr };
}

test('copies are there while a command runs, and are gone with everything made for them', () => {
  const there = project();
  const script = 'ls sub/skills; cat sub/skills/refunds/SKILL.md | head -2; exit 5';
  const ran = run(there, '--how', 'export', '--at', 'sub/skills', '--', 'sh', '-c', script);
  expect(ran).toEqual({
    status: 5,
    stdout: [...names, 'skillfs.lock.json', '---', 'name: refunds', ''].join('\n'),
    stderr: '',
  });
  expect(existsSync(join(there.cwd, 'sub'))).toBe(false);
});

test('what the command, or the user, has put there stays', () => {
  const there = project();
  const script = 'echo mine > at/mine.md; chmod u+w at/refunds/SKILL.md; echo changed > at/refunds/SKILL.md';
  expect(run(there, '--how', 'export', '--at', 'at', '--', 'sh', '-c', script).status).toBe(0);
  expect(readdirSync(join(there.cwd, 'at'), { recursive: true }).sort()).toEqual([
    'mine.md',
    'refunds',
    'refunds/SKILL.md',
  ]);
});

test('a directory that has something in it is not taken', () => {
  const there = project({ 'at/own/SKILL.md': skillMd('own') });
  for (const how of ['export', 'mount']) {
    const { status, stdout, stderr } = run(there, '--how', how, '--at', 'at', '--', 'sh', '-c', 'echo ran');
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain('there is something in at already, which would be hidden');
  }
  expect(readdirSync(join(there.cwd, 'at'))).toEqual(['own']);
});

test('SEC-5: an agent has the skills in the first of its directories that is free; local ones keep their names', () => {
  const there = project({
    '.agents/skills/refunds/SKILL.md': skillMd('refunds', 'local'),
    'home/.codex/skills/invoices/SKILL.md': skillMd('invoices', 'of the user'),
  });
  const { stdout, status } = run(
    there,
    '--for',
    'codex',
    '--how',
    'export',
    '--',
    'ls',
    '.codex/skills',
    '.agents/skills',
  );
  expect(status).toBe(0);
  const served = names.filter((name) => name !== 'refunds' && name !== 'invoices');
  expect(stdout).toBe(
    ['.agents/skills:', 'refunds', '', '.codex/skills:', ...served, 'skillfs.lock.json', ''].join('\n'),
  );
  expect(existsSync(join(there.cwd, '.codex'))).toBe(false);
});

test('an agent that can be told of a directory is, and nothing of the project changes', () => {
  const there = project({
    'bin/claude': '#!/bin/sh\necho "$@"; ls "${1#--add-dir=}/.claude/skills"; find .\n',
    'bin/opencode': '#!/bin/sh\necho "$OPENCODE_CONFIG_CONTENT"\n',
  });
  const claude = run(there, '--how', 'export', '--', 'claude', '-p', 'hello');
  const [args, ...rest] = claude.stdout.split('\n');
  expect(args).toMatch(/^--add-dir=.*\/skillfs-run-\w+ -p hello$/);
  expect(rest.slice(0, 8)).toEqual(names);
  expect(rest).not.toContain('./.claude');
  const opencode = run(there, '--how', 'export', '--', 'opencode', 'debug');
  expect(JSON.parse(opencode.stdout)).toEqual({ skills: { paths: [expect.stringMatching(/\/skillfs-run-\w+$/)] } });
  expect(readdirSync(join(there.cwd, 'tmp'))).toEqual([]);
});

test('Node.js programs are patched: by their first line, and agents that are known as such', () => {
  const list = 'console.log(require("fs").readdirSync(process.argv[2] ?? ".agents/skills").join())';
  const there = project({
    'bin/agent': `#!/usr/bin/env node\n${list}\n`,
    'bin/shim': '#!/bin/sh\nbasedir=$(dirname "$0")\nexec node  "$basedir/agent" "$@"\n',
    'bin/gemini': `#!/usr/bin/env node\n${list}\n`,
  });
  for (const program of ['agent', 'shim', './bin/agent']) {
    expect(run(there, '--', program)).toEqual({ status: 0, stdout: `${names.join()}\n`, stderr: '' });
    expect(run(there, '--at', 'x', '--', program, 'x')).toEqual({ status: 0, stdout: `${names.join()}\n`, stderr: '' });
  }
  expect(run(there, '--', 'gemini', '.gemini/skills').stdout).toBe(`${names.join()}\n`);
  expect(readdirSync(there.cwd).sort()).toEqual(['bin', 'home', 'tmp']);
});

test('an agent that is not known, and a way that is none, are refused', () => {
  const there = project();
  expect(run(there, '--for', 'nobody', '--', 'true')).toMatchObject({
    status: 2,
    stderr: /--for nobody: expected claude, codex/,
  });
  expect(run(there, '--how', 'magic', '--', 'true').status).toBe(2);
});

/** Starts a command that says when it is ready. */
async function started(
  { cwd, env }: Project,
  script: string,
): Promise<{ child: ChildProcess; ended: Promise<unknown[]> }> {
  const args = [cli, 'run', ...servers, '--how', 'export', '--at', 'at', '--', 'sh', '-c', script];
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = once(child, 'exit');
  const [said] = await once(child.stdout as NodeJS.ReadableStream, 'data');
  expect(String(said)).toBe('ready\n');
  return { child, ended };
}

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  '%s is the command’s; its exit code is passed on, and all is cleared away',
  async (signal) => {
    const there = project();
    const script = `trap 'exit 3' ${signal.slice(3)}; test -f at/refunds/SKILL.md && echo ready; while :; do sleep 0.05; done`;
    const { child, ended } = await started(there, script);
    child.kill(signal);
    expect(await ended).toEqual([3, null]);
    expect(existsSync(join(there.cwd, 'at'))).toBe(false);
  },
);

test('a command that dies by a signal ends with 128 and its number, and all is cleared away', async () => {
  const there = project();
  const { ended } = await started(there, 'echo ready; kill -KILL $$');
  expect(await ended).toEqual([137, null]);
  expect(existsSync(join(there.cwd, 'at'))).toBe(false);
});

test('what a run that was killed has left is cleared away by the next', async () => {
  const there = project();
  const { child, ended } = await started(there, 'echo ready; sleep 1');
  child.kill('SIGKILL');
  await ended;
  expect(readdirSync(join(there.cwd, 'at'))).toContain('skillfs.lock.json');
  const second = run(there, '--how', 'export', '--at', 'at', '--', 'cat', 'at/invoices/SKILL.md');
  expect(second.stdout).toBe(readFileSync(join(fixtures, 'acme/billing/invoices/SKILL.md'), 'utf8'));
  expect(readdirSync(join(there.cwd, 'at'))).toEqual([]);
});

test('a signal before there is a command keeps it from being started', async () => {
  const there = project({
    'slow.mjs': 'setInterval(() => {}, 1000); process.stdin.resume(); process.stdin.on("end", () => process.exit());',
  });
  writeFileSync(join(there.cwd, 'slow.sh'), 'echo started > started; exec node slow.mjs');
  const slow = ['--server', 'slow=sh slow.sh', '--timeout', '1500'];
  const args = [cli, 'run', ...slow, '--how', 'export', '--at', 'at', '--', 'sh', '-c', 'echo ran > ran'];
  const child = spawn(process.execPath, args, { cwd: there.cwd, env: there.env, stdio: 'ignore' });
  const ended = once(child, 'exit');
  await expect.poll(() => existsSync(join(there.cwd, 'started'))).toBe(true);
  child.kill('SIGTERM');
  expect(await ended).toEqual([143, null]);
  expect(existsSync(join(there.cwd, 'ran'))).toBe(false);
  expect(existsSync(join(there.cwd, 'at'))).toBe(false);
});
