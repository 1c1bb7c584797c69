import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { serversOf } from '../../src/cli/config/servers.ts';
import { splitCommand } from '../../src/cli/config/split-command.ts';
import { UsageError } from '../../src/cli/failures.ts';
import { printable } from '../../src/cli/output.ts';
import { expand } from '../../src/config/expand.ts';
import { discover, readConfig } from '../../src/config/files.ts';

describe('a command line is split as a shell splits it, and nothing is expanded', () => {
  test.each([
    ['node server.js --flag', ['node', 'server.js', '--flag']],
    ['  a   b\tc ', ['a', 'b', 'c']],
    [`a 'b c' "d e"`, ['a', 'b c', 'd e']],
    [`a'b'"c"d`, ['abcd']],
    [String.raw`a\ b "c\"d" 'e\f'`, ['a b', 'c"d', String.raw`e\f`]],
    [`'' ""`, ['', '']],
    ['$HOME `x` *', ['$HOME', '`x`', '*']],
  ])('%s', (line, words) => {
    expect(splitCommand(line)).toEqual(words);
  });

  test('any words survive being quoted', () => {
    const word = fc.string({ maxLength: 12 });
    fc.assert(
      fc.property(fc.array(word), (words) => {
        const line = words.map((one) => `'${one.replaceAll("'", `'"'"'`)}'`).join(' ');
        expect(splitCommand(line)).toEqual(words);
      }),
    );
  });

  test('a quote that is not closed says where it begins', () => {
    expect(() => splitCommand(`node 'server`)).toThrow('character 6');
  });
});

describe('variables are expanded', () => {
  const variables = { env: { TOKEN: 'secret', EMPTY: '' }, workspaceFolder: '/project' };
  test.each([
    ['${TOKEN}', 'secret'],
    ['Bearer ${TOKEN}!', 'Bearer secret!'],
    ['${env:TOKEN}', 'secret'],
    ['${NONE:-fallback}', 'fallback'],
    ['${NONE:-}', ''],
    ['${EMPTY:-fallback}', 'fallback'],
    ['${EMPTY}', ''],
    ['${TOKEN:-fallback}', 'secret'],
    ['${NONE:-http://x:80/y}', 'http://x:80/y'],
    ['${workspaceFolder}/bin', '/project/bin'],
    ['$TOKEN', '$TOKEN'],
  ])('%s', (text, expanded) => {
    expect(expand({ args: [text] }, variables)).toEqual({ args: [expanded] });
  });

  test('a variable without value or default names key and variable', () => {
    expect(() => expand({ headers: { Authorization: '${NONE}' } }, variables)).toThrow(/headers\.Authorization.*NONE/);
    expect(() => expand({ args: ['x', '${input:token}'] }, variables)).toThrow(/args\[1\].*input:token.*not supported/);
  });
});

function directory(files: Record<string, string>): string {
  const made = mkdtempSync(join(tmpdir(), 'skillfs-config-'));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(made, path, '..'), { recursive: true });
    writeFileSync(join(made, path), text);
  }
  return made;
}

test('servers are found where users have them, comments and trailing commas included; the first of a label counts', () => {
  const here = directory({
    '.mcp.json': JSON.stringify({
      mcpServers: { a: { command: 'a', args: ['${X:-1}'], env: { K: 'v' } }, both: { command: 'one' } },
    }),
    '.vscode/mcp.json': `{
      // what this project uses
      "servers": {
        "b": { "type": "http", "url": "https://\${HOST}/mcp", "headers": { "X": "y" }, },
        "both": { "command": "two" },
      },
    }`,
    '.cursor/mcp.json': JSON.stringify({
      mcpServers: { c: { command: 'c', cwd: '${workspaceFolder}/c', alwaysAllow: [] } },
    }),
  });
  const { servers, remarks } = discover(here, { HOST: 'example.com' });
  expect(Object.fromEntries(servers)).toEqual({
    a: { command: 'a', args: ['1'], env: { K: 'v' } },
    both: { command: 'one' },
    b: { url: 'https://example.com/mcp', headers: { X: 'y' } },
    c: { command: 'c', cwd: `${here}/c` },
  });
  expect(remarks).toEqual([
    {
      kind: 'repeated',
      message: expect.stringMatching(/^\.vscode\/mcp\.json: the server "both" is in an earlier file/),
    },
  ]);
});

