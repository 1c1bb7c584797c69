// Mounts of views: every skill by its name, local skills first, and nothing of it hides what is wrong on canonical paths.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mountKernel } from '../../../dist/fuse.js';
import { Fixture, run, skillfs } from './fixture.mjs';

const READERS = 24;

/** Extended attributes of a path, by a program that knows nothing of us. */
async function attributesOf(path) {
  const script =
    'import os, json, sys\np = sys.argv[1]\nprint(json.dumps({n: os.getxattr(p, n).decode() for n in os.listxattr(p)}))';
  const { stdout, stderr } = await run('python3', ['-c', script, path]);
  return JSON.parse(stdout || stderr);
}

export async function viewChecks(check) {
  const fixture = new Fixture('views');
  const files = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`text/${n}.md`, `needle ${n}\n`.repeat(400)]));
  fixture.skill('acme/billing/refunds', { 'policy.md': 'policy' });
  fixture.skill('acme/tools/reading', files);
  fixture.skill('acme/outer/inner', { 'b.md': 'b' });
  fixture.skill('waiting', { 'other.md': 'other' });
  const local = join(fixture.directory, 'local');
  const greet = '---\nname: greet\ndescription: Local\n---\n';
  const ownRefunds = '---\nname: refunds\ndescription: Local refunds\n---\n';
  for (const [name, text] of Object.entries({ greet, refunds: ownRefunds })) {
    mkdirSync(join(local, name), { recursive: true });
    writeFileSync(join(local, name, 'SKILL.md'), text);
  }
  const at = (path) => join(fixture.dir, path);
  await fixture.mount('--view', 'flat', '--local', local);

  await check('a flat union: local skills first, the others by name (SEC-5)', async () => {
    const others = ['inner', 'reading', 'refunds--s--acme--billing', 'waiting'];
    assert.deepEqual(readdirSync(fixture.dir).sort(), ['greet', 'refunds', ...others].sort());
    assert.equal(readFileSync(at('refunds/SKILL.md'), 'utf8'), ownRefunds);
    assert.equal(readFileSync(at('refunds--s--acme--billing/policy.md'), 'utf8'), 'policy');
    assert.throws(() => readFileSync(at('refunds/policy.md')), { code: 'ENOENT' });
  });
  await check('ls -lR and grep -r see in a flat union what they see in real directories', async () => {
    const real = join(fixture.skills, 'acme/tools/reading');
    for (const command of [
      'ls -lR . | sed "s/^\\(.\\)r.-r.-r.-/\\1/; s/ [A-Z][a-z][a-z] .*:.. / /" | grep md | awk "{print \\$5, \\$NF}"',
      'grep -r needle . | sort | sha256sum',
    ]) {
      const wanted = await run('sh', ['-c', command], { cwd: real });
      assert.ok(wanted.stdout.length > 60);
      assert.deepEqual(await run('sh', ['-c', command], { cwd: at('reading') }), wanted, command);
    }
    const { code, stderr } = await run('sh', ['-c', 'ls -lR . > /dev/null && grep -r needle . > /dev/null'], {
      cwd: fixture.dir,
    });
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  });
  await check(`${READERS} programs walk and read it at once`, async () => {
    const script = 'find . -type f | sort | xargs cat | sha256sum';
    const results = await Promise.all(
      Array.from({ length: READERS }, () => run('sh', ['-c', script], { cwd: fixture.dir })),
    );
    assert.deepEqual(new Set(results.map(({ stdout }) => stdout)).size, 1);
    assert.deepEqual(
      results.map(({ code, stderr }) => `${code}${stderr}`),
      results.map(() => '0'),
    );
  });
  await check('no file was asked for twice', () => {
    const reads = fixture.requests('resources/read');
    assert.equal(new Set(reads).size, reads.length);
    assert.ok(reads.length > 60);
  });
  await check('extended attributes of a view tell whose a file is (SEC-2)', { needs: 'python3' }, async () => {
    const digest = `sha256:${createHash('sha256').update('policy').digest('hex')}`;
    assert.deepEqual(await attributesOf(at('refunds--s--acme--billing/policy.md')), {
      'user.skillfs.origin': 's',
      'user.skillfs.uri': 'skill://acme/billing/refunds/policy.md',
      'user.skillfs.verified': 'true',
      'user.skillfs.digest': digest,
      'user.skillfs.served-digest': digest,
    });
    assert.deepEqual(await attributesOf(at('greet/SKILL.md')), {
      'user.skillfs.local': join(local, 'greet/SKILL.md'),
    });
  });
  await check('nothing can be written, local skills neither', async () => {
    for (const path of ['greet/SKILL.md', 'greet/new.md', 'new', 'reading/SKILL.md']) {
      const { code, stderr } = await run('sh', ['-c', 'echo x >> "$0"', at(path)]);
      assert.notEqual(code, 0);
      assert.match(stderr, /Read-only file system/);
    }
    assert.equal(readFileSync(join(local, 'greet/SKILL.md'), 'utf8'), greet);
  });
  await check('what changes in a local directory is seen', async () => {
    mkdirSync(join(local, 'later'));
    writeFileSync(join(local, 'later/SKILL.md'), '---\nname: later\ndescription: Later\n---\n');
    assert.ok(readdirSync(fixture.dir).includes('later'));
    assert.match(readFileSync(at('later/SKILL.md'), 'utf8'), /Later/);
  });
  await check('a server that dies while a view is read: SKILL.md is not there, nothing hangs', async () => {
    fixture.faults({ 'waiting/SKILL.md': 'hang' });
    // What was read above is in memory; another mount has to ask.
    await fixture.unmount();
    await fixture.mount('--view', 'flat', '--local', local, '--no-cache');
    const before = fixture.requests('resources/read', 'waiting/SKILL.md').length;
    const reader = run('cat', [at('waiting/SKILL.md')], { timeout: 20_000 });
    while (fixture.requests('resources/read', 'waiting/SKILL.md').length === before) await run('sleep', ['0.05']);
    fixture.faults({ 'waiting/SKILL.md': 'exit' });
    process.kill(Number(readFileSync(join(fixture.directory, 'server.pid'), 'utf8')), 'SIGKILL');
    const { code, stdout, stderr, late } = await reader;
    assert.deepEqual({ code, stdout, late }, { code: 1, stdout: '', late: false });
    assert.match(stderr, /No such file or directory/);
    assert.ok(!readdirSync(fixture.dir).includes('waiting'), 'it is still listed');
    assert.equal(readFileSync(at('greet/SKILL.md'), 'utf8'), greet);
  });
  await fixture.unmount();

  await check('the same on a canonical path: the true error', async () => {
    fixture.faults({ 'waiting/SKILL.md': 'hang' });
    await fixture.mount('--no-cache');
    const before = fixture.requests('resources/read', 'waiting/SKILL.md').length;
    const reader = run('cat', [join(fixture.mounted, 'waiting/SKILL.md')], { timeout: 20_000 });
    while (fixture.requests('resources/read', 'waiting/SKILL.md').length === before) await run('sleep', ['0.05']);
    fixture.faults({ 'waiting/SKILL.md': 'exit' });
    process.kill(Number(readFileSync(join(fixture.directory, 'server.pid'), 'utf8')), 'SIGKILL');
    const { code, stderr, late } = await reader;
    assert.deepEqual({ code, late }, { code: 1, late: false });
    assert.match(stderr, /No route to host/);
    assert.ok(readdirSync(fixture.mounted).includes('waiting'));
    await fixture.unmount();
    fixture.faults({});
  });

  await check('mountKernel takes a view and local directories', async () => {
    const mounted = await mountKernel(
      { servers: { s: fixture.server }, view: 'flat', local: [local], collisions: 'hide' },
      fixture.dir,
    );
    try {
      assert.deepEqual(readdirSync(mounted.dir).sort(), ['greet', 'inner', 'later', 'reading', 'refunds', 'waiting']);
      assert.equal(readFileSync(join(mounted.dir, 'refunds/SKILL.md'), 'utf8'), ownRefunds);
      assert.equal(readFileSync(join(mounted.dir, 'inner/b.md'), 'utf8'), 'b');
    } finally {
      await mounted.unmount();
    }
    const refused = mountKernel({ servers: { s: fixture.server }, view: 'deep' }, fixture.dir);
    await assert.rejects(refused, { name: 'OptionsError', message: /^view: / });
  });
  await check('a tree with local directories beside the servers', async () => {
    await fixture.mount('--view', 'tree', '--local', local);
    assert.deepEqual(readdirSync(fixture.dir).sort(), ['greet', 'later', 'refunds', 's']);
    assert.equal(readFileSync(join(fixture.mounted, 'acme/outer/inner/b.md'), 'utf8'), 'b');
    await fixture.unmount();
  });
  await check('a local directory that the mount would hide is refused', async () => {
    const args = ['--view', 'flat', '--nonempty', '--local', local, '--server', `s=${fixture.serverCommand}`];
    const { code, stderr } = await skillfs('mount', local, ...args);
    assert.equal(code, 1);
    assert.match(stderr, /would be hidden by it/);
  });
}
