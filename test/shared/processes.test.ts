import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { settingsOf } from '../../src/config/settings.ts';
import { redisStore } from '../../src/content/redis-store.ts';
import { type HttpScript, httpScript } from '../support/http-script.ts';
import { rejection } from '../support/mounted.ts';
import { scriptedSkill } from '../support/scripted-server.ts';

const dist = (file: string) => new URL(`../../dist/${file}`, import.meta.url);
const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
const [, documentedModule = ''] = /```js\n(\/\/ shared-directory\.mjs[\s\S]*?)```/.exec(readme) ?? [];

const skills = Array.from({ length: 6 }, (_, index) =>
  scriptedSkill(`acme/skill-${index}`, { 'more.bin': `${index}\0` }),
);
const FILES = skills.length * 2;

/** A program that reads everything, synchronously, and says what it saw and what was reported. */
const AGENT = `
import { mount } from '${dist('index.js').href}';
const [url, shared] = process.argv.slice(2);
const skills = mount({ servers: { s: { url } }, shared: JSON.parse(shared), listen: false });
const problems = [];
skills.on('diagnostic', ({ code, message }) => code === 'shared' && problems.push(message));
const seen = {};
for (const name of skills.fs.readdirSync('/mcp/s', { recursive: true })) {
  const path = '/mcp/s/' + name;
  if (skills.fs.statSync(path).isFile()) seen['skill://' + name] = skills.fs.readFileSync(path, 'utf8');
}
await skills.close();
console.log(JSON.stringify({ seen, problems }));
`;

