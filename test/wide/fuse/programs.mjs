// Programs that know nothing of us see in the mount what they see in a real directory, byte for byte.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Fixture, run } from './fixture.mjs';

const SIZES = [0, 1, 4095, 4096, 4097, 131_071, 131_072, 1_048_579];

export function readingFixture() {
  const fixture = new Fixture('programs');
  const bytes = (size) => Buffer.from(Array.from({ length: size }, (_, at) => (at * 31 + (at >> 8)) % 251));
  const sized = Object.fromEntries(SIZES.map((size) => [`sizes/${size}.bin`, bytes(size)]));
  const text = Object.fromEntries(
    Array.from({ length: 40 }, (_, n) => [
      `text/${n}.md`,
      `# ${n}\n\nneedle ${n % 7}\n${'words and more words\n'.repeat(n * 9)}`,
    ]),
  );
  fixture.skill('acme/tools/reading', { ...sized, ...text });
  fixture.skill('names', {
    'with spaces/two  spaces.md': 'spaces',
    'письмо/привет.md': 'needle, кириллица',
    '日本語/こんにちは.md': 'needle, 日本語',
    'emoji 🧭/🗺.md': 'needle',
    '-dash.md': 'dash',
    '%41%2F.md': 'percent',
    'quote\'"$(x).md': 'quotes',
    [`${'é'.repeat(126)}.md`]: 'long',
  });
  fixture.skill('acme/outer', { 'a.md': 'a' });
  fixture.skill('acme/outer/inner', { 'b.md': 'b' });
  return fixture;
}

const PYTHON = `
import hashlib, os
for root, dirs, files in os.walk('.'):
    dirs.sort()
    for name in sorted(files):
        path = os.path.join(root, name)
        with open(path, 'rb') as file: print(path, os.path.getsize(path), hashlib.sha256(file.read()).hexdigest())
`;

const NODE_SYNC = `
const { readdirSync, readFileSync, statSync } = require('node:fs'); const { createHash } = require('node:crypto');
for (const path of readdirSync('.', { recursive: true }).sort()) {
  const stat = statSync(path);
  console.log(path, stat.isFile() ? stat.size + ' ' + createHash('sha256').update(readFileSync(path)).digest('hex') : 'directory');
}`;

const NODE_PARALLEL = `
const { promises, readdirSync } = require('node:fs'); const { createHash } = require('node:crypto');
const files = readdirSync('.', { recursive: true, withFileTypes: true }).filter((e) => e.isFile()).map((e) => e.parentPath + '/' + e.name).sort();
const jobs = Array.from({ length: 64 }, (_, n) => files[n % files.length]);
Promise.all(jobs.map(async (file) => file + ' ' + createHash('sha256').update(await promises.readFile(file)).digest('hex'))).then((all) => console.log(all.join('\\n')));`;

/** Commands whose output is to be the same in both directories. */
const COMMANDS = {
  'find -type f -size': ['sh', '-c', 'find . -type f -printf "%p %s %m\\n" | sed "s/ 644$/ 444/" | sort'],
  'find -size +100k': ['sh', '-c', 'find . -type f -size +100k | sort'],
  'ls -R': ['ls', '-R'],
  cat: ['sh', '-c', 'find . -type f -print0 | sort -z | xargs -0 cat'],
  'grep -r': ['sh', '-c', 'grep -r needle . | sort'],
  'tar | tar -t': ['sh', '-c', 'tar -cf - --sort=name --mtime=@0 --mode=0 --owner=0 --group=0 . | sha256sum'],
  'python3 walk': ['python3', '-c', PYTHON],
  'node, synchronous': ['node', '-e', NODE_SYNC],
  'node, 64 promises': ['node', '-e', NODE_PARALLEL],
  'git grep --no-index': ['sh', '-c', 'git --no-pager grep --no-index needle -- . | sort'],
  'dd at offsets': [
    'sh',
    '-c',
    'dd if=acme/tools/reading/sizes/1048579.bin bs=1000 skip=700 count=3 2>/dev/null | sha256sum',
  ],
  'tail -c': ['tail', '-c', '5', 'acme/tools/reading/sizes/1048579.bin'],
  'wc -c': ['sh', '-c', 'find . -type f -print0 | sort -z | xargs -0 wc -c'],
};

/** Commands that copy `.` to a directory, which is then compared. */
const COPIES = {
  'cp -r': (to) => ['cp', '-r', '.', to],
  'cp -a': (to) => ['cp', '-a', '.', to],
  rsync: (to) => ['rsync', '-a', './', to],
  'tar pipe': (to) => ['sh', '-c', 'mkdir "$0" && tar -cf - . | tar -xf - -C "$0"', to],
};

