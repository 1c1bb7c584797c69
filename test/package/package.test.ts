import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { VERSION } from '../../src/base/version.ts';

const root = new URL('../..', import.meta.url).pathname;
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
let consumer: string;
let packed: { path: string }[];

/** Packs the built package and lays it into a consumer, as an installation would; its dependencies are the checkout's. */
beforeAll(() => {
  consumer = mkdtempSync(join(tmpdir(), 'skillfs-consumer-'));
  const [pack] = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', consumer], {
      cwd: root,
      encoding: 'utf8',
    }),
  );
  packed = pack.files;
  mkdirSync(join(consumer, 'node_modules/skillfs'), { recursive: true });
  execFileSync('tar', [
    '-xzf',
    join(consumer, pack.filename),
    '-C',
    join(consumer, 'node_modules/skillfs'),
    '--strip-components=1',
  ]);
  for (const dependency of [...Object.keys(manifest.dependencies), '@types/node', 'memfs']) {
    mkdirSync(join(consumer, 'node_modules', dependency, '..'), { recursive: true });
    symlinkSync(join(root, 'node_modules', dependency), join(consumer, 'node_modules', dependency));
  }
});
afterAll(() => rmSync(consumer, { recursive: true }));

function run(file: string, source: string): string {
  writeFileSync(join(consumer, file), source);
  return execFileSync(process.execPath, [file], { cwd: consumer, encoding: 'utf8' });
}

/** What the compiler has to say of files of the consumer. */
function typeErrors(...files: string[]): string {
  const strict = '--noEmit --strict --module nodenext --target es2022 --types node --skipLibCheck'.split(' ');
  const tsc = join(root, 'node_modules/.bin/tsc');
  return execFileSync(tsc, [...strict, ...files], { cwd: consumer, encoding: 'utf8' });
}

const use = `
  const mounted = mount({ servers: { s: { command: process.execPath, args: ['node_modules/skillfs/dist/cli.js', 'serve', 'node_modules/skillfs/fixtures/skills'], stderr: 'ignore' } } });
  const [first] = mounted.fs.readdirSync('/mcp/s');
  console.log(typeof first, mounted.fs.readFileSync(mounted.skills()[0].path + '/SKILL.md', 'utf8').slice(0, 3));
`;

test('the packed package is imported as an ES module, and finds its worker', () => {
  const script = `import { mount, OptionsError } from 'skillfs'; import { serveStdio } from 'skillfs/server';
    ${use} await mounted.close(); console.log(typeof serveStdio, OptionsError.name);`;
  expect(run('esm.mjs', script)).toBe('string ---\nfunction OptionsError\n');
});

test('the packed package is required from CommonJS, and finds its worker', () => {
  const script = `const { mount } = require('skillfs'); const { serveStdio } = require('skillfs/server');
    ${use} mounted.close().then(() => console.log(typeof serveStdio));`;
  expect(run('cjs.cjs', script)).toBe('string ---\nfunction\n');
});

test('importing the package loads nothing of the SDK, which is for whoever opens a server', () => {
  const sdk = '@modelcontextprotocol/';
  const hook = `export function resolve(name, context, next) {
    if (name.startsWith('${sdk}')) throw new Error('asked for the SDK');
    return next(name, context);
  }`;
  const esm = `import { register } from 'node:module';
    register('data:text/javascript,' + encodeURIComponent(${JSON.stringify(hook)}));
    const { mount } = await import('skillfs');
    const server = await import('skillfs/server').catch(({ message }) => message);
    console.log(typeof mount, server);`;
  expect(run('without-sdk.mjs', esm)).toBe('function asked for the SDK\n');
  const cjs = `const loaded = () => Object.keys(require.cache).some((file) => file.includes('${sdk}'));
    const { mount } = require('skillfs');
    console.log(typeof mount, loaded());
    require('skillfs/server');
    console.log(loaded());`;
  expect(run('without-sdk.cjs', cjs)).toBe('function false\ntrue\n');
});

test.each([
  [
    'esm',
    'bundle.mjs',
    [
      '--banner:js=import { createRequire as requireFrom } from "node:module"; const require = requireFrom(import.meta.url);',
    ],
  ],
  ['cjs', 'bundle.cjs', []],
])('a program bundled into one file (%s) finds the worker in its installed packages', (format, file, options) => {
  const close = format === 'esm' ? 'await mounted.close();' : 'mounted.close();';
  writeFileSync(join(consumer, 'entry.mjs'), `import { mount } from 'skillfs'; ${use} ${close}`);
  const esbuild = join(root, 'node_modules/.bin/esbuild');
  const shared = [
    'entry.mjs',
    '--bundle',
    '--platform=node',
    '--log-level=error',
    `--format=${format}`,
    `--outfile=${file}`,
  ];
  execFileSync(esbuild, [...shared, ...options], { cwd: consumer });
  expect(execFileSync(process.execPath, [file], { cwd: consumer, encoding: 'utf8' })).toBe('string ---\n');
});