function project(files: Record<string, string> = {}): string {
  const directory = mkdtempSync(join(tmpdir(), 'skillfs-shared-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) writeFileSync(join(directory, name), content);
  return directory;
}

async function run(cwd: string, args: readonly string[]) {
  const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const [stdout, stderr, status] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { status, stdout, stderr };
}

/** Runs an agent in a process of its own. */
async function agent(cwd: string, server: HttpScript, shared: object) {
  const { status, stdout, stderr } = await run(cwd, ['agent.mjs', server.url, JSON.stringify(shared)]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return JSON.parse(stdout) as { seen: Record<string, string>; problems: string[] };
}

const published = Object.assign({}, ...skills.map(({ files }) => files)) as Record<string, string>;
const reads = ({ messages }: HttpScript) => messages.filter((method) => method === 'resources/read').length;

describe('the module that the README shows', () => {
  test('LAZY-2, VER-1: a second process reads everything without resources/read, and a poisoned store is noticed', async () => {
    const server = await httpScript({ skills });
    const cwd = project({ 'agent.mjs': AGENT, 'shared-directory.mjs': documentedModule });
    const directory = join(cwd, 'store');
    const shared = { module: './shared-directory.mjs', options: { directory } };
    expect(await agent(cwd, server, shared)).toEqual({ seen: published, problems: [] });
    expect(reads(server)).toBe(FILES);

    server.messages.length = 0;
    expect(await agent(cwd, server, shared)).toEqual({ seen: published, problems: [] });
    expect(reads(server)).toBe(0);

    for (const name of readdirSync(directory)) writeFileSync(join(directory, name), 'poison');
    const third = await agent(cwd, server, shared);
    expect(third.seen).toEqual(published);
    expect(third.problems).toHaveLength(FILES);
    expect(reads(server)).toBe(FILES);
  });
});

describe('a module that makes no store costs nothing but a diagnostic', () => {
  const modules: [name: string, code: string | undefined, message: RegExp][] = [
    ['is not there', undefined, /store\.mjs/],
    ['does not load', 'throw new Error("broken")', /broken/],
    ['has no default export', 'export const store = 1', /no function as its default export/],
    ['makes something else', 'export default () => ({ get() {} })', /methods get, put and delete/],
    ['never loads', 'await new Promise((resolve) => setTimeout(resolve, 1e9))', /no answer within/],
  ];
  test.each(modules)('%s', async (_, code, message) => {
    const server = await httpScript({ skills });
    const cwd = project({ 'agent.mjs': AGENT, ...(code !== undefined && { 'store.mjs': code }) });
    const { seen, problems } = await agent(cwd, server, { module: './store.mjs' });
    expect(seen).toEqual(published);
    expect(problems[0]).toMatch(message);
  });
});

describe('a Redis that is not there', () => {
  test('costs nothing but a diagnostic', async () => {
    const server = await httpScript({ skills });
    const cwd = project({ 'agent.mjs': AGENT });
    const { seen, problems } = await agent(cwd, server, { redis: 'redis://:secret@127.0.0.1:1' });
    expect(seen).toEqual(published);
    expect(problems[0]).toMatch(/ECONNREFUSED/);
    expect(problems.join()).not.toContain('secret');
  });

  test('rejects what is asked, and nothing else happens', async () => {
    const store = redisStore({ url: 'redis://127.0.0.1:1' });
    for (const asked of [store.get('k'), store.put('k', new Uint8Array(1)), store.delete('k')]) {
      expect(await rejection(asked)).toMatchObject({ code: 'ECONNREFUSED' });
    }
    await store.close?.();
  });
});

describe('on the command line', () => {
  const cli = dist('cli.js').pathname;
  const cat = (url: string) => ['cat', 's/acme/skill-0/more.bin', '--no-cache', '--server', `s=${url}`];

  test('what one command fetched is not fetched by the next', async () => {
    const server = await httpScript({ skills });
    const withoutOptions = documentedModule.replace('({ directory })', "(_, directory = './store')");
    const cwd = project({ 'store.mjs': withoutOptions });
    for (const _ of [1, 2]) {
      const { status, stdout, stderr } = await run(cwd, [cli, ...cat(server.url), '--shared', './store.mjs']);
      expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '0\0', stderr: '' });
    }
    expect(reads(server)).toBe(1);
  });

  test('a store that cannot be used is a warning', async () => {
    const server = await httpScript({ skills });
    const { status, stdout, stderr } = await run(project(), [
      cli,
      ...cat(server.url),
      '--shared',
      'redis://127.0.0.1:1',
    ]);
    expect({ status, stdout }).toEqual({ status: 0, stdout: '0\0' });
    expect(stderr).toMatch(/^skillfs: warning: the shared store cannot be read: .*ECONNREFUSED.*\n$/);
  });

  test('what is no store is a wrong call, told without what may be a password', async () => {
    const { status, stderr } = await run(project(), [cli, ...cat('http://x'), '--shared', 'rediss:secret@host']);
    expect(status).toBe(2);
    expect(stderr).toContain('--shared: expected redis://');
    expect(stderr).not.toContain('secret');
  });
});

describe('in skillfs.json', () => {
  const settings = (shared: unknown, env: NodeJS.ProcessEnv = {}) => {
    const cwd = project({ 'skillfs.json': JSON.stringify({ mcpServers: {}, shared }) });
    const { mount, remarks } = settingsOf(cwd, env) ?? {};
    return { cwd, shared: mount?.shared, remarks: remarks?.map(({ message }) => message) };
  };

  test('variables are expanded, and modules are found beside the file', () => {
    expect(settings({ redis: '${REDIS_URL}' }, { REDIS_URL: 'redis://h' }).shared).toEqual({ redis: 'redis://h' });
    const { cwd, shared } = settings({ module: './store.mjs', options: { a: 1 } });
    expect(shared).toEqual({ module: new URL(`file://${cwd}/store.mjs`).href, options: { a: 1 } });
  });

  test.each([
    [{ redis: '${REDIS_URL}' }, /shared\.redis: the variable REDIS_URL is not set/],
    [{ redis: 'http://h' }, /shared\.redis: expected a redis/],
    ['redis://h', /shared: expected \{redis\}/],
    [{ store: {} }, /shared\.store: expected an object/],
  ])('%j is told of, and nothing is shared', (given, message) => {
    const { shared, remarks } = settings(given);
    expect(shared).toBeUndefined();
    expect(remarks).toEqual([expect.stringMatching(message)]);
  });
});