export async function programChecks(check, fixture) {
  await check('diff -r finds no difference', async () => {
    const { code, stdout } = await run('diff', ['-r', fixture.skills, fixture.mounted]);
    assert.deepEqual({ code, stdout }, { code: 0, stdout: '' });
  });
  for (const [name, [command, ...args]] of Object.entries(COMMANDS)) {
    await check(name, { needs: args[0] === '-c' && name.startsWith('git') ? 'git' : command }, async () => {
      const real = await run(command, args, { cwd: fixture.skills });
      const mounted = await run(command, args, { cwd: fixture.mounted });
      assert.equal(real.code, 0, real.stderr);
      assert.deepEqual(mounted, real);
    });
  }
  for (const [name, commandTo] of Object.entries(COPIES)) {
    const to = join(fixture.directory, 'copy');
    const [command, ...args] = commandTo(to);
    await check(name, { needs: command }, async () => {
      const { code, stderr } = await run(command, args, { cwd: fixture.mounted });
      assert.equal(code, 0, stderr);
      assert.equal((await run('diff', ['-r', fixture.skills, to])).stdout, '');
      await run('chmod', ['-R', 'u+w', to]);
      rmSync(to, { recursive: true });
    });
  }
  await check('sha256sum -c', { needs: 'sha256sum' }, async () => {
    const sums = join(fixture.directory, 'sums');
    await run('sh', ['-c', 'find . -type f -print0 | sort -z | xargs -0 sha256sum > "$0"', sums], {
      cwd: fixture.skills,
    });
    const { code, stdout, stderr } = await run('sha256sum', ['-c', '--strict', sums], { cwd: fixture.mounted });
    assert.equal(code, 0, stdout + stderr);
  });
  await check('16 readers of one file at once', async () => {
    const path = 'acme/tools/reading/sizes/1048579.bin';
    const wanted = createHash('sha256')
      .update(readFileSync(join(fixture.skills, path)))
      .digest('hex');
    const readers = Array.from({ length: 16 }, () => run('sha256sum', [join(fixture.mounted, path)]));
    for (const { stdout } of await Promise.all(readers)) assert.ok(stdout.startsWith(wanted));
  });
  await check('no file was asked for twice', () => {
    const reads = fixture.requests('resources/read');
    assert.equal(new Set(reads).size, reads.length);
    assert.ok(reads.length > 50);
  });
  await check('readdir gives the inode numbers that stat gives', async () => {
    const script = 'import os\nfor e in os.scandir("."): print(e.name, e.inode() == e.stat().st_ino)';
    const { stdout } = await run('python3', ['-c', script], { cwd: join(fixture.mounted, 'acme/tools/reading/text') });
    assert.equal(stdout.trim().split('\n').length, 40);
    assert.ok(!stdout.includes('False'), stdout);
  });
  await check('nothing can be changed', async () => {
    const file = join(fixture.mounted, 'names/SKILL.md');
    for (const script of [
      'echo x > "$0"',
      'echo x > "$0.new"',
      'rm "$0"',
      'mv "$0" "$0.b"',
      'chmod 777 "$0"',
      'mkdir "$0.d"',
      'touch "$0"',
      'ln -s x "$0.l"',
    ]) {
      const { code, stderr } = await run('sh', ['-c', script, file]);
      assert.notEqual(code, 0, script);
      assert.match(stderr, /Read-only file system/, script);
    }
  });
  await check('nothing runs (SEC-1)', async () => {
    const { code, stderr } = await run('sh', ['-c', '"$0"', join(fixture.mounted, 'names/-dash.md')]);
    assert.equal(code, 126);
    assert.match(stderr, /Permission denied/);
  });
  await check('a path that is not there, and one below a file', async () => {
    assert.throws(() => statSync(join(fixture.mounted, 'names/none.md')), { code: 'ENOENT' });
    assert.throws(() => statSync(join(fixture.mounted, 'names/SKILL.md/x')), { code: 'ENOTDIR' });
    assert.throws(() => readFileSync(join(fixture.mounted, 'names')), { code: 'EISDIR' });
    assert.throws(() => statSync(join(fixture.mounted, 'x'.repeat(256))), { code: 'ENAMETOOLONG' });
    assert.deepEqual(readdirSync(fixture.dir), ['s']);
  });
  await check('extended attributes tell the origin (SEC-2)', { needs: 'python3' }, async () => {
    const script =
      'import os, json, sys\np = sys.argv[1]\nprint(json.dumps({n: os.getxattr(p, n).decode() for n in os.listxattr(p)}))';
    const { stdout, stderr } = await run('python3', ['-c', script, join(fixture.mounted, 'names/-dash.md')]);
    const digest = `sha256:${createHash('sha256').update('dash').digest('hex')}`;
    assert.deepEqual(
      JSON.parse(stdout || stderr),
      Object.fromEntries(
        Object.entries({
          origin: 's',
          uri: 'skill://names/-dash.md',
          verified: 'true',
          digest,
          'served-digest': digest,
        }).map(([name, value]) => [`user.skillfs.${name}`, value]),
      ),
    );
  });
  await check('getfattr', { needs: 'getfattr' }, async () => {
    const { stdout } = await run('getfattr', ['--only-values', '-n', 'user.skillfs.origin', fixture.mounted]);
    assert.equal(stdout, 's');
  });
}
