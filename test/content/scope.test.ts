import { homedir } from 'node:os';
import { Client } from '@modelcontextprotocol/client';
import { describe, expect, test } from 'vitest';
import { cacheDirectory } from '../../src/content/disk/location.ts';
import { settleDirectory } from '../../src/content/disk/private-directory.ts';
import { isScopeId, scopeOf } from '../../src/content/disk/scope.ts';
import type { ServerConfig } from '../../src/protocol/server-config.ts';
import { temporaryDirectory } from './support.ts';

const stdio = { command: 'node', args: ['a.js', 'b'], env: { TOKEN: 'secret' } };
const http = { url: 'https://example.com/mcp', headers: { Authorization: 'Bearer secret' } };

const id = (label: string, source: ServerConfig, cwd = '/w') => scopeOf(label, source, undefined, cwd)?.id;

test('CACHE-2: the same server with the same credentials has the same scope, in whatever order it is written down', () => {
  expect(id('s', { env: { TOKEN: 'secret' }, args: ['a.js', 'b'], command: 'node' })).toBe(id('s', stdio));
  expect(id('s', { ...stdio, stderr: 'ignore' })).toBe(id('s', stdio));
  expect(id('s', { ...stdio, cwd: '/w' })).toBe(id('s', stdio));
  expect(id('s', http, '/elsewhere')).toBe(id('s', http));
});

describe('CACHE-2, MAP-5: every difference is another scope', () => {
  test.each<[string, string, ServerConfig, string?]>([
    ['label', 't', stdio],
    ['command', 's', { ...stdio, command: 'deno' }],
    ['arguments', 's', { ...stdio, args: ['a.js b'] }],
    ['variable', 's', { ...stdio, env: { TOKEN: 'other' } }],
    ['no variable', 's', { command: 'node', args: ['a.js', 'b'] }],
    ['working directory', 's', stdio, '/elsewhere'],
    ['url', 's', http],
    ['header', 's', { ...http, headers: { Authorization: 'Bearer other' } }],
    ['user in the url', 's', { ...http, url: 'https://me@example.com/mcp' }],
    ['no header', 's', { url: http.url }],
  ])('%s', (_name, label, source, cwd) => {
    const scope = id(label, source, cwd);
    expect(scope).toSatisfy(isScopeId);
    const seen = [id('s', stdio), ...(label === 's' && 'url' in source && source !== http ? [id('s', http)] : [])];
    expect(seen).not.toContain(scope);
  });
});

test('a source that is more than data has no scope but by a key', () => {
  const client = new Client({ name: 'test', version: '1' });
  expect(scopeOf('s', client)).toBeUndefined();
  expect(scopeOf('s', { url: http.url, fetch: () => undefined })).toBeUndefined();
  expect(scopeOf('s', client, 'acme as ann')?.id).toSatisfy(isScopeId);
  expect(scopeOf('s', client, 'acme as ann')?.id).not.toBe(scopeOf('s', client, 'acme as bob')?.id);
  expect(scopeOf('s', { key: 'acme' })?.label).toBe('s');
});

describe('the user’s cache directory', () => {
  test.each<[NodeJS.Platform, Record<string, string>, string, string]>([
    ['linux', {}, '/home/ann', '/home/ann/.cache/skillfs'],
    ['linux', { XDG_CACHE_HOME: '/fast' }, '/home/ann', '/fast/skillfs'],
    ['linux', { XDG_CACHE_HOME: 'relative' }, '/home/ann', '/home/ann/.cache/skillfs'],
    ['linux', { XDG_CACHE_HOME: '' }, '/home/ann', '/home/ann/.cache/skillfs'],
    ['freebsd', {}, '/home/ann', '/home/ann/.cache/skillfs'],
    ['darwin', { XDG_CACHE_HOME: '/fast' }, '/Users/ann', '/Users/ann/Library/Caches/skillfs'],
    ['win32', { LOCALAPPDATA: 'D:\\Local' }, 'C:\\Users\\Ann', 'D:\\Local\\skillfs\\Cache'],
    ['win32', {}, 'C:\\Users\\Ann', 'C:\\Users\\Ann\\AppData\\Local\\skillfs\\Cache'],
  ])('%s %j', (platform, env, home, expected) => {
    expect(cacheDirectory({ platform, env, home })).toBe(expected);
  });

  test('CACHE-1: is no place where agents look for skills', () => {
    const { platform, env } = process;
    const path = cacheDirectory({ platform, env, home: homedir() });
    expect(() => settleDirectory(path, process.getuid?.())).not.toThrow();
  });
});

test('CACHE-1: a directory of another user is refused', () => {
  const directory = temporaryDirectory();
  const other = (process.getuid?.() ?? 0) + 1;
  expect(() => settleDirectory(directory, other)).toThrow(/it belongs to the user \d+, not to \d+/);
});
