// The built package on the Node.js that runs this: mounts a real stdio server and reads through every kind of call.
import assert from 'node:assert/strict';
import { mount } from '../../dist/index.js';

const cli = new URL('../../dist/cli.js', import.meta.url).pathname;
const fixtures = new URL('../../fixtures/skills', import.meta.url).pathname;
const mounted = mount({
  servers: { demo: { command: process.execPath, args: [cli, 'serve', fixtures], stderr: 'ignore' } },
});
const { fs, promises } = mounted;
const [status] = await mounted.ready();
assert.equal(status.state, 'ready');
assert.deepEqual(status.refused, []);
for (const { path, name } of mounted.skills()) {
  const text = await promises.readFile(`${path}/SKILL.md`, 'utf8');
  assert.ok(text.includes(name));
  assert.equal(fs.readFileSync(`${path}/SKILL.md`, 'utf8'), text);
  assert.ok(fs.statSync(path).isDirectory());
  assert.ok(fs.readdirSync(path).includes('SKILL.md'));
  assert.throws(() => fs.writeFileSync(`${path}/SKILL.md`, ''), { code: 'EROFS' });
}
await mounted.close();
console.log(`smoke ${process.version}: ${mounted.skills().length} passed, 0 failed`);
