// fs-extra and chokidar take no fs of the caller's: here they find a mount in `node:fs` itself, below /mcp.
// Prints what they saw, as JSON.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { mount } from '../../dist/index.js';
import { memoryServer } from '../../dist/testing.js';

const skillMd = '---\nname: notes\ndescription: About notes\n---\n';
const server = await memoryServer({ 'notes/SKILL.md': skillMd, 'notes/a b.txt': 'space' });
const skills = mount({ servers: { s: server.client } });
await skills.preload();

const isMounted = (path) => typeof path === 'string' && (path === '/mcp' || path.startsWith('/mcp/'));
function patch(target, ours) {
  for (const [name, theirs] of Object.entries(target)) {
    if (typeof theirs !== 'function' || typeof ours[name] !== 'function' || /^[A-Z]/.test(name)) continue;
    target[name] = Object.assign((...args) => (isMounted(args[0]) ? ours[name] : theirs)(...args), ours[name]);
  }
}
patch(fs.promises, skills.promises);
patch(fs, skills.fs);
syncBuiltinESMExports();

const { default: fsExtra } = await import('fs-extra');
const { watch } = await import('chokidar');
const saw = {
  text: await fsExtra.readFile('/mcp/s/notes/a b.txt', 'utf8'),
  exists: [await fsExtra.pathExists('/mcp/s/none'), await fsExtra.pathExists('/')],
  names: fsExtra.readdirSync('/mcp/s'),
  events: [],
};
const watcher = watch('/mcp/s').on('all', (event, path) => saw.events.push(`${event} ${path}`));
await new Promise((resolve) => watcher.on('ready', resolve));
const told = new Promise((resolve) => watcher.on('add', resolve));
await server.update({ 'notes/SKILL.md': skillMd, 'notes/a b.txt': 'changed', 'notes/new.txt': 'new' });
await skills.refresh();
await told;
await watcher.close();
await skills.close();
await server.close();
console.log(JSON.stringify(saw));
