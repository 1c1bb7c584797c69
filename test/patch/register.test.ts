import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { directory, skillMd } from '../views/views.ts';

const dist = (file: string) => new URL(`../../dist/${file}`, import.meta.url);
const cli = fileURLToPath(dist('cli.js'));
const fixtures = fileURLToPath(new URL('../../fixtures/skills', import.meta.url));
const live = { command: process.execPath, args: [cli, 'serve', fixtures] };
const names = [
  'db-migrations',
  'i18n-review',
  'incident-response',
  'invoices',
  'pdf-forms',
  'postmortem',
  'refunds',
  'release-notes',
];

interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program of a project's own, with Node's own flags. */
function run(cwd: string, flags: readonly string[], env: Record<string, string> = {}): Ran {
  const { NODE_OPTIONS: _, SKILLFS_CONFIG: __, ...inherited } = process.env;
  return spawnSync(process.execPath, flags, { cwd, encoding: 'utf8', env: { ...inherited, ...env }, timeout: 60_000 });
}

function project(files: Record<string, string>): string {
  return directory({ '.agents/skills/greet/SKILL.md': skillMd('greet'), ...files });
}

/** What loaders do, each in its own way of getting at the functions. */
const AGENTS = {
  'ESM, named imports': [
    'agent.mjs',
    `import { readdirSync, readFileSync } from 'node:fs';
     import { readFile } from 'fs/promises';
     const root = '.agents/skills';
     const found = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map(({ name }) => name);
     for (const name of found) if (readFileSync(root + '/' + name + '/SKILL.md', 'utf8') !== await readFile(root + '/' + name + '/SKILL.md', 'utf8')) throw name;
     console.log(JSON.stringify(found));`,
  ],
  'CommonJS, destructured': [
    'agent.cjs',
    `const { readdir, readFile } = require('fs');
     readdir('.agents/skills', (error, found) => {
       let left = found.length;
       for (const name of found) readFile('.agents/skills/' + name + '/SKILL.md', (error) => {
         if (error) throw error;
         if (--left === 0) console.log(JSON.stringify(found));
       });
     });`,
  ],
} as const;

for (const [how, [file, source]] of Object.entries(AGENTS)) {
  const flags = { '--import': dist('register.js').href, '--require': fileURLToPath(dist('register.cjs')) };
  test.each(Object.entries(flags))(`${how}: %s is all an agent needs`, (flag, preload) => {
    const cwd = project({
      '.mcp.json': JSON.stringify({ mcpServers: { acme: live, dead: { command: 'false' } } }),
      [file]: source,
    });
    const { stdout, stderr, status } = run(cwd, [flag, preload, file]);
    expect(JSON.parse(stdout)).toEqual([...names, 'greet'].sort());
    expect(stderr).toBe(
      'skillfs: dead: server "dead": not reachable (connecting: Connection closed) (SKILLFS_VERBOSE=1 shows what servers say)\n',
    );
    expect(status).toBe(0);
  });
}

test('SKILLFS_CONFIG says what is mounted where, and which directories show what', () => {
  const cwd = project({
    'conf/my.json': JSON.stringify({
      mcpServers: { acme: { ...live, args: [cli, 'serve', '${workspaceFolder}/../own'] } },
      mountPoint: '/virtual/mcp',
      overlays: { '../.agents/skills': 'flat', './tree': 'tree' },
    }),
    'own/team/sum/SKILL.md': skillMd('sum'),
  });
  const script = `const fs = require('fs');
    console.log(JSON.stringify([fs.readdirSync('/virtual/mcp/acme/team'), fs.readdirSync('.agents/skills'), fs.readdirSync('conf/tree/acme/team/sum'), fs.readdirSync('/virtual'), fs.existsSync('/mcp')]))`;
  const { stdout } = run(cwd, ['--import', dist('register.js').href, '-e', script], { SKILLFS_CONFIG: 'conf/my.json' });
  expect(JSON.parse(stdout)).toEqual([['sum'], ['greet', 'sum'], ['SKILL.md'], ['mcp'], false]);
});

test('skillfs.json comes before the files of MCP hosts; JSON in the variable is taken as it is', () => {
  const cwd = project({
    'skillfs.json': JSON.stringify({ servers: { own: live }, overlays: {} }),
    '.mcp.json': JSON.stringify({ mcpServers: { other: live } }),
  });
  const script = `console.log(require('fs').readdirSync('/mcp').join())`;
  const preload = ['--import', dist('register.js').href, '-e', script];
  expect(run(cwd, preload).stdout).toBe('own\n');
  expect(run(cwd, preload, { SKILLFS_CONFIG: JSON.stringify({ servers: { 'a${HOME}': live } }) }).stdout).toBe(
    'a${HOME}\n',
  );
});

