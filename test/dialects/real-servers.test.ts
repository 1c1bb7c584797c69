import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { mount } from '../../src/mount.ts';
import type { MountOptions } from '../../src/options.ts';

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const server = (shape: string) => ({
  command: process.execPath,
  args: [path('../support/resource-server.mjs'), shape],
});

function mounted(source: MountOptions['servers'][string], options: Partial<MountOptions> = {}) {
  const skills = mount({ servers: { s: source }, ...options });
  onTestFinished(() => skills.close());
  return skills;
}

test('DRAFT-1, DRAFT-2, DRAFT-3: a draft server on SDK 1.x, in its own process, by synchronous calls', () => {
  const { fs } = mounted(server('index-json'));
  expect(fs.readdirSync('/mcp/s')).toEqual(['acme', 'docs']);
  expect(fs.readdirSync('/mcp/s/acme/refunds', { recursive: true })).toEqual([
    'SKILL.md',
    'references',
    'references/policy.md',
  ]);
  expect(fs.statSync('/mcp/s/acme/refunds/references/policy.md').size).toBe(16);
  expect(fs.readFileSync('/mcp/s/acme/refunds/SKILL.md', 'utf8')).toContain('description: Pays back');
  expect(fs.readdirSync('/mcp/s/docs')).toEqual(['react', 'vue']);
  expect(fs.readFileSync('/mcp/s/docs/vue/SKILL.md', 'utf8')).toContain('How to use vue');
  expect(fs.existsSync('/mcp/s/docs/angular/SKILL.md')).toBe(false);
});

test('DRAFT-4: bare skill URIs on SDK 1.x, found on request only', async () => {
  const silent = mounted(server('bare'));
  expect((await silent.ready())[0]).toMatchObject({ state: 'ready', skills: 0 });
  const { fs } = mounted(server('bare'), { probe: true, resources: true });
  expect(fs.readdirSync('/mcp/s')).toEqual(['@resources', 'git-workflow', 'nimble']);
  expect(fs.readFileSync('/mcp/s/git-workflow/SKILL.md', 'utf8')).toContain('# git-workflow');
  expect(fs.readFileSync('/mcp/s/nimble/code-review/SKILL.md', 'utf8')).toContain('# code-review');
  expect(fs.readFileSync('/mcp/s/@resources/note/today', 'utf8')).toBe('Rain\n');
});

test('VER-5, DRAFT-2: the command line marks what an older server serves as unverified, and shows the dialect', () => {
  const source = `s=${process.execPath} ${path('../support/resource-server.mjs')} index-json`;
  const skillfs = (...args: string[]) => {
    const call = [path('../../dist/cli.js'), ...args, '--resources', '--server', source];
    return spawnSync(process.execPath, call, { encoding: 'utf8' });
  };
  expect(skillfs('doctor').stdout).toContain('dialect "index-json"');
  expect(skillfs('skills').stdout).toMatch(/^refunds {2}\(s, dynamic, unverified\)$/m);
  const tree = skillfs('tree', 's').stdout;
  expect(tree).toMatch(/SKILL\.md {2}\(dynamic, unverified\)$/m);
  expect(tree).toMatch(/@resources\/ {2}\(dynamic, unverified\)$/m);
  const verified = skillfs('verify', 's/acme', '--directories');
  expect(verified.stdout).toContain('0 files verified, 2 of dynamic skills read but not verifiable, 0 failed');
  expect(verified.status).toBe(0);
});

test('SRV-4: what `skillfs serve --draft` publishes is read by a host of the extension', async () => {
  const args = [path('../../dist/cli.js'), 'serve', '--draft', path('../../fixtures/skills')];
  const skills = mounted({ command: process.execPath, args, stderr: 'ignore' }, { resources: true });
  expect((await skills.ready())[0]).toMatchObject({ dialect: 'skills', refused: [] });
  const index = skills.fs.readFileSync('/mcp/s/@resources/skill/index.json', 'utf8');
  expect(JSON.parse(index).skills.length).toBe(skills.skills().length);
});
