// mountKernel(), from a program that uses its own mount, synchronously too.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { mountKernel } from '../../../dist/fuse.js';
import { memoryServer } from '../../../dist/testing.js';
import { Fixture, foreground, run, skillfs } from './fixture.mjs';

export async function apiChecks(check) {
  const fixture = new Fixture('api');
  fixture.skill('own', { 'a.md': 'a', 'b.md': 'b' });
  await check('a program reads its own mount with synchronous calls', async () => {
    const mounted = await mountKernel({ servers: { s: fixture.server } }, fixture.dir);
    try {
      assert.equal(readFileSync(join(fixture.mounted, 'own/a.md'), 'utf8'), 'a');
      assert.equal(mounted.dir, fixture.dir);
      assert.equal(await fixture.pid(), mounted.pid);
    } finally {
      await mounted.unmount();
    }
    assert.deepEqual(readdirSync(fixture.dir), []);
    await mounted.unmount();
  });
  await check('a connected client is refused, with the reason', async () => {
    const server = await memoryServer({ 'x/SKILL.md': '---\nname: x\ndescription: X\n---\n' });
    const refused = mountKernel({ servers: { s: server.client } }, fixture.dir);
    await assert.rejects(refused, { name: 'OptionsError', message: /servers\["s"\].*config only/ });
    await server.close();
  });
  const program = (end) => `
    import { mountKernel } from ${JSON.stringify(new URL('../../../dist/fuse.js', import.meta.url).href)};
    import { readFileSync } from 'node:fs';
    const mounted = await mountKernel(${JSON.stringify({ servers: { s: fixture.server } })}, ${JSON.stringify(fixture.dir)});
    console.log(readFileSync(mounted.dir + '/s/own/b.md', 'utf8'));
    ${end}`;
  for (const [how, end] of Object.entries({ ends: '', 'is killed': 'process.kill(process.pid, "SIGKILL");' })) {
    await check(`a mount ends when the program that made it ${how}`, async () => {
      const { stdout, stderr, late } = await run(process.execPath, ['--input-type=module', '-e', program(end)]);
      assert.deepEqual({ stdout, late }, { stdout: 'b\n', late: false }, stderr);
      for (let tries = 0; tries < 100 && readdirSync(fixture.dir).length > 0; tries++) await run('sleep', ['0.05']);
      assert.deepEqual(readdirSync(fixture.dir), []);
    });
  }
  for (const signal of ['SIGINT', 'SIGTERM']) {
    await check(`in the foreground, ${signal} unmounts`, async () => {
      const child = foreground(fixture);
      const ended = once(child, 'exit');
      for (let tries = 0; tries < 200 && readdirSync(fixture.dir).length === 0; tries++) await run('sleep', ['0.05']);
      assert.equal(readFileSync(join(fixture.mounted, 'own/a.md'), 'utf8'), 'a');
      child.kill(signal);
      assert.deepEqual(await ended, [0, null]);
      assert.deepEqual(readdirSync(fixture.dir), []);
    });
  }
  await check('unmounting what is not mounted is refused', async () => {
    const { code, stderr } = await skillfs('unmount', fixture.dir);
    assert.equal(code, 1);
    assert.match(stderr, /not a mount of skillfs/);
  });
}
