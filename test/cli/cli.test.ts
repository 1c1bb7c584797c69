import { execFile, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

const cli = new URL('../../dist/cli.js', import.meta.url).pathname;
const fixtures = new URL('../../fixtures/skills', import.meta.url).pathname;
const faulty = new URL('../support/stdio-server.mjs', import.meta.url).pathname;
const dynamic = [
  '--server',
  `dyn='${process.execPath}' '${new URL('./dynamic-server.mjs', import.meta.url).pathname}'`,
];
const demo = ['--server', `demo='${process.execPath}' '${cli}' serve '${fixtures}'`];
const tampered = ['--server', `bad='${process.execPath}' '${cli}' demo-tampered '${fixtures}'`];

function skillfs(args: readonly string[], options: { cwd?: string; env?: NodeJS.ProcessEnv; timeout?: number } = {}) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...args], {
    encoding: 'utf8',
    timeout: 25_000,
    ...options,
  });
  return { status, stdout, stderr };
}

async function output(args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [cli, ...args]);
  return stdout;
}

test('ls lists names, ls -l sizes, ls -R everything below, ls --json for programs', () => {
  expect(skillfs(['ls', 'demo/acme', ...demo])).toEqual({ status: 0, stdout: 'billing/\nsecurity/\n', stderr: '' });
  const long = skillfs(['ls', '-l', '/mcp/demo/pdf-forms', ...demo]).stdout;
  expect(long).toMatch(/^-r--r--r--\s+\d+ {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}SKILL\.md$/m);
  expect(long).toMatch(/^dr-xr-xr-x .* assets\/$/m);
  expect(skillfs(['ls', '-R', 'demo/pdf-forms', ...demo]).stdout.split('\n')).toContain('assets/filled example.png');
  expect(JSON.parse(skillfs(['ls', '--json', 'demo/release-notes', ...demo]).stdout)).toMatchObject([
    { path: '/mcp/demo/release-notes/SKILL.md', kind: 'file', size: expect.any(Number) },
    { path: '/mcp/demo/release-notes/examples', kind: 'directory' },
  ]);
});

test('tree shows the tree and counts it', () => {
  const { status, stdout } = skillfs(['tree', 'demo', ...demo]);
  expect(status).toBe(0);
  expect(stdout).toContain('└── 日本語.md');
  expect(stdout).toMatch(/\n8 skills, \d+ directories, 22 files\n$/);
});

test('cat prints bytes as they are', () => {
  const { stdout } = spawnSync(process.execPath, [cli, 'cat', 'demo/pdf-forms/assets/filled example.png', ...demo]);
  expect(stdout.equals(readFileSync(`${fixtures}/pdf-forms/assets/filled example.png`))).toBe(true);
});

test('MAP-5, SEC-2: stat tells the origin', () => {
  const [known] = JSON.parse(
    skillfs(['stat', '--json', 'demo/acme/billing/refunds/references/policy.md', ...demo]).stdout,
  );
  expect(known).toMatchObject({
    kind: 'file',
    server: 'demo',
    uri: 'skill://acme/billing/refunds/references/policy.md',
    skill: 'skill://acme/billing/refunds/SKILL.md',
    content: 'verified',
  });
});

test('SEC-2: skills lists every skill with its origin', () => {
  const skills = JSON.parse(skillfs(['skills', '--json', ...demo]).stdout);
  expect(skills).toHaveLength(8);
  expect(skills).toContainEqual(
    expect.objectContaining({
      label: 'demo',
      name: 'refunds',
      path: '/mcp/demo/acme/billing/refunds',
      content: 'verified',
      files: 4,
    }),
  );
  expect(skillfs(['skills', ...demo]).stdout).toContain('refunds  (demo, 4 files, ');
});

test('VER-1, VER-2: verify reads everything, and fails for what is not as its manifest says', () => {
  expect(skillfs(['verify', ...demo])).toMatchObject({
    status: 0,
    stdout: '22 files verified, 0 failed, 0 entries refused\n',
  });
  const { status, stdout } = skillfs(['verify', 'bad', ...tampered]);
  expect(status).toBe(1);
  expect(stdout).toMatch(/^FAILED {2}\/mcp\/bad\/acme\/billing\/refunds\/references\/policy\.md {2}EIO \(digest\)$/m);
  expect(stdout).toContain('21 files verified, 1 failed');
  expect(JSON.parse(skillfs(['verify', '--json', 'bad/acme/billing/refunds', ...tampered]).stdout)).toMatchObject({
    verified: 3,
    failures: [{ code: 'EIO', reason: 'digest' }],
  });
});

test('NEG-1, SEC-2: doctor says what was negotiated, and what is wrong with a server', () => {
  const dead = ['--server', 'dead=/no/such/command --token x'];
  const { status, stdout } = skillfs(['doctor', ...demo, ...dead]);
  expect(status).toBe(1);
  expect(stdout).toMatch(/demo: ready\n.*skillfs 0\.1\.0\n.*2026-07-28\n.*dialect "skills", directory reads declared/);
  expect(stdout).toMatch(/dead: failed\n.*error.*\/no\/such\/command/);
  expect(stdout).toMatch(/dead: failed\n.*\n\s+try\s+\S/);
  expect(JSON.parse(skillfs(['doctor', '--json', ...demo]).stdout)).toMatchObject({
    servers: [{ label: 'demo', state: 'ready', dialect: 'skills', refused: [] }],
  });
});

