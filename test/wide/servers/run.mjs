// Mounts servers that others wrote, over stdio and HTTP, on both protocol eras, and compares with the directory they serve.
// Needs the built package. What cannot be installed is skipped, and says why. Usage: node run.mjs [part of a name]
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { mount } from '../../../dist/index.js';

const here = fileURLToPath(new URL('.', import.meta.url));
const fixtures = fileURLToPath(new URL('../../../fixtures/skills', import.meta.url));
/** Skills whose files are compared with those on disk: nothing is masked in them. */
const grants = { s: ['skill://acme/billing/refunds/SKILL.md'] };
const tools = mkdtempSync(join(tmpdir(), 'skillfs-servers-'));
process.on('exit', () => rmSync(tools, { recursive: true, force: true }));

const install = {
  npm() {
    cpSync(here, join(tools, 'npm'), { recursive: true });
    run('npm', ['install', '--silent', '--no-audit', '--no-fund', '--no-package-lock'], join(tools, 'npm'));
    return (args) => [process.execPath, [join(tools, 'npm', args[0]), ...args.slice(1)]];
  },
  pip(name) {
    run('python3', ['-m', 'venv', join(tools, name)]);
    const python = join(tools, name, 'bin', 'python');
    run(python, ['-m', 'pip', 'install', '--quiet', '--requirement', join(here, `requirements-${name}.txt`)]);
    return (args) => [python, [join(here, args[0]), ...args.slice(1)]];
  },
};

/** What each server should come out as: its dialect, and whether what is read is verified. */
const servers = [
  {
    name: 'ext-skills',
    from: () => install.npm(),
    args: ['ext-skills.mjs'],
    dialect: 'skills',
    verified: true,
    // It lists URIs with characters that it escapes before it looks them up.
    cannotServe: (file) => /[^!-~]/.test(file),
  },
  {
    name: 'FastMCP, extension',
    from: () => install.pip('fastmcp'),
    args: ['fastmcp_skills.py', 'extension'],
    dialect: 'skills',
    verified: true,
    // A client that does not declare the extension is shown the manifests only.
    dialectOfOthers: 'manifest',
    // It does not start on a skill with a date in its frontmatter.
    without: 'acme/billing/refunds',
  },
  {
    name: 'FastMCP, manifests',
    from: () => install.pip('fastmcp'),
    args: ['fastmcp_skills.py', 'manifest'],
    dialect: 'manifest',
    verified: true,
  },
  {
    name: 'Python SDK 1, index',
    from: () => install.pip('mcp'),
    args: ['python_sdk.py', 'index'],
    dialect: 'index-json',
    verified: false,
  },
  {
    name: 'Python SDK 1, probed',
    from: () => install.pip('mcp'),
    args: ['python_sdk.py', 'plain'],
    dialect: 'resources',
    verified: false,
    options: { probe: true },
  },
];

const installed = new Map();
const rows = [['server', 'transport', 'protocol', 'dialect', 'skills', 'tree', 'bytes', 'verified']];
let failed = 0;
for (const server of servers.filter(({ name }) => name.includes(process.argv[2] ?? ''))) {
  const command = commandOf(server);
  if (typeof command === 'string') {
    console.log(`skipped ${server.name}: ${command}`);
    continue;
  }
  for (const transport of ['stdio', 'HTTP']) {
    for (const era of ['auto', 'SDK 1']) {
      const row = await outcome(server, command, transport, era).catch((error) => [error.message]);
      if (row.length !== 6 || row.includes('wrong')) failed++;
      rows.push([server.name, transport, ...(row.length === 6 ? row : [era, ...row])]);
    }
  }
}
const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => String(row[column] ?? '').length)));
for (const row of rows) console.log(row.map((cell, column) => String(cell).padEnd(widths[column])).join('  '));
console.log(failed === 0 ? 'all as expected' : `${failed} not as expected`);
process.exit(failed === 0 ? 0 : 1);

/** The fixtures, or a copy that lacks one skill. */
function directoryFor(without) {
  if (without === undefined) return fixtures;
  const copy = mkdtempSync(join(tools, 'skills-'));
  cpSync(fixtures, copy, { recursive: true });
  rmSync(join(copy, without), { recursive: true });
  return copy;
}

function commandOf({ from, args, without }) {
  const key = String(from);
  try {
    if (!installed.has(key)) installed.set(key, from());
    return installed.get(key)([...args, directoryFor(without)]);
  } catch (error) {
    return `it could not be installed: ${String(error.stderr ?? error.message)
      .trim()
      .split('\n')
      .at(-1)}`;
  }
}

async function outcome(server, [command, args], transport, era) {
  const port = await freePort();
  const child = transport === 'HTTP' ? spawn(command, [...args, String(port)], { stdio: 'ignore' }) : undefined;
  const url = `http://127.0.0.1:${port}/mcp`;
  let client;
  try {
    if (child !== undefined) await listening(port);
    if (era === 'SDK 1') {
      client = new Client({ name: 'wide', version: '1' });
      const stdio = () => new StdioClientTransport({ command, args, stderr: 'ignore' });
      await client.connect(child ? new StreamableHTTPClientTransport(new URL(url)) : stdio());
    }
    const source = client ?? (child ? { url } : { command, args, stderr: 'ignore' });
    const skills = mount({ servers: { s: source }, policy: { grants }, ...server.options });
    try {
      const { dialect, dialectOfOthers = dialect } = server;
      return await compared(skills, { ...server, dialect: era === 'auto' ? dialect : dialectOfOthers });
    } finally {
      await skills.close();
    }
  } finally {
    await client?.close();
    child?.kill();
  }
}

async function compared(skills, { dialect, verified, cannotServe = () => false }) {
  const [status] = await skills.ready();
  if (status.lastError !== undefined) throw status.lastError;
  const found = skills.skills();
  let [tree, bytes] = [found.length > 0, found.length > 0];
  for (const { path } of found) {
    const directory = join(fixtures, path.slice('/mcp/s/'.length));
    const files = filesBelow(directory);
    const mounted = await skills.promises.readdir(path, { recursive: true, withFileTypes: true });
    const names = mounted.filter((entry) => entry.isFile());
    tree &&=
      JSON.stringify(names.map((entry) => join(entry.parentPath, entry.name).slice(path.length + 1)).sort()) ===
      JSON.stringify(files);
    for (const file of files) {
      const read = await skills.promises.readFile(`${path}/${file}`).catch((error) => error.code);
      bytes &&= cannotServe(file) ? read === 'EIO' : readFileSync(join(directory, file)).equals(read);
    }
  }
  const isVerified = found.every(({ content }) => content === 'verified');
  return [
    status.protocolVersion ?? '2025, SDK 1',
    status.dialect === dialect ? dialect : `wrong: ${status.dialect}`,
    found.length,
    tree ? 'same' : 'wrong',
    bytes ? 'same' : 'wrong',
    isVerified === verified ? (verified ? 'yes' : 'no') : 'wrong',
  ];
}

function filesBelow(directory) {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1)).sort();
}

function run(command, args, cwd = tools) {
  execFileSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8' });
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** Waits until something answers at the port, for half a minute at most. */
async function listening(port) {
  const until = Date.now() + 30_000;
  for (;;) {
    try {
      await fetch(`http://127.0.0.1:${port}/`);
      return;
    } catch (error) {
      if (Date.now() > until) throw new Error('it does not listen', { cause: error });
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
