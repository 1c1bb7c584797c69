import fs, { type Dirent } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Fault } from '../../src/base/fault.ts';
import { createNodeFs } from '../../src/node/index.ts';
import { bothSides, fetching, rejected, thrown } from './facades.ts';
import { driver, MemoryReadFs } from './memory-read-fs.ts';
import { FILES } from './mirrored.ts';

const sides = bothSides();

type Options = { cwd?: string | URL; withFileTypes?: boolean; exclude?: unknown };
type Globbing = {
  globSync(patterns: unknown, options?: Options): (string | Dirent)[];
  glob(patterns: unknown, ...rest: unknown[]): void;
  promises: { glob(patterns: unknown, options?: Options): AsyncIterable<string> };
};

async function all(matches: AsyncIterable<string>): Promise<string[]> {
  const found: string[] = [];
  for await (const match of matches) found.push(match);
  return found;
}

function globbing(side: object): Globbing {
  return side as Globbing;
}

test('is there where node:fs has it', () => {
  expect('globSync' in sides.ours).toBe('globSync' in fs);
  expect('glob' in sides.ours.promises).toBe('glob' in fs.promises);
});

describe.runIf('globSync' in fs)('glob', () => {
  test.each([
    ...['**', '*', '**/*.md', 'acme/*', 'acme/**', 'acme/**/', '*/', '{acme,notes}*', 'acme/{billing,empty}'],
    ...['acme/{billing/refunds,empty}/**', 'acme/billing/refunds/SKILL.md', 'missing/*', './acme/*', '*/../*'],
    ...[
      'acme/../notes/*',
      'acme/./billing',
      '**/.hidden/*',
      '.*',
      'notes/.*/*',
      '[an]*',
      'note?',
      '!(acme)',
      '@(a|acme)',
    ],
    ...['', '.', '..', 'acme', 'acme/', 'acme//billing', 'notes/large.txt/', 'notes/large.txt/*', '**/refunds/**'],
    ...[
      'acme/**/SKILL.md',
      '{1..3}',
      '**/空 白.md',
      'acme/**/**/*.png',

      'acme/{b{illing/refunds,x},empty}/*',
    ],
  ])('finds for %j what node:fs finds', async (pattern) => {
    const [ours, theirs] = [globbing(sides.ours), globbing(fs)];
    const expected = theirs.globSync(pattern).sort();
    expect(ours.globSync(pattern).sort()).toEqual(expected);
    expect((await all(ours.promises.glob(pattern))).sort()).toEqual(expected);
    const found = await new Promise<string[]>((resolve, reject) =>
      ours.glob(pattern, (error: unknown, matches: string[]) => (error ? reject(error) : resolve(matches))),
    );
    expect(found.sort()).toEqual(expected);
    const absolute = join(sides.root, pattern);
    expect(ours.globSync(absolute).sort()).toEqual(theirs.globSync(absolute).sort());
  });

  test.each([
    [['notes/*', 'acme/*', 'notes/**'], {}],
    ['*', { cwd: 'acme' }],
    ['*', { cwd: 'missing' }],
    ['**', { exclude: ['acme/billing/**', '**/*.txt'] }],
    ['**', { exclude: ['acme/billing'] }],
    ['acme/billing/refunds/SKILL.md', { exclude: ['acme/billing'] }],
    ['**', { exclude: (name: string) => name === 'billing' }],
  ] as const)('takes patterns %j and options %j as node:fs does', (patterns, options) => {
    const found = (side: object) =>
      globbing(side)
        .globSync(patterns, options as Options)
        .sort();
    expect(found(sides.ours)).toEqual(found(fs));
  });

  test('gives entries that know where they are', () => {
    const found = (side: object) =>
      globbing(side)
        .globSync('acme/**', { withFileTypes: true })
        .map((entry) => entry as Dirent)
        .filter((entry) => entry.name !== 'acme')
        .map((entry) => [join(sides.root, entry.parentPath.replace(sides.root, ''), entry.name), entry.isFile()])
        .sort();
    expect(found(sides.ours)).toEqual(found(fs));
  });

  test.each([[7], [null], [undefined], [[7]], ['*', { exclude: 7 }], ['*', { cwd: 7 }], ['*', 7], ['*', null]])(
    'checks its arguments as node:fs does: %j, %j',
    (...args) => {
      const failure = (side: object) => thrown(() => globbing(side).globSync(args[0], args[1] as Options));
      expect(failure(sides.ours)).toEqual(failure(fs));
    },
  );

  test('looks only where the pattern leads, and at no file (LAZY-1)', async () => {
    const { ours, requests } = fetching();
    expect(globbing(ours).globSync('/mcp/s/*/*')).toHaveLength(3);
    expect(await all(globbing(ours).promises.glob('/mcp/s/**/SKILL.md'))).toHaveLength(1);
    expect(requests).toEqual([]);
  });

  test('tells of a failure, which is not absence', async () => {
    const core = new MemoryReadFs('/mcp/s', FILES);
    core.readdir = () => {
      throw new Fault('EHOSTUNREACH');
    };
    const ours = globbing(createNodeFs(core, driver, { mountPoint: '/mcp' }));
    const expected = { code: 'EHOSTUNREACH', syscall: 'scandir', path: '/mcp' };
    expect(thrown(() => ours.globSync('/mcp/*/SKILL.md'))).toMatchObject(expected);
    expect(await rejected(all(ours.promises.glob('/mcp/*/SKILL.md')))).toMatchObject(expected);
  });
});
