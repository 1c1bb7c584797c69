import { describe, expect, test } from 'vitest';
import { mount } from '../../src/mount.ts';
import { OptionsError } from '../../src/options.ts';
import { connectScript, scriptedSkill } from '../support/scripted-server.ts';

function http(headers: Record<string, string>): unknown {
  return { servers: { a: { url: 'http://x', headers } } };
}

const bad: [name: string, options: unknown, message: RegExp][] = [
  ['no options', undefined, /^options: /],
  ['no servers', {}, /^servers: /],
  ['an unknown key', { servers: {}, mountpoint: '/x' }, /mountpoint/],
  ['a relative mount point', { servers: {}, mountPoint: 'mcp' }, /^mountPoint: expected an absolute/],
  ['a mount point with dots', { servers: {}, mountPoint: '/a/../b' }, /^mountPoint: /],
  ['a trailing slash', { servers: {}, mountPoint: '/mcp/' }, /^mountPoint: /],
  ['a wrong limit', { servers: {}, limits: { files: 0 } }, /^limits\.files: /],
  ['a wrong policy', { servers: {}, limits: { over: 'maybe' } }, /^limits\.over: /],
  ['a wrong deadline', { servers: {}, deadlines: { request: -1 } }, /^deadlines\.request: /],
  ['a server that is nothing', { servers: { a: null } }, /^servers\["a"\]: expected/],
  ['a server that is no server', { servers: { a: {} } }, /^servers\["a"\]: has neither a command nor a url/],
  ['two ways at once', { servers: { a: { command: 'x', url: 'http://x' } } }, /^servers\["a"\]: has both/],
  ['arguments that are no list', { servers: { a: { command: 'x', args: 'y' } } }, /^servers\["a"\]\.args: /],
  ['an argument that is no text', { servers: { a: { command: 'x', args: ['y', 1] } } }, /^servers\["a"\]\.args\[1\]: /],
  ['a variable that is no text', { servers: { a: { command: 'x', env: { K: 1 } } } }, /^servers\["a"\]\.env\.K: /],
  ['a misspelt key', { servers: { a: { command: 'x', arguments: [] } } }, /^servers\["a"\]: .*arguments/],
  ['an empty command', { servers: { a: { command: '' } } }, /^servers\["a"\]\.command: /],
  ['a URL of another kind', { servers: { a: { url: 'file:///x' } } }, /^servers\["a"\]\.url: expected an http/],
  ['no URL', { servers: { a: { url: 'example' } } }, /^servers\["a"\]\.url: /],
  [
    'a provider that gives no token',
    { servers: { a: { url: 'http://x', authProvider: {} } } },
    /^servers\["a"\]\.authProvider: expected an AuthProvider/,
  ],
  [
    'a fetch that is none',
    { servers: { a: { url: 'http://x', fetch: 1 } } },
    /^servers\["a"\]\.fetch: expected a function/,
  ],
  [
    'a header with a line end',
    http({ Authorization: 'secret\r\nX: y' }),
    /^servers\["a"\]\.headers\.Authorization: has a value/,
  ],
  ['a header with a NUL', http({ 'X-A': 'secret\0' }), /^servers\["a"\]\.headers\.X-A: has a value/],
  ['a header that is not Latin-1', http({ 'X-A': 'secret☃' }), /^servers\["a"\]\.headers\.X-A: has a value/],
  ['a name that is no header’s', http({ 'X A': 'secret' }), /^servers\["a"\]\.headers\.X A: is no name/],
  ['a name with a line end', http({ 'X\r\nA': 'secret' }), /headers\.X\r\nA: is no name/],
  [
    'a header that breaks connections',
    http({ 'Content-Length': '5' }),
    /headers\.Content-Length: is set by the connection/,
  ],
  [
    'credentials in a URL',
    { servers: { a: { url: 'http://me:secret@x/mcp' } } },
    /^servers\["a"\]\.url: expected a URL without/,
  ],
  [
    'a NUL in an argument',
    { servers: { a: { command: 'x', args: ['secret\0'] } } },
    /^servers\["a"\]\.args\[0\]: expected no NUL/,
  ],
  [
    'a NUL in a variable',
    { servers: { a: { command: 'x', env: { K: 'secret\0' } } } },
    /^servers\["a"\]\.env\.K: expected no NUL/,
  ],
  [
    'a variable that sets another',
    { servers: { a: { command: 'x', env: { 'A=B': 'secret' } } } },
    /^servers\["a"\]\.env\.A=B: Invalid key/,
  ],
  ['an empty label', { servers: { '': { command: 'x' } } }, /label "" cannot be a directory name/],
  ['dots as a label', { servers: { '..': { command: 'x' } } }, /label "\.\." cannot be/],
  ['a slash in a label', { servers: { 'a/b': { command: 'x' } } }, /label "a\/b" .*slash/],
  ['NUL in a label', { servers: { 'a\0': { command: 'x' } } }, /control character/],
  ['a label that is too long', { servers: { ['x'.repeat(256)]: { command: 'x' } } }, /255 bytes/],
];

