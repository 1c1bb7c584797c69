// Servers that fail, and a serving process that is killed: every reader gets an answer, and the mount goes on.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Fixture, run, skillfs } from './fixture.mjs';

/** Milliseconds: a deadline of the mount, and what only something that hangs takes. */
const DEADLINE = 1_500;
const HANGS = 20_000;

/** The code a program gets that reads a file. */
async function codeOfRead(path) {
  const script =
    'try { require("node:fs").readFileSync(process.argv[1]); console.log("read") } catch (e) { console.log(e.code) }';
  const { stdout, late } = await run(process.execPath, ['-e', script, path], { timeout: HANGS });
  assert.equal(late, false, 'the reader hangs');
  return stdout.trim();
}

export async function faultChecks(check) {
  const fixture = new Fixture('faults');
  const files = Object.fromEntries(
    ['tampered', 'hanging', 'dying', 'fine', 'later'].map((name) => [`${name}.md`, `${name}\n`]),
  );
  fixture.skill('faulty', files);
  fixture.skill('dynamic', { 'big.md': 'x'.repeat(9_000), 'below/small.md': 'small' });
  fixture.write('dynamic/.dynamic', '');
  const at = (path) => join(fixture.mounted, path);
  await fixture.mount('--timeout', String(DEADLINE));

  await check('tampered content gives EIO, and nothing of it (VER-2)', async () => {
    fixture.faults({ 'tampered.md': 'tamper' });
    const { code, stdout, stderr } = await run('cat', [at('faulty/tampered.md')]);
    assert.deepEqual({ code, stdout }, { code: 1, stdout: '' });
    assert.match(stderr, /Input\/output error/);
    fixture.faults({});
    assert.equal(await codeOfRead(at('faulty/tampered.md')), 'read');
  });
  await check('a server that does not answer gives ETIMEDOUT', async () => {
    fixture.faults({ 'hanging.md': 'hang' });
    const hanging = codeOfRead(at('faulty/hanging.md'));
    assert.equal(readFileSync(at('faulty/fine.md'), 'utf8'), 'fine\n');
    assert.equal(await hanging, 'ETIMEDOUT');
    fixture.faults({});
    assert.equal(await codeOfRead(at('faulty/hanging.md')), 'read');
  });
  await check('a server that dies gives an error, and is started again', async () => {
    fixture.faults({ 'dying.md': 'exit' });
    assert.match(await codeOfRead(at('faulty/dying.md')), /^(EIO|EHOSTUNREACH)$/);
    fixture.faults({});
    assert.equal(await codeOfRead(at('faulty/later.md')), 'read');
  });
  await check('sizes of dynamic content are true, and so is what is read (VER-5)', () => {
    assert.equal(statSync(at('dynamic/big.md')).size, 9_000);
    assert.equal(readFileSync(at('dynamic/big.md'), 'utf8'), 'x'.repeat(9_000));
    assert.deepEqual(readdirSync(at('dynamic')), ['SKILL.md', 'below', 'big.md']);
    assert.equal(readFileSync(at('dynamic/below/small.md'), 'utf8'), 'small');
  });
  await check('dynamic content is marked as unverified (VER-5)', { needs: 'getfattr' }, async () => {
    const { stdout } = await run('getfattr', ['--only-values', '-n', 'user.skillfs.verified', at('dynamic/big.md')]);
    assert.equal(stdout, 'false');
  });
  await fixture.unmount();

  await fixture.mount();
  await check('a reader that is interrupted does not wait for the deadline', async () => {
    fixture.faults({ 'hanging.md': 'hang' });
    readdirSync(at('faulty'));
    const { code, late } = await run('timeout', ['-s', 'INT', '1', 'cat', at('faulty/hanging.md')], { timeout: HANGS });
    assert.equal(late, false, 'the reader hangs');
    assert.equal(code, 124);
    fixture.faults({});
    assert.equal(await codeOfRead(at('faulty/hanging.md')), 'read');
  });
  await check('a refresh reaches what the kernel remembers', async () => {
    const shown = () => readFileSync(at('faulty/fine.md'), 'utf8');
    assert.equal(shown(), 'fine\n');
    assert.throws(() => statSync(at('faulty/new.md')), { code: 'ENOENT' });
    const reader = run('sh', ['-c', 'exec 5< fine.md; read -r first <&5; echo "$first"; sleep 2; cat fine.md'], {
      cwd: at('faulty'),
    });
    await run('sleep', ['0.5']);
    fixture.write('faulty/fine.md', 'another content, and longer\n');
    fixture.write('faulty/new.md', 'new');
    process.kill(await fixture.pid(), 'SIGHUP');
    // Without being told, the kernel would go on with what it knows for five seconds.
    const until = performance.now() + 3_000;
    while (shown() === 'fine\n' && performance.now() < until) await sleep(5);
    assert.equal(shown(), 'another content, and longer\n');
    assert.equal(statSync(at('faulty/fine.md')).size, 28);
    assert.equal(readFileSync(at('faulty/new.md'), 'utf8'), 'new');
    assert.ok(readdirSync(at('faulty')).includes('new.md'));
    assert.equal((await reader).stdout, 'fine\nanother content, and longer\n');
  });
  await check('what is open stays readable when it is unmounted', async () => {
    const script = 'exec 5< "$0"; echo open; while [ -d "$1" ]; do sleep 0.05; done; cat <&5';
    const reader = run('sh', ['-c', script, at('faulty/later.md'), fixture.mounted]);
    await run('sleep', ['0.5']);
    const { code, stderr } = await fixture.unmount();
    assert.equal(code, 0, stderr);
    assert.equal((await reader).stdout, 'open\nlater\n');
    assert.deepEqual(readdirSync(fixture.dir), []);
  });

  await check(
    'a serving process that is killed leaves nobody hanging, and its directory can be used again',
    async () => {
      await fixture.mount();
      fixture.faults({ 'hanging.md': 'hang' });
      readdirSync(at('faulty'));
      const readers = Array.from({ length: 4 }, () => codeOfRead(at('faulty/hanging.md')));
      await run('sleep', ['0.5']);
      process.kill(await fixture.pid(), 'SIGKILL');
      for (const code of await Promise.all(readers)) assert.match(code, /^(ENOTCONN|ECONNABORTED|EIO)$/);
      fixture.faults({});
      await fixture.mount();
      assert.equal(readFileSync(at('faulty/later.md'), 'utf8'), 'later\n');
      await fixture.unmount();
    },
  );
  await check('"mounts" cleans up after a process that was killed', async () => {
    await fixture.mount();
    process.kill(await fixture.pid(), 'SIGKILL');
    await run('sleep', ['0.2']);
    assert.equal(await fixture.pid(), undefined);
    assert.deepEqual(readdirSync(fixture.dir), []);
  });
  await check('a directory that is not empty, or not there, is refused', async () => {
    const refused = async (dir, why) => {
      const { code, stderr } = await skillfs('mount', dir, '--server', `s=${fixture.serverCommand}`);
      assert.equal(code, 1);
      assert.match(stderr, why);
    };
    await refused(fixture.skills, /not empty/);
    await refused(join(fixture.directory, 'none'), /no such file/);
    await refused(join(fixture.skills, 'faulty/SKILL.md'), /not a directory/);
    await fixture.mount();
    await refused(fixture.dir, /mounted on already/);
    await fixture.unmount();
  });
}