test('a bad server costs itself only, and each says file, label and key', () => {
  const { servers, remarks } = readConfig(
    JSON.stringify({
      mcpServers: {
        good: { command: 'x' },
        undefinedVariable: { command: 'x', args: ['${NOPE}'] },
        old: { type: 'sse', url: 'https://x' },
        neither: {},
        wrongArgs: { command: 'x', args: 'y' },
        badUrl: { url: 'ftp://x' },
        'a/b': { command: 'x' },
        text: 'x',
        off: { command: 'x', disabled: true },
      },
    }),
    'servers.json',
    '/',
    {},
  );
  expect([...servers.keys()]).toEqual(['good']);
  expect(remarks.at(-1)).toEqual({ kind: 'disabled', message: expect.stringContaining('"off"') });
  expect(remarks.slice(0, -1).map(({ kind }) => kind)).toEqual(Array(7).fill('unusable'));
  expect(remarks.slice(0, -1).map(({ message }) => message)).toEqual([
    expect.stringMatching(/^servers\.json: server "undefinedVariable": args\[0\].*NOPE/),
    expect.stringMatching(/"old".*SSE/),
    expect.stringMatching(/"neither".*neither a command nor a url/),
    expect.stringMatching(/"wrongArgs".*\.args/),
    expect.stringMatching(/"badUrl".*\.url.*http/),
    expect.stringMatching(/"a\/b".*slash/),
    expect.stringMatching(/"text".*object/),
  ]);
});

test('a file that is not JSON says so, with its line', () => {
  expect(readConfig('{\n  "mcpServers": {\n    nope\n', 'x.json', '/', {}).remarks[0]?.message).toMatch(
    /^x\.json:3: not JSON/,
  );
  expect(readConfig('[]', 'x.json', '/', {}).remarks[0]?.message).toMatch(/mcpServers/);
});

test('servers on the command line', () => {
  const { servers } = serversOf(
    { server: ['a=node "my server.js" --x', 'b=https://example.com/mcp'], header: ['b:Authorization=Bearer t=1'] },
    '/',
    {},
  );
  expect(Object.fromEntries(servers)).toEqual({
    a: { command: 'node', args: ['my server.js', '--x'] },
    b: { url: 'https://example.com/mcp', headers: { Authorization: 'Bearer t=1' } },
  });
});

test("the workspace of a file an editor keeps is the directory above the editor's own", () => {
  const text = JSON.stringify({ servers: { a: { command: '${workspaceFolder}/run' } } });
  const here = directory({ '.vscode/mcp.json': text, 'mine.json': text });
  for (const file of ['.vscode/mcp.json', 'mine.json']) {
    const { servers } = serversOf({ config: join(here, file) }, '/', {});
    expect(servers.get('a')).toEqual({ command: `${here}/run` });
  }
});

test('a server given with --server counts before one of the same label in --config, and that is said', () => {
  const here = directory({ 'x.json': JSON.stringify({ mcpServers: { a: { command: 'file' }, b: { command: 'b' } } }) });
  const { servers, remarks } = serversOf({ config: join(here, 'x.json'), server: ['a=given'] }, '/', {});
  expect(Object.fromEntries(servers)).toEqual({ a: { command: 'given', args: [] }, b: { command: 'b' } });
  expect(remarks).toEqual([{ kind: 'repeated', message: expect.stringContaining('"a" is given with --server too') }]);
});

test('what is wrong with a header is said without its value', () => {
  for (const header of ['a:Authorization=s3cret', 'other:Authorization=s3cret', 'a=s3cret']) {
    expect(() => serversOf({ server: ['a=x'], header: [header] }, '/', {})).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('s3cret') }),
    );
  }
});

test.each([
  [{ server: ['nolabel'] }, /expected label=/],
  [{ server: ['=x'] }, /expected label=/],
  [{ server: ['a='] }, /--server a/],
  [{ server: ["a=node 'x"] }, /not closed/],
  [{ server: ['a=x'], header: ['broken'] }, /--header broken/],
  [{ server: ['a=x', 'a=y'] }, /--server a: is given twice/],
  [{ server: ['a=https://x'], header: ['b:X=y'] }, /--header b: there is no --server b=https/],
  [{ server: ['a=x'], header: ['a:X=y'] }, /--header a: there is no --server a=https/],
  [{ server: ['a=https://'] }, /--server a: server\.url/],
  [{ config: '/no/such/file' }, /--config \/no\/such\/file: ENOENT/],
])('what cannot be used is a usage error: %j', (options, message) => {
  const here = directory({});
  expect(() => serversOf(options, here, {})).toThrow(UsageError);
  expect(() => serversOf(options, here, {})).toThrow(message);
});

test('what a server says never reaches a terminal as a command', () => {
  expect(printable('a\u001b[31mb\u0007\u009b\u202e\u{e0041}\nc')).toBe(
    'a\\x1b[31mb\\x07\\x9b\\u{202e}\\u{e0041}\\x0ac',
  );
  expect(printable('plain – 日本語')).toBe('plain – 日本語');
});