test('servers are found in the working directory, and problems with one go to standard error', () => {
  const cwd = mkdtempSync(join(tmpdir(), 'skillfs-cli-'));
  const servers = {
    found: { command: process.execPath, args: [cli, 'serve', '${SKILLS}'] },
    broken: { command: '${NOPE}' },
  };
  writeFileSync(join(cwd, '.mcp.json'), JSON.stringify({ mcpServers: servers }));
  const { status, stdout, stderr } = skillfs(['ls', 'found'], { cwd, env: { ...process.env, SKILLS: fixtures } });
  expect({ status, stdout }).toEqual({
    status: 0,
    stdout: 'acme/\ndb-migrations/\ni18n-review/\npdf-forms/\nrelease-notes/\n',
  });
  expect(stderr).toMatch(/^skillfs: \.mcp\.json: server "broken": command: the variable NOPE is not set/);
});

test('a label in two files costs a line on standard error and nothing else; a disabled server is told of when asked', () => {
  const cwd = mkdtempSync(join(tmpdir(), 'skillfs-cli-'));
  const mcpServers = { a: { command: process.execPath, args: [cli, 'serve', fixtures] } };
  writeFileSync(join(cwd, '.mcp.json'), JSON.stringify({ mcpServers: { ...mcpServers, off: { disabled: true } } }));
  mkdirSync(join(cwd, '.cursor'));
  writeFileSync(join(cwd, '.cursor/mcp.json'), JSON.stringify({ mcpServers }));
  const { status, stdout, stderr } = skillfs(['verify'], { cwd });
  expect({ status, stdout }).toEqual({ status: 0, stdout: '22 files verified, 0 failed, 0 entries refused\n' });
  expect(stderr).toMatch(/^skillfs: \.cursor\/mcp\.json: the server "a" is in an earlier file too[^\n]*\n$/);
  expect(skillfs(['ls', '--verbose'], { cwd }).stderr).toContain('server "off": is disabled there');
});

test('VER-5: dynamic skills are marked as unverified, and can be denied', () => {
  expect(skillfs(['tree', 'dyn', ...dynamic]).stdout).toMatch(/SKILL\.md {2}\(dynamic, unverified\)$/m);
  expect(skillfs(['skills', ...dynamic]).stdout).toContain('dyn  (dyn, dynamic, unverified)');
  expect(skillfs(['stat', 'dyn/dyn/SKILL.md', ...dynamic]).stdout).toMatch(/^content +dynamic$/m);
  expect(skillfs(['verify', 'dyn/dyn/SKILL.md', ...dynamic])).toMatchObject({
    status: 0,
    stdout: '0 files verified, 1 of dynamic skills read but not verifiable, 0 failed, 0 entries refused\n',
  });
  const denied = skillfs(['verify', '--dynamic', 'deny', ...dynamic]);
  expect(denied.status).toBe(1);
  expect(denied.stdout).toMatch(/^REFUSED dyn {2}skill:\/\/dyn\/SKILL\.md {2}dynamic-denied$/m);
});

test('SEC-1: nothing a server says is obeyed by a terminal, or passes for a line of ours', () => {
  const said = [
    ['ls', '-R'],
    ['tree'],
    ['skills'],
    ['skills', '--json'],
    ['doctor'],
    ['verify'],
    ['verify', '--json'],
    ['cat', 'dyn/dyn/bad.md'],
    ['tree', 'dyn/dyn/bad.md', '--verbose'],
  ].map((args) => skillfs([...args, ...dynamic]));
  for (const { stdout, stderr } of said) {
    expect(stdout + stderr).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u);
    expect(stdout + stderr).not.toMatch(/^(skillfs: )*all files verified/m);
  }
  expect(said[0]?.stdout).toContain('dyn/\\x1b[31m.md');
  expect(JSON.parse(said[3]?.stdout ?? '')).toMatchObject([{ description: 'About\u001b[31m\u009b2J\u202e' }]);
});

test('exit codes: 2 for a wrong call, 1 for a failure; errors name path, server and reason, without a stack', () => {
  const cwd = mkdtempSync(join(tmpdir(), 'skillfs-cli-'));
  expect(skillfs(['ls'], { cwd })).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(/^skillfs: no servers: /),
  });
  expect(skillfs(['frobnicate'])).toMatchObject({ status: 2 });
  expect(skillfs(['serve', fixtures, '--host', '0.0.0.0', '--http'])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('loopback'),
  });
  expect(skillfs(['serve', '/no/such/directory'])).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/ENOENT/),
  });
  expect(skillfs(['--help'])).toMatchObject({ status: 0, stdout: expect.stringContaining('Exit codes') });
  expect(skillfs(['ls', '--timeout', 'soon', ...demo])).toMatchObject({ status: 2 });
  expect(skillfs(['ls', '--mount-point', 'mcp', ...demo])).toMatchObject({ status: 2 });
  expect(skillfs(['verify', '--help']).stdout).toContain('Exit codes');
  expect(skillfs(['stat', 'demo/none', ...demo])).toMatchObject({ status: 1, stdout: '' });
  const missing = skillfs(['cat', 'demo/release-notes/none.md', ...demo]);
  expect(missing).toMatchObject({ status: 1, stdout: '' });
  expect(missing.stderr).toContain("ENOENT: no such file or directory, open '/mcp/demo/release-notes/none.md'");
  expect(missing.stderr).not.toMatch(/^\s+at /m);
});