test('a configuration that cannot be used is told of, and the program runs all the same', () => {
  const cwd = project({
    'skillfs.json':
      '{ "servers": { "bad": {}, "acme": { "command": "false" } }, "deadlines": { "connect": "soon" }, "overlay": {} }',
    'broken.json': '{ "servers": ',
  });
  const script = `console.log(require('fs').readdirSync('.agents/skills').join())`;
  const preload = ['--import', dist('register.js').href, '-e', script];
  const used = run(cwd, preload);
  expect(used.stdout).toBe('greet\n');
  expect(used.stderr).toContain('server "bad": servers["bad"]: has neither a command nor a url');
  expect(used.stderr).toContain('skillfs.json: deadlines.connect: ');
  expect(used.stderr).toContain('skillfs.json: overlay: is no setting');
  const broken = run(cwd, preload, { SKILLFS_CONFIG: 'broken.json' });
  expect([broken.stdout, broken.status]).toEqual(['greet\n', 0]);
  expect(broken.stderr).toContain('broken.json:1: not JSON');
  const missing = run(cwd, preload, { SKILLFS_CONFIG: 'none.json' });
  expect([missing.stdout, missing.status]).toEqual(['greet\n', 0]);
  expect(missing.stderr).toContain('SKILLFS_CONFIG (none.json): cannot be read');
  expect(run(directory({}), ['--import', dist('register.js').href, '-e', '']).stderr).toContain(
    'no servers: set SKILLFS_CONFIG',
  );
});

test('workers and forked processes see the same', () => {
  const cwd = project({
    '.mcp.json': JSON.stringify({ mcpServers: { acme: live } }),
    'child.mjs': `import { readdirSync } from 'node:fs'; console.log(readdirSync('/mcp/acme').length, readdirSync('.agents/skills').length);`,
    'main.mjs': `import { fork } from 'node:child_process'; import { Worker } from 'node:worker_threads';
      new Worker(new URL('./child.mjs', import.meta.url)).on('exit', () => fork('child.mjs'));`,
  });
  expect(run(cwd, ['--import', dist('register.js').href, 'main.mjs']).stdout).toBe('5 9\n5 9\n');
});

test('a program that is not reached is told of, with the ways out', () => {
  const cwd = project({ '.mcp.json': JSON.stringify({ mcpServers: { acme: live } }) });
  const script = `const { execFileSync, spawn } = require('child_process');
    require('fs').readdirSync('/mcp/acme');
    try { execFileSync('cat', ['/mcp/acme/acme/billing/refunds/SKILL.md'], { stdio: 'ignore' }) } catch {}
    spawn('sh', ['-c', 'ls /mcp/acme/acme >/dev/null 2>&1']);
    spawn('ls', ['/']);`;
  const { stderr } = run(cwd, ['--import', dist('register.js').href, '-e', script]);
  const lines = stderr.trim().split('\n');
  expect(lines).toHaveLength(2);
  expect(lines[0]).toContain(
    'cat was started with /mcp/acme/acme/billing/refunds/SKILL.md, which is there in this process alone',
  );
  expect(lines[1]).toContain('sh was started with /mcp/acme/acme');
});

