// Ten thousand files in one directory.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Fixture, run } from './fixture.mjs';

const FILES = 10_000;

export async function manyChecks(check) {
  const fixture = new Fixture('many');
  fixture.skill('many', Object.fromEntries(Array.from({ length: FILES }, (_, n) => [`files/${n}.md`, `${n}\n`])));
  await fixture.mount('--allow-over-limits');
  const directory = join(fixture.mounted, 'many/files');
  await check('10,000 files are listed, each once', () => {
    assert.equal(new Set(readdirSync(directory)).size, FILES);
    assert.equal(readdirSync(directory).length, FILES);
  });
  await check('ls -l of 10,000 files', async () => {
    const { stdout } = await run('sh', ['-c', 'ls -l | grep -c "^-r--r--r--"'], { cwd: directory });
    assert.equal(Number(stdout), FILES);
  });
  await check('looking around costs no read (LAZY-1)', () => {
    assert.deepEqual(fixture.requests('resources/read'), []);
  });
  await check('all of them are read', async () => {
    const { stdout } = await run('sh', ['-c', 'cat *.md | sort -n | tail -1'], { cwd: directory });
    assert.equal(Number(stdout), FILES - 1);
  });
  await fixture.unmount();
}