describe('a bad option names its key, and nothing is started', () => {
  test.each(bad)('%s', (_name, options, message) => {
    expect(() => mount(options as never)).toThrow(OptionsError);
    expect(() => mount(options as never)).toThrow(message);
    expect(() => mount(options as never)).not.toThrow(/secret/);
    expect(() => mount(options as never)).toThrow(expect.objectContaining({ code: 'ERR_SKILLFS_OPTIONS' }));
  });
});

test.each(['a b', 'ünï', '日本', '__proto__', 'constructor', '@x', '%40', '-'])(
  'MAP-5: the label %j is a directory',
  async (label) => {
    const { client, close } = await connectScript({ skills: [scriptedSkill('tool')] });
    const servers = JSON.parse(`{${JSON.stringify(label)}:0}`);
    Object.defineProperty(servers, label, { value: client, enumerable: true });
    const mounted = mount({ servers });
    expect(await mounted.promises.readdir('/mcp')).toEqual([label]);
    expect(await mounted.promises.readFile(`/mcp/${label}/tool/SKILL.md`, 'utf8')).toContain('name: tool');
    expect(mounted.originOf(`/mcp/${label}/tool`)).toMatchObject({ label });
    await mounted.close();
    await close();
  },
);

test.each(['/', '/skills', '/a/b/c'])(
  'the mount point %j and everything above it can be looked at',
  async (mountPoint) => {
    const { client, close } = await connectScript({ skills: [scriptedSkill('tool')] });
    const mounted = mount({ servers: { s: client }, mountPoint });
    const path = mounted.pathOf('s', 'skill://tool/SKILL.md');
    expect(path).toBe(`${mountPoint === '/' ? '' : mountPoint}/s/tool/SKILL.md`);
    for (let above = path; above !== ''; above = above.slice(0, above.lastIndexOf('/'))) {
      expect((await mounted.promises.stat(above)).ino).toBeGreaterThan(0);
    }
    expect((await mounted.promises.readdir('/', { recursive: true })).at(-1)).toBe(path.slice(1));
    expect(await mounted.promises.readFile(path, 'utf8')).toContain('name: tool');
    await mounted.close();
    await close();
  },
);

test('a mount is closed at the end of its scope, its servers’ clients stay the host’s, and what is in memory stays', async () => {
  const { client, close } = await connectScript({ skills: [scriptedSkill('tool', { 'x.md': 'x' })] });
  let fs: ReturnType<typeof mount>['fs'];
  {
    await using mounted = mount({ servers: { s: client } });
    await mounted.preload();
    fs = mounted.fs;
  }
  expect(fs.readFileSync('/mcp/s/tool/x.md', 'utf8')).toBe('x');
  await using again = mount({ servers: { s: client } });
  expect(await again.promises.readFile('/mcp/s/tool/x.md', 'utf8')).toBe('x');
  await close();
});

test('after close, what would have to be asked fails, and closing twice is fine', async () => {
  const { client, close } = await connectScript({ skills: [scriptedSkill('tool')] });
  const mounted = mount({ servers: { s: client, dead: { command: process.execPath } } });
  await mounted.close();
  await mounted.close();
  for (const label of ['s', 'dead']) {
    await expect(mounted.promises.readdir(`/mcp/${label}`)).rejects.toMatchObject({
      code: 'EIO',
      message: expect.stringContaining('closed'),
    });
  }
  await close();
});
