import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, test } from 'vitest';

const src = join(import.meta.dirname, '../src');

/** What the files of a folder may import, next to their own folder. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  base: [],
  protocol: ['base'],
  catalog: ['base'],
  content: ['base', 'catalog'],
  pager: ['base', 'protocol', 'catalog', 'content'],
  vfs: ['base', 'catalog', 'content', 'pager/port.ts'],
  node: ['base', 'vfs'],
  policy: ['base', 'catalog'],
  adapters: ['base', 'node'],
  prompt: ['base', 'mount.ts'],
  config: ['base', 'protocol', 'content', 'options.ts'],
  views: ['base', 'catalog', 'vfs', 'node', 'mount.ts', 'mounted.ts', 'options.ts'],
  export: ['content', 'views', 'mount.ts', 'mounted.ts', 'options.ts'],
  patch: ['base', 'config', 'node', 'vfs', 'views', 'mount.ts', 'mounted.ts', 'options.ts'],
};

/** These folders run where there is no Node; only the stdio connection needs it. */
const WITHOUT_NODE = ['base', 'catalog', 'vfs', 'protocol'];

interface Import {
  readonly file: string;
  readonly from: string;
}

function importsOf(file: string): Import[] {
  const source = readFileSync(join(src, file), 'utf8');
  return [...source.matchAll(/^\s*(?:import|export)\b[^;]*?\bfrom\s+'([^']+)'|\bimport\('([^']+)'\)/gm)].map(
    ([, statement, call]) => ({ file, from: statement ?? call ?? '' }),
  );
}

const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
const imports = files.flatMap(importsOf);

test('folders import only what the architecture grants them', () => {
  const broken = imports.filter(({ file, from }) => {
    const folder = file.split('/')[0] ?? '';
    const granted = MAY_IMPORT[folder];
    if (!from.startsWith('.') || granted === undefined) return false;
    const target = relative(src, join(src, dirname(file), from));
    return !target.startsWith(`${folder}/`) && !granted.some((one) => target === one || target.startsWith(`${one}/`));
  });
  expect(broken).toEqual([]);
});

test('the core does not import Node built-ins', () => {
  const broken = imports.filter(
    ({ file, from }) => WITHOUT_NODE.includes(file.split('/')[0] ?? '') && from.startsWith('node:'),
  );
  expect(broken).toEqual([]);
});

test('every file below src was looked at', () => {
  expect(imports.length).toBeGreaterThan(files.length / 2);
});
