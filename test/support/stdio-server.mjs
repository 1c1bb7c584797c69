// A stdio server for faults that need a process of its own. Usage: node stdio-server.mjs '{"exitOnRead":true}'
// exitOnRead: ends when a file named x.md is read; hangOnRead: never answers such a read; ignoreEof: outlives its input;
// exitOnProbe: ends at the first request that is not initialize; env: serves that variable as content;
// startLog: appends a line to that file at each start; exitOnFirstRead: as exitOnRead, but only the process that started first;
// floodOnRead: answers such a read with one endless line; exitAtOnce: ends as soon as it started;
// hangOn: never answers that method; helper: leaves a process that holds its output, whose id it writes there; noise: writes about everything else around its
// messages, in pieces, to both outputs; badEntry: lists one that is not valid; cwd: serves its working directory; echoCapabilities: serves what the client declared.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';

const options = JSON.parse(process.argv[2] ?? '{}');
if (options.pidFile) writeFileSync(options.pidFile, String(process.pid));
if (options.startLog) appendFileSync(options.startLog, 'start\n');
const isFirst = !options.startLog || readFileSync(options.startLog, 'utf8') === 'start\n';
if (options.exitAtOnce) process.exit(1);
if (options.helper) {
  const helper = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)'], {
    stdio: ['ignore', 'inherit', 'ignore'],
    detached: true,
  });
  helper.unref();
  writeFileSync(options.helper, String(helper.pid));
}
if (options.noise) {
  process.stdout.write('Starting …\r\n\n{not json}\n\0\n');
  process.stderr.write('e'.repeat(10_000_000));
}
const skillMd = '---\nname: faulty\ndescription: About faulty\n---\n';
const files = {
  'skill://faulty/SKILL.md': skillMd,
  'skill://faulty/x.md': 'x',
  'skill://faulty/y.md': options.env
    ? (process.env[options.env] ?? 'unset')
    : options.cwd
      ? process.cwd()
      : options.noise
        ? 'é☃𝒳'
        : 'y',
};
const resources = Object.entries(files).map(([uri, text]) => ({
  uri,
  digest: `sha256:${createHash('sha256').update(text).digest('hex')}`,
  size: Buffer.byteLength(text),
}));
const entry = {
  uri: 'skill://faulty/SKILL.md',
  frontmatter: { name: 'faulty', description: 'About faulty' },
  resources,
};

function publish(uri, text) {
  files[uri] = text;
  const listed = resources.find((file) => file.uri === uri);
  listed.digest = `sha256:${createHash('sha256').update(text).digest('hex')}`;
  listed.size = Buffer.byteLength(text);
}

function flood() {
  const chunk = 'x'.repeat(1024 * 1024);
  const more = () => {
    while (process.stdout.write(chunk));
    process.stdout.once('drain', more);
  };
  more();
  process.stdout.on('error', () => process.exit(1));
  return null;
}

function send(message) {
  const line = `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;
  if (!options.noise) return process.stdout.write(line);
  // Not on the borders of characters.
  const bytes = Buffer.from(`${line.trimEnd()}\r\nanswered\r\n`);
  for (let at = 0; at < bytes.length; at += 7) writeSync(1, bytes.subarray(at, at + 7));
}
const handlers = {
  initialize: ({ protocolVersion, capabilities }) => {
    if (options.echoCapabilities) publish('skill://faulty/y.md', JSON.stringify(capabilities));
    return {
      protocolVersion,
      capabilities: { resources: {}, extensions: { 'io.modelcontextprotocol/skills': {} } },
      serverInfo: { name: 'faulty', version: '1' },
    };
  },
  ping: () => ({}),
  'skills/list': () => ({ skills: options.badEntry ? [entry, { uri: 'skill://bad' }] : [entry] }),
  'skills/get': ({ uri }) => (uri === entry.uri ? { skill: entry } : undefined),
  'resources/read': ({ uri }) => {
    if (uri.endsWith('/x.md') && (options.exitOnRead || (options.exitOnFirstRead && isFirst))) process.exit(3);
    if (uri.endsWith('/x.md') && options.floodOnRead) return flood();
    if (uri.endsWith('/x.md') && options.hangOnRead) return null;
    return files[uri] === undefined ? undefined : { contents: [{ uri, text: files[uri] }] };
  },
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (options.hangOn === method) return;
  if (options.exitOnProbe && method === 'server/discover') process.exit(1);
  const handler = handlers[method];
  if (handler === undefined) return send({ id, error: { code: -32601, message: `Method not found: ${method}` } });
  const result = handler(params ?? {});
  if (result === undefined) return send({ id, error: { code: -32602, message: 'not found' } });
  if (result !== null) send({ id, result });
});
if (options.ignoreEof) setInterval(() => {}, 1000);