test('one server that is down does not hide another', () => {
  const { status, stdout, stderr } = skillfs(['tree', ...demo, '--server', 'dead=/no/such/command']);
  expect(status).toBe(1);
  expect(stdout).toMatch(/dead\/\n.*\(EHOSTUNREACH\)/);
  expect(stdout).toContain('release-notes/');
  expect(stderr).toMatch(/server "dead"/);
});

test('a server that hangs ends at the timeout', () => {
  const hanging = ['--server', `slow='${process.execPath}' '${faulty}' '{"hangOnRead":true}'`, '--timeout', '1500'];
  const { status, stderr } = skillfs(['cat', 'slow/faulty/x.md', ...hanging]);
  expect(status).toBe(1);
  expect(stderr).toMatch(/ETIMEDOUT: server "slow".*1500 ms/);
});

test('a reader that has seen enough ends the program quietly', async () => {
  const child = spawn('sh', [
    '-c',
    `'${process.execPath}' '${cli}' ls -R demo ${demo.map((word) => `"${word}"`).join(' ')} | head -1`,
  ]);
  onTestFinished(() => void child.kill());
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => (stdout += chunk));
  child.stderr.on('data', (chunk) => (stderr += chunk));
  await new Promise((resolve) => child.once('close', resolve));
  expect({ stdout, stderr }).toEqual({ stdout: 'acme/\n', stderr: '' });
});

test('serve over standard input and output ends with its input', () => {
  expect(skillfs(['serve', fixtures])).toEqual({
    status: 0,
    stdout: '',
    stderr: `skillfs: serving 8 skills of ${fixtures}\n`,
  });
});

test('serve says where it is, answers there, keeps standard output for the protocol, and ends when it is told', async () => {
  const child = spawn(process.execPath, [cli, 'serve', fixtures, '--http'], { stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  child.stdout.on('data', (chunk) => (stdout += chunk));
  const said = await new Promise<string>((resolve) => child.stderr.once('data', (chunk) => resolve(String(chunk))));
  expect(said).toMatch(/^skillfs: serving 8 skills of .* at http:\/\/127\.0\.0\.1:\d+\/mcp\n$/);
  const url = said.slice(said.indexOf('http')).trim();
  const http = ['--server', `web=${url}`, '--header', 'web:X-Trace=1'];
  expect(await output(['cat', 'web/release-notes/SKILL.md', ...http])).toBe(
    readFileSync(`${fixtures}/release-notes/SKILL.md`, 'utf8'),
  );
  expect(await output(['verify', ...http])).toBe('22 files verified, 0 failed, 0 entries refused\n');
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
  expect(stdout).toBe('');
});

test('VER-2: the demonstration runs to its end', () => {
  const { status, stdout, stderr } = skillfs(['demo']);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toMatch(/EROFS/);
  expect(stdout).toMatch(/EIO: server "mallory": .*policy\.md has digest/);
});

test('doctor tells forty servers that work from ten that never answer and ten that die', () => {
  const kinds = {
    good: [40, [faulty, '{}']],
    silent: [10, ['--eval', 'process.stdin.resume()']],
    dead: [10, [faulty, '{"exitAtOnce":true}']],
  } as const;
  const mcpServers = Object.fromEntries(
    Object.entries(kinds).flatMap(([kind, [count, args]]) =>
      Array.from({ length: count }, (_, n) => [`${kind}-${n}`, { command: process.execPath, args }]),
    ),
  );
  const config = join(mkdtempSync(join(tmpdir(), 'skillfs-many-')), 'mcp.json');
  writeFileSync(config, JSON.stringify({ mcpServers }));
  const { status, stdout } = skillfs(['doctor', '--json', '--config', config, '--timeout', '20000'], {
    timeout: 60_000,
  });
  expect(status).toBe(1);
  const { servers } = JSON.parse(stdout) as {
    servers: { label: string; skills: number; lastError?: { code: string } }[];
  };
  const told = servers.map(({ label, skills, lastError }) => `${label.split('-')[0]} ${skills} ${lastError?.code}`);
  expect(
    Object.fromEntries([...new Set(told)].map((kind) => [kind, told.filter((one) => one === kind).length])),
  ).toEqual({
    'good 1 undefined': 40,
    'silent 0 ETIMEDOUT': 10,
    'dead 0 EHOSTUNREACH': 10,
  });
}, 90_000);
