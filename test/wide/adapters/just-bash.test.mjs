import assert from 'node:assert/strict';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { Bash, InMemoryFs, MountableFs, OverlayFs } from 'just-bash';
import { justBashFs } from '../../../dist/adapters.js';
import { mount } from '../../../dist/index.js';
import { files, onDisk, served, skill } from './served.mjs';

/** A shell in which the view is at its own place, and one with the same files on the disk at that place. */
async function shells(t) {
  const { server, view } = await served(t);
  const onView = new MountableFs({
    base: new InMemoryFs(),
    mounts: [{ mountPoint: '/mcp', filesystem: justBashFs(view) }],
  });
  const disk = new OverlayFs({ root: onDisk(t), mountPoint: '/', readOnly: true });
  const onDiskFs = new MountableFs({ base: new InMemoryFs(), mounts: [{ mountPoint: '/mcp/s', filesystem: disk }] });
  const shell = (fs) => {
    const bash = new Bash({ fs, cwd: '/mcp/s' });
    return async (command) => {
      const { stdout, stderr, exitCode } = await bash.exec(command);
      return { stdout, stderr, exitCode };
    };
  };
  return { server, view, fs: onView, run: shell(onView), runOnDisk: shell(onDiskFs) };
}

test('commands say what they say on a read-only disk', async (t) => {
  const { run, runOnDisk } = await shells(t);
  for (const command of [
    'cat refunds/SKILL.md',
    'ls',
    'ls -R',
    'ls -R /mcp/s/refunds',
    'grep -r days .',
    'grep -rl About /mcp/s | sort',
    'grep -c line refunds/references/long.txt',
    'find . | sort',
    'find . -type f -name "*.md" | sort',
    'find . -type d | sort',
    'echo *',
    'echo */SKILL.md',
    'echo **/*',
    'wc -c refunds/assets/logo.png',
    'head -n 2 refunds/references/policy.md',
    'tail -n 1 refunds/references/policy.md',
    'md5sum refunds/assets/logo.png',
    'cat none',
    'cat refunds/SKILL.md/x',
    'cat refunds',
    'ls none',
    'cd refunds && pwd && cat references/policy.md && cat ../notes/SKILL.md',
    'pwd -P',
    'test -e none || echo absent',
    'test -d refunds && test -f refunds/SKILL.md && echo there',
    'test -x refunds/SKILL.md || echo not executable',
    'cat ../../../../mcp/s/notes/SKILL.md',
    'awk "{print NR, \\$0}" refunds/references/policy.md',
    'cp -r /mcp/s/refunds /tmp/copy && find /tmp/copy -type f | sort && cat /tmp/copy/references/policy.md',
  ]) {
    assert.deepEqual(await run(command), await runOnDisk(command), command);
  }
  assert.match((await run('grep -r days .')).stdout, /policy\.md:take ten days/);
});

test('nothing is written', async (t) => {
  const { view, run, runOnDisk } = await shells(t);
  for (const command of [
    'rm -r refunds',
    'rm refunds/SKILL.md',
    'mkdir new',
    'touch refunds/new',
    'mv refunds moved',
    'cp refunds/SKILL.md copy.md',
    'chmod +x refunds/SKILL.md',
    'ln -s refunds link',
    'sed -i s/a/b/ refunds/SKILL.md',
  ]) {
    const { exitCode, stderr } = await run(command);
    assert.notEqual(exitCode, 0, command);
    assert.match(stderr, /EROFS|[Rr]ead-only|No such/, command);
  }
  for (const command of ['echo x > refunds/SKILL.md', 'echo x >> refunds/SKILL.md', 'echo x > new']) {
    await assert.rejects(run(command), { message: /EROFS/ }, command);
    await assert.rejects(runOnDisk(command), { message: /EROFS/ }, command);
  }
  assert.equal(await view.promises.readFile('/mcp/s/refunds/SKILL.md', 'utf8'), files['refunds/SKILL.md']);
});

test('what does not verify is not shown, and a server that is gone is no empty one', async (t) => {
  const { server, run } = await shells(t);
  server.faults.tamper('notes/SKILL.md', () => skill('notes', 'Tampered!!!'));
  const { stdout, exitCode } = await run('cat notes/SKILL.md');
  assert.deepEqual([stdout, exitCode], ['', 1]);
  assert.notEqual((await run('ls /mcp/gone')).exitCode, 0);
  assert.equal((await run('test -e /mcp/gone/other || cat refunds/SKILL.md')).stdout, files['refunds/SKILL.md']);
  assert.match((await run('ls /mcp')).stdout, /^gone\ns\n$/);
});

test('errors are those of Node, for paths of the view', async (t) => {
  const { server, view } = await shells(t);
  const fs = justBashFs(view);
  server.faults.tamper('notes/SKILL.md', () => skill('notes', 'Tampered!!!'));
  await assert.rejects(fs.readFileBuffer('/s/notes/SKILL.md'), { code: 'EIO', path: '/mcp/s/notes/SKILL.md' });
  await assert.rejects(fs.readFile('/s/none'), { code: 'ENOENT', path: '/mcp/s/none' });
  await assert.rejects(fs.readdir('/s/refunds/SKILL.md'), { code: 'ENOTDIR' });
  await assert.rejects(fs.stat('/gone/other'), { code: 'EHOSTUNREACH' });
  assert.equal(await fs.exists('/gone/other'), false);
  await assert.rejects(fs.readlink('/s/refunds'), { code: 'EINVAL' });
  for (const write of ['writeFile', 'appendFile', 'mkdir', 'rm', 'chmod', 'utimes']) {
    await assert.rejects(fs[write]('/s/x'), { code: 'EROFS', path: '/mcp/s/x' }, write);
  }
  for (const write of ['cp', 'mv', 'link']) {
    await assert.rejects(fs[write]('/s/x', '/s/y'), { code: 'EROFS', dest: '/mcp/s/y' }, write);
  }
  await assert.rejects(fs.symlink('/target', '/s/x'), { code: 'EROFS', path: '/mcp/s/x' });
  assert.equal(await fs.realpath('/../s/notes/'), '/s/notes');
  assert.equal(await fs.realpath('/'), '/');
  assert.equal(await fs.readFile('/s/refunds/assets/logo.png', 'hex'), '89504e4700ff');
  assert.deepEqual(await fs.readdirWithFileTypes('/s/notes'), [
    { name: 'SKILL.md', isFile: true, isDirectory: false, isSymbolicLink: false },
  ]);
});

test('a server is started from within a script, in which just-bash forbids what that takes', async (t) => {
  const path = (below) => fileURLToPath(new URL(`../../../${below}`, import.meta.url));
  const args = [path('dist/cli.js'), 'serve', path('fixtures/skills')];
  const view = mount({ servers: { w: { command: process.execPath, args, stderr: 'ignore' } } });
  t.after(() => view.close());
  const bash = new Bash({ fs: new MountableFs({ mounts: [{ mountPoint: '/mcp', filesystem: justBashFs(view) }] }) });
  const { stdout, stderr } = await bash.exec('find /mcp/w -name SKILL.md | head -n 1 | xargs head -n 1');
  assert.deepEqual([stdout, stderr], ['---\n', '']);
});