test('SEC-3: a program sees nothing in a skill that grants or runs anything, unless the user granted it for that skill', () => {
  const asking = '---\nname: deploy\ndescription: Ships\nallowed-tools: Bash(*)\nhooks: {Stop: evil}\n---\n!`evil`\n';
  const servers = { acme: { ...live, args: [cli, 'serve', 'own'] } };
  const cwd = project({
    'own/deploy/SKILL.md': asking,
    '.mcp.json': JSON.stringify({ mcpServers: servers }),
    'granted.json': JSON.stringify({ servers, policy: { grants: { acme: ['skill://deploy/SKILL.md'] } } }),
    'denied.json': JSON.stringify({ servers, policy: { skills: { acme: { 'skill://deploy/SKILL.md': 'deny' } } } }),
    'unusable.json': JSON.stringify({ servers, policy: { skills: { acme: { 'skill://deploy': 'deny' } } } }),
    'agent.mjs': `import { readdirSync, readFileSync } from 'node:fs';
      const text = readFileSync('.agents/skills/deploy/SKILL.md', 'utf8');
      console.log(JSON.stringify([readdirSync('.agents/skills').join(), text, text === readFileSync('/mcp/acme/deploy/SKILL.md', 'utf8')]));`,
  });
  const agent = (env = {}) => run(cwd, ['--import', dist('register.js').href, 'agent.mjs'], env);
  const [names, text, same] = JSON.parse(agent().stdout);
  expect({ names, same }).toEqual({ names: 'deploy,greet', same: true });
  expect(text).toHaveLength(asking.length);
  expect(text).not.toMatch(/^(allowed-tools|hooks)|!`/m);
  expect(JSON.parse(agent({ SKILLFS_CONFIG: 'granted.json' }).stdout)[1]).toBe(asking);
  for (const SKILLFS_CONFIG of ['denied.json', 'unusable.json']) {
    expect(agent({ SKILLFS_CONFIG })).toMatchObject({ status: 1, stderr: expect.stringMatching(/EACCES|ENOENT/) });
  }
  expect(agent({ SKILLFS_CONFIG: 'unusable.json' }).stderr).toContain(
    'skills of servers are not shown: unusable.json: policy',
  );
  const state = join(cwd, 'state');
  const decided = { XDG_STATE_HOME: state };
  expect(run(cwd, [cli, 'disable', 'acme/deploy'], decided).status).toBe(0);
  expect(agent(decided).stderr).toContain('EACCES');
});

test('nothing of a mounted skill can be run or loaded', () => {
  const cwd = project({
    'own/evil/SKILL.md': skillMd('evil'),
    'own/evil/code.cjs': 'console.log("ran")',
    '.mcp.json': JSON.stringify({ mcpServers: { acme: { ...live, args: [cli, 'serve', 'own'] } } }),
  });
  const script = `require('fs').readFileSync('/mcp/acme/evil/code.cjs');
    for (const path of ['/mcp/acme/evil/code.cjs', process.cwd() + '/.agents/skills/evil/code.cjs'])
      try { require(path) } catch (error) { console.log(error.code) }
    import('/mcp/acme/evil/code.cjs').catch((error) => console.log(error.code));`;
  expect(run(cwd, ['--import', dist('register.js').href, '-e', script]).stdout).toBe(
    'MODULE_NOT_FOUND\nMODULE_NOT_FOUND\nERR_MODULE_NOT_FOUND\n',
  );
});

test('skillfs run sets a command up, and passes on its exit code', () => {
  const cwd = project({ 'agent.mjs': AGENTS['ESM, named imports'][1] });
  mkdirSync(join(cwd, 'other'));
  writeFileSync(join(cwd, 'fail.mjs'), 'process.exit(7)');
  const server = `acme=${process.execPath} ${cli} serve ${fixtures}`;
  const ran = run(cwd, [cli, 'run', '--server', server, '--', 'node', 'agent.mjs']);
  expect(JSON.parse(ran.stdout)).toEqual([...names, 'greet'].sort());
  const elsewhere = run(cwd, [
    cli,
    'run',
    '--server',
    server,
    '--overlay',
    'other',
    '--',
    'sh',
    '-c',
    `exec node -p "fs.readdirSync('other').length"`,
  ]);
  expect(elsewhere.stdout).toBe('8\n');
  expect(run(cwd, [cli, 'run', '--server', server, '--', 'node', 'fail.mjs']).status).toBe(7);
  expect(run(cwd, [cli, 'run', '--', 'node', 'agent.mjs'])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('no servers'),
  });
  expect(run(cwd, [cli, 'run', '--server', server, '--', 'no-such-program'])).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('cannot be run'),
  });
});

test('every option of mount() that is plain data is a setting', async () => {
  const { resolveOptions } = await import('../../src/options.ts');
  const { MOUNT_KEYS } = await import('../../src/config/settings.ts');
  const notData = ['servers', 'thread', 'worker'];
  const options = Object.keys(resolveOptions({ servers: {} })).filter((key) => !notData.includes(key));
  expect([...MOUNT_KEYS].sort()).toEqual(options.sort());
});

test('a directory that is not on the disk yet is there, and what a loader does first finds it', () => {
  const cwd = directory({ '.mcp.json': JSON.stringify({ mcpServers: { acme: live } }) });
  const script = `const fs = require('fs'), d = '.agents/skills';
    console.log(JSON.stringify([fs.existsSync(d), fs.statSync(d).isDirectory(), fs.realpathSync(d) === process.cwd() + '/' + d, fs.readdirSync(d).length]));
    fs.accessSync(d);
    fs.mkdirSync(d, { recursive: true });
    fs.mkdirSync(d + '/refunds', { recursive: true });
    try { fs.mkdirSync(d + '/refunds') } catch (error) { console.log(error.code) }
    try { fs.mkdirSync(d + '/refunds/new') } catch (error) { console.log(error.code) }`;
  const { stdout, stderr } = run(cwd, ['--import', dist('register.js').href, '-e', script]);
  expect([stdout, stderr]).toEqual(['[true,true,true,8]\nEEXIST\nEROFS\n', '']);
});

test('watching a directory that shows skills of servers tells of local changes, and ends', () => {
  const cwd = project({ '.mcp.json': JSON.stringify({ mcpServers: { acme: live } }) });
  const script = `const fs = require('fs');
    const seen = new Set();
    const watcher = fs.watch('.agents/skills', { recursive: true }, (event, name) => {
      seen.add(name);
      if (name === 'own/deep/SKILL.md') { console.log('told'); watcher.close(); }
    });
    fs.mkdirSync('.agents/skills/own/deep', { recursive: true });
    setTimeout(() => fs.writeFileSync('.agents/skills/own/deep/SKILL.md', 'x'), 300);`;
  expect(run(cwd, ['--import', dist('register.js').href, '-e', script])).toMatchObject({ stdout: 'told\n', status: 0 });
});

test('a mount point that would hide files of the disk is refused, and the program runs', () => {
  const cwd = project({ 'skillfs.json': JSON.stringify({ servers: { acme: live }, mountPoint: '/etc' }) });
  const script = `console.log(require('fs').existsSync('/etc/passwd'))`;
  const { stdout, stderr } = run(cwd, ['--import', dist('register.js').href, '-e', script]);
  expect(stdout).toBe('true\n');
  expect(stderr).toContain('mountPoint: /etc is on the disk, and would be hidden');
});

test('settings without servers take those of MCP hosts; one that would keep something out and is wrong keeps it out', () => {
  const cwd = project({
    'skillfs.json': JSON.stringify({ overlays: { other: 'flat' }, dynamic: 'denied' }),
    '.mcp.json': JSON.stringify({ mcpServers: { acme: live } }),
  });
  const script = `console.log(require('fs').readdirSync('other').length)`;
  const { stdout, stderr } = run(cwd, ['--import', dist('register.js').href, '-e', script]);
  expect(stdout).toBe('8\n');
  expect(stderr).toMatch(/skillfs\.json: dynamic: .*; "deny" applies/);
});

test('a server’s skill of a local one’s name is left out of overlays, and said so', () => {
  const cwd = project({
    '.agents/skills/refunds/SKILL.md': skillMd('refunds', 'mine'),
    '.mcp.json': JSON.stringify({ mcpServers: { acme: live } }),
  });
  const script = `console.log(require('fs').readdirSync('.agents/skills').filter((name) => name.startsWith('refunds')).join())`;
  const { stdout, stderr } = run(cwd, ['--import', dist('register.js').href, '-e', script]);
  expect(stdout).toBe('refunds\n');
  expect(stderr).toContain(
    'the name "refunds" belongs to a local skill; skill://acme/billing/refunds/SKILL.md of server "acme" is left out',
  );
});

test('loaded twice, it shows everything once; to another copy of the package, nothing of that is local', () => {
  const cwd = project({
    '.mcp.json': JSON.stringify({ mcpServers: { acme: live } }),
    'twice.cjs': `console.log(require('fs').readdirSync('.agents/skills').join())`,
    'copy.cjs': `const { mount, flat, union } = require(${JSON.stringify(fileURLToPath(dist('index.cjs')))});
      require('fs').readdirSync('.agents/skills');
      const mounted = mount({ servers: { other: ${JSON.stringify(live)} } });
      const view = union([{ path: '.agents/skills' }, flat(mounted)]);
      console.log(view.fs.readdirSync('/skills').join(), view.originOf('/skills/refunds').label);
      mounted.close();`,
  });
  const all = [...names, 'greet'].sort().join();
  const flags = ['--require', fileURLToPath(dist('register.cjs')), '--import', dist('register.js').href];
  expect(run(cwd, [...flags, 'twice.cjs'])).toMatchObject({ stdout: `${all}\n`, stderr: '' });
  expect(run(cwd, [...flags.slice(2), 'copy.cjs'])).toMatchObject({ stdout: `${all} other\n` });
});
