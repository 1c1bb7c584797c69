import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { contentsOf, skillMd, temporaryDirectory } from './support.ts';

const cli = new URL('../../dist/cli.js', import.meta.url).pathname;
const fixtures = new URL('../../fixtures/skills', import.meta.url).pathname;

function serving(directory: string, command = 'serve'): readonly string[] {
  return ['--server', `s='${process.execPath}' '${cli}' ${command} '${directory}'`, '--no-cache'];
}

function skillfs(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...args], { encoding: 'utf8', timeout: 25_000 });
  return { status, stdout, stderr };
}

test('export copies what a server has, and --check finds the copy intact', () => {
  const dir = join(temporaryDirectory(), 'copy');
  // What one of them asks for would be masked in the copy, too.
  const exported = skillfs('export', dir, '--grant', 's/acme/billing/refunds', ...serving(fixtures));
  expect(exported).toEqual({
    status: 0,
    stdout: `${dir}: 22 files written, 0 unchanged, 0 removed, 0 kept, 0 refused\n`,
    stderr: '',
  });
  expect(spawnSync('diff', ['-r', fixtures, join(dir, 's')], { encoding: 'utf8' }).stdout).toBe('');
  const checked = skillfs('export', '--check', dir);
  expect(checked).toEqual({
    status: 0,
    stdout: `${dir}: 22 files intact, 0 changed, 0 missing, 0 extra\n`,
    stderr: '',
  });
});

test('VER-2: a tampered server costs that skill, exit code 1, and nothing else', () => {
  const dir = temporaryDirectory();
  const { status, stdout } = skillfs('export', dir, ...serving(fixtures, 'demo-tampered'));
  expect(status).toBe(1);
  expect(stdout).toMatch(/^REFUSED s {2}skill:\/\/acme\/billing\/refunds\/SKILL\.md\n {8}EIO: .*policy\.md has digest/);
  expect(stdout).toContain('18 files written');
  expect(existsSync(join(dir, 's/acme/billing/refunds'))).toBe(false);
});

test('--check tells what is changed, missing and extra, and fails', () => {
  const dir = temporaryDirectory();
  skillfs('export', dir, '--flat', ...serving(fixtures));
  const refunds = join(dir, 'refunds');
  expect(skillfs('export', '--check', '--json', dir).status).toBe(0);
  spawnSync('rm', ['-f', join(refunds, 'references/policy.md')]);
  spawnSync('sh', ['-c', 'rm -f "$0"; echo x > "$0"; echo y > "$0.new"', join(refunds, 'SKILL.md')]);
  const { status, stdout } = skillfs('export', '--check', dir);
  expect(status).toBe(1);
  expect(stdout.split('\n').slice(0, 3)).toEqual([
    'CHANGED refunds/SKILL.md',
    'MISSING refunds/references/policy.md',
    'EXTRA   refunds/SKILL.md.new',
  ]);
});

test('calls that cannot be carried out: a directory of skills, and one without a lock', () => {
  const above = temporaryDirectory();
  const refused = skillfs('export', join(above, '.claude/skills'), ...serving(fixtures));
  expect(refused).toMatchObject({ status: 2, stdout: '' });
  expect(refused.stderr).toMatch(/agents look for skills in ".claude".*--yes/);
  expect(readdirSync(above)).toEqual([]);
  expect(skillfs('export', join(above, '.claude/skills'), '--yes', ...serving(fixtures)).status).toBe(0);
  expect(skillfs('export', '--check', above)).toMatchObject({ status: 1, stderr: /no skillfs\.lock\.json/ });
});

test('a copy that is killed at any moment holds whole files only, and the next one finishes it', async () => {
  const above = temporaryDirectory();
  const [published, dir] = [join(above, 'published'), join(above, 'copy')];
  const text = (version: number, n: number) => `version ${version}, ${n}\n`.repeat(500 + n);
  const publish = (version: number) => {
    for (let skill = 0; skill < 8; skill++) {
      mkdirSync(join(published, `s${skill}`), { recursive: true });
      writeFileSync(join(published, `s${skill}/SKILL.md`), skillMd(`s${skill}`, text(version, 0)));
      for (let n = 0; n < 20; n++) writeFileSync(join(published, `s${skill}/${n}.md`), text(version, n));
    }
  };
  let killed = 0;
  for (const version of [1, 2, 3]) {
    publish(version);
    for (const files of [1, 30, 100]) killed += await killAfter(files);
    const whole = new Set([1, 2, 3].flatMap((one) => Array.from({ length: 20 }, (_, n) => text(one, n))));
    for (const [path, content] of Object.entries(contentsOf(dir))) {
      if (path.startsWith('.skillfs-export/')) continue;
      if (!path.endsWith('SKILL.md')) expect(whole.has(content), path).toBe(true);
    }
  }
  expect(killed).toBeGreaterThan(0);
  expect(skillfs('export', dir, ...serving(published))).toMatchObject({ status: 0, stdout: /, 0 kept, 0 refused\n$/ });
  expect(spawnSync('diff', ['-r', published, join(dir, 's')], { encoding: 'utf8' }).stdout).toBe('');
  expect(readdirSync(dir).sort()).toEqual(['s', 'skillfs.lock.json']);
  expect(skillfs('export', '--check', dir).status).toBe(0);

  /** Ends a copy without a word when its journal tells of so many files. @returns how many were killed */
  async function killAfter(files: number): Promise<number> {
    const journal = join(dir, '.skillfs-export/journal');
    const lines = () => (existsSync(journal) ? readFileSync(journal, 'utf8').split('\n').length - 1 : 0);
    const before = lines();
    const child = spawn(process.execPath, [cli, 'export', dir, ...serving(published)], { stdio: 'ignore' });
    const ended = once(child, 'exit');
    const timer = setInterval(() => {
      if (lines() - before >= files) child.kill('SIGKILL');
    }, 1);
    const [, signal] = await ended;
    clearInterval(timer);
    return signal === 'SIGKILL' ? 1 : 0;
  }
}, 120_000);
