// One of many agents. Usage: node agent.mjs <server's URL> <shared store as JSON> [sync]
// Reads every file of the catalog, each a line on standard output as it is read; then what it saw, as a line of JSON.
import { createHash } from 'node:crypto';
import { mount } from '../../../dist/index.js';

const [url, shared, how] = process.argv.slice(2);
const skills = mount({ servers: { s: { url } }, shared: JSON.parse(shared), listen: false });
const problems = [];
skills.on('diagnostic', ({ code, message }) => code === 'shared' && problems.push(message));
const names = await skills.promises.readdir('/mcp/s', { recursive: true });
const paths = names.map((name) => `/mcp/s/${name}`).filter((path) => skills.fs.statSync(path).isFile());
const all = createHash('sha256');
const started = performance.now();
const read = (bytes) => {
  process.stdout.write('read\n');
  return bytes;
};
const contents =
  how === 'sync'
    ? paths.map((path) => read(skills.fs.readFileSync(path)))
    : await Promise.all(paths.map(async (path) => read(await skills.promises.readFile(path))));
const ms = Math.round(performance.now() - started);
for (const bytes of contents) all.update(bytes);
await skills.close();
console.log(JSON.stringify({ files: contents.length, digest: all.digest('hex'), problems, ms }));