test('types are those a consumer sees, under ESM and CommonJS resolution', () => {
  const source = (how: string) => `${how}
    const mounted: Mount = mount({ servers: { s: { url: 'http://127.0.0.1:1/mcp' } } });
    const text: Promise<string> = mounted.promises.readFile('/mcp/s/x', 'utf8');
    const names: string[] = mounted.fs.readdirSync('/mcp');
    const loader: { readFileSync: typeof import('node:fs').readFileSync } = mounted.fs;
    export { text, names, loader };`;
  writeFileSync(join(consumer, 'esm.mts'), source(`import { mount, type Mount } from 'skillfs';`));
  writeFileSync(join(consumer, 'cjs.cts'), source(`import { mount, type Mount } from 'skillfs';`));
  expect(typeErrors('esm.mts', 'cjs.cts')).toBe('');
});

test('a store in Redis says what to install', () => {
  const script = (how: string) => `${how}
    redisStore({ url: 'redis://127.0.0.1:1' }).get('key').catch(({ message }) => console.log(message));`;
  const message = 'the package "redis" cannot be loaded; install it: npm install redis\n';
  expect(run('redis.mjs', script(`import { redisStore } from 'skillfs/redis';`))).toBe(message);
  expect(run('redis.cjs', script(`const { redisStore } = require('skillfs/redis');`))).toBe(message);
  for (const file of ['redis.d.ts', 'redis.d.cts']) {
    expect(readFileSync(join(root, 'dist', file), 'utf8')).not.toMatch(/from\s*['"](redis|@redis)/);
  }
});

test("the adapters' types need no host", () => {
  const source = (how: string) => `${how}
    import { deepagentsBackend, fastGlobFs, fdirFs, globFs, justBashFs, mastraSkillSource, toVolume } from 'skillfs/adapters';
    const skills = mount({ servers: {} });
    const names: Promise<{ name: string }[]> = mastraSkillSource(skills).readdir('/mcp');
    const listed: Promise<{ error?: string }> = deepagentsBackend(skills).ls('/');
    const text: Promise<string> = justBashFs(skills).readFile('/a');
    const found: string[][] = [fastGlobFs(skills), fdirFs(skills), globFs(skills)].map((fs) => fs.readdirSync('/mcp'));
    const volume: Promise<{ mkdirSync(): void; writeFileSync(): void; mine: 1 }> =
      toVolume(skills, { mkdirSync() {}, writeFileSync() {}, mine: 1 as const });
    export { names, listed, text, found, volume };`;
  writeFileSync(join(consumer, 'adapters.mts'), source(`import { mount } from 'skillfs';`));
  writeFileSync(join(consumer, 'adapters.cts'), source(`import { mount } from 'skillfs';`));
  expect(typeErrors('adapters.mts', 'adapters.cts')).toBe('');
  for (const file of ['adapters.d.ts', 'adapters.d.cts']) {
    const types = readFileSync(join(root, 'dist', file), 'utf8');
    const imported = [...types.matchAll(/(?:from|import)\s*\(?['"]([^'"]+)['"]/g)].map(([, from]) => from ?? '');
    expect(imported.filter((from) => !/^(\.\/|node:)/.test(from))).toEqual([]);
  }
});

test('the package holds what it says, and nothing else', () => {
  const outside = packed.filter(
    ({ path }) => !/^(dist\/|fixtures\/skills\/|README\.md$|SECURITY\.md$|LICENSE$|package\.json$)/.test(path),
  );
  expect(outside).toEqual([]);
  expect(packed.map(({ path }) => path)).toEqual(
    expect.arrayContaining(['dist/worker.js', 'dist/cli.js', 'dist/index.d.cts']),
  );
});

test('the version it tells is that of the package', () => {
  expect(VERSION).toBe(manifest.version);
});

test('publint finds nothing wrong', () => {
  const publint = join(root, 'node_modules/.bin/publint');
  expect(execFileSync(publint, ['--strict', '--pack', 'npm'], { cwd: root, encoding: 'utf8' })).toContain('All good!');
}, 60_000);

test('types resolve for every kind of consumer', () => {
  const attw = join(root, 'node_modules/.bin/attw');
  // These are programs, not modules to import: they have no types, and are for ES modules alone.
  const programs = ['--exclude-entrypoints', './worker', './fuse-server', './register'];
  const options = ['--pack', root, '--profile', 'node16', ...programs, '--format', 'json'];
  const { analysis } = JSON.parse(execFileSync(attw, options, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 }));
  const node10 = ({ resolutionKind }: { resolutionKind?: string }) => resolutionKind === 'node10';
  expect(analysis.problems.filter((problem: { resolutionKind?: string }) => !node10(problem))).toEqual([]);
}, 60_000);

test('the exports are a short list', async () => {
  const [index, server] = [await import('../../src/index.ts'), await import('../../src/server/index.ts')];
  const adapters = await import('../../src/adapters/index.ts');
  expect(Object.keys(adapters).sort()).toEqual([
    ...['deepagentsBackend', 'fastGlobFs', 'fdirFs', 'globFs', 'justBashFs', 'mastraSkillSource', 'toVolume'],
  ]);
  expect(Object.keys(index).sort()).toEqual([
    ...['Approvals', 'ApprovalsError', 'ExportError', 'MASKED_FIELDS', 'MaskError', 'OptionsError'],
    'VerificationError',
    'catalog',
    'checkExport',
    'diskStore',
    'exportTree',
    'flat',
    'mount',
    'patchFs',
    'readResourceTool',
    'union',
  ]);
  expect(Object.keys(server)).toEqual(
    expect.arrayContaining(['attachDirectory', 'attachSkill', 'serveHttp', 'serveStdio']),
  );
});
