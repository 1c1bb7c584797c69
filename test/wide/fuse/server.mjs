// A stdio server of the skills in a directory, for checks that need to see and to disturb it. Usage: node server.mjs <dir>
// <dir>/skills: a directory with a SKILL.md is a skill; one with a file .dynamic publishes no manifest.
// <dir>/faults.json, looked at for each read: { "<uri's end>": "hang" | "exit" | "tamper" }.
// <dir>/requests.log: a line for each request, "<method> <uri>". <dir>/server.pid: the process.
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const directory = process.argv[2];
const skills = join(directory, 'skills');
writeFileSync(join(directory, 'server.pid'), String(process.pid));

const uriOf = (path) => `skill://${path.split('/').map(encodeURIComponent).join('/')}`;
const pathOf = (uri) => uri.slice('skill://'.length).split('/').map(decodeURIComponent).join('/');

function filesBelow(path) {
  return readdirSync(join(skills, path), { withFileTypes: true }).flatMap((entry) => {
    const child = path === '' ? entry.name : `${path}/${entry.name}`;
    if (entry.name === '.dynamic') return [];
    return entry.isDirectory() ? filesBelow(child) : [child];
  });
}

function entryOf(root) {
  const text = readFileSync(join(skills, root, 'SKILL.md'), 'utf8');
  const [, name, description] = /^---\nname: (.*)\ndescription: (.*)\n/.exec(text);
  const resources = existsSync(join(skills, root, '.dynamic'))
    ? 'dynamic'
    : filesBelow(root).map((path) => {
        const bytes = readFileSync(join(skills, path));
        const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
        return { uri: uriOf(path), digest, size: bytes.length };
      });
  return { uri: uriOf(`${root}/SKILL.md`), frontmatter: { name, description }, resources };
}

function roots() {
  return filesBelow('')
    .filter((path) => path.endsWith('/SKILL.md'))
    .map((path) => path.slice(0, -'/SKILL.md'.length));
}

function read(uri) {
  const faults = existsSync(join(directory, 'faults.json'))
    ? JSON.parse(readFileSync(join(directory, 'faults.json'), 'utf8'))
    : {};
  const fault = Object.entries(faults).find(([end]) => uri.endsWith(end))?.[1];
  if (fault === 'exit') process.exit(3);
  if (fault === 'hang') return null;
  const file = join(skills, pathOf(uri));
  if (!existsSync(file)) return undefined;
  const bytes = readFileSync(file);
  if (fault === 'tamper') bytes[bytes.length - 1] ^= 1;
  return { contents: [{ uri, blob: bytes.toString('base64') }] };
}

const handlers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { resources: {}, extensions: { 'io.modelcontextprotocol/skills': { directoryRead: true } } },
    serverInfo: { name: 'fuse-checks', version: '1' },
  }),
  ping: () => ({}),
  'skills/list': () => ({ skills: roots().map(entryOf) }),
  'skills/get': ({ uri }) => {
    const root = pathOf(uri).slice(0, -'/SKILL.md'.length);
    return existsSync(join(skills, root, 'SKILL.md')) ? { skill: entryOf(root) } : undefined;
  },
  'resources/read': ({ uri }) => read(uri),
  'resources/directory/read': ({ uri }) => {
    const path = join(skills, pathOf(uri));
    if (!existsSync(path)) return undefined;
    const children = readdirSync(path, { withFileTypes: true }).filter(({ name }) => name !== '.dynamic');
    return {
      resources: children.map((child) => ({
        uri: `${uri}/${encodeURIComponent(child.name)}`,
        name: child.name,
        ...(child.isDirectory() && { mimeType: 'inode/directory' }),
      })),
    };
  },
};

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  appendFileSync(join(directory, 'requests.log'), `${method} ${params?.uri ?? ''}\n`);
  const handler = handlers[method];
  if (handler === undefined) return send({ id, error: { code: -32601, message: `Method not found: ${method}` } });
  const result = handler(params ?? {});
  if (result === undefined) send({ id, error: { code: -32602, message: 'not found' } });
  else if (result !== null) send({ id, result });
});
