import { expect, test } from 'vitest';
import { mountScript, rejection } from '../support/mounted.ts';
import { scriptedSkill } from '../support/scripted-server.ts';

const skills = [
  scriptedSkill('acme/billing/refunds', { 'references/policy.md': 'policy', 'scripts/run.sh': 'echo' }),
  scriptedSkill('pdf', { 'a/b/c/d.txt': 'deep' }),
];

test('LAZY-1, VER-3: looking around an array skill costs no request but one listing', async () => {
  const { mount, requests } = await mountScript({ skills });
  await mount.ready();
  const entries = await mount.promises.readdir('/mcp', { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    const path = `${entry.parentPath}/${entry.name}`;
    await mount.promises.stat(path);
    mount.fs.statSync(path);
    await mount.promises.access(path);
    mount.fs.existsSync(path);
    await mount.promises.realpath(path);
  }
  for (const probe of ['.gitignore', 'skill.md', 'assets', 'references/missing.md', 'assets/SKILL.md']) {
    expect(mount.fs.existsSync(`/mcp/s/pdf/${probe}`)).toBe(false);
  }
  expect(entries.length).toBeGreaterThan(10);
  expect(requests).toEqual(['skills/list']);
});

test('LAZY-1: mounting asks nothing, and the mount point lists its servers without asking', async () => {
  const { mount, requests } = await mountScript({ skills });
  expect(await mount.promises.readdir('/')).toEqual(['mcp']);
  expect(await mount.promises.readdir('/mcp')).toEqual(['s']);
  expect((await mount.promises.stat('/mcp/s')).isDirectory()).toBe(true);
  expect(requests).toEqual([]);
});

test('LAZY-2, RD-1: a file is fetched when read, by the exact URI, once', async () => {
  const { mount, requests } = await mountScript({ skills });
  const path = '/mcp/s/acme/billing/refunds/references/policy.md';
  const reads = await Promise.all(Array.from({ length: 10 }, () => mount.promises.readFile(path, 'utf8')));
  expect(new Set(reads)).toEqual(new Set(['policy']));
  expect(mount.fs.readFileSync(path, 'utf8')).toBe('policy');
  expect(requests).toEqual(['skills/list', 'resources/read skill://acme/billing/refunds/references/policy.md']);
});

test('RD-2, SEC-1: reading a SKILL.md reads one file, and approves and activates nothing', async () => {
  const { mount, requests, diagnostics } = await mountScript({ skills });
  await mount.promises.readFile('/mcp/s/pdf/SKILL.md');
  expect(requests).toEqual(['skills/list', 'resources/read skill://pdf/SKILL.md']);
  expect(diagnostics).toEqual([]);
  expect(mount.fs.statSync('/mcp/s/acme/billing/refunds/scripts/run.sh').mode & 0o111).toBe(0);
});

test('a synchronous read of what is not in memory says what to do, and works after preload', async () => {
  const { mount, requests } = await mountScript({ skills });
  expect(() => mount.fs.readdirSync('/mcp/s')).toThrow(expect.objectContaining({ code: 'EAGAIN', path: '/mcp/s' }));
  await mount.ready();
  expect(mount.fs.readdirSync('/mcp/s')).toEqual(['acme', 'pdf']);
  expect(() => mount.fs.readFileSync('/mcp/s/pdf/SKILL.md')).toThrow(/^EAGAIN: server "s": .*mount\.preload/);
  await mount.preload(['/mcp/s/pdf']);
  expect(mount.fs.readFileSync('/mcp/s/pdf/a/b/c/d.txt', 'utf8')).toBe('deep');
  expect(requests.filter((request) => request.startsWith('resources/read'))).toHaveLength(2);
});

test('preload without paths fetches everything, and tells the first failure after trying all', async () => {
  const broken = scriptedSkill('broken', { 'x.md': 'x' });
  const { mount } = await mountScript({
    skills: [...skills, { ...broken, files: { ...broken.files, 'skill://broken/x.md': 'y' } }],
  });
  expect((await rejection(mount.preload())).code).toBe('EIO');
  expect(mount.fs.readFileSync('/mcp/s/pdf/SKILL.md', 'utf8')).toContain('name: pdf');
});

test('an abort ends the waiting of one reader, not of another', async () => {
  let release: (() => void) | undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const [skill] = [scriptedSkill('slow', { 'x.md': 'x' })];
  const { mount } = await mountScript({
    skills: [skill],
    read: async (uri) => {
      await held;
      return { contents: [{ uri, text: skill.files[uri] }] };
    },
  });
  const abort = new AbortController();
  const aborted = mount.promises.readFile('/mcp/s/slow/x.md', { signal: abort.signal });
  const patient = mount.promises.readFile('/mcp/s/slow/x.md', 'utf8');
  const outcome = rejection(aborted);
  setTimeout(() => abort.abort(), 10);
  expect((await outcome).name).toBe('AbortError');
  release?.();
  expect(await patient).toBe('x');
});
