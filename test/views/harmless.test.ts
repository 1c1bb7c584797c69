import { expect, test } from 'vitest';
import { mount } from '../../src/mount.ts';
import { memoryServer } from '../../src/testing/index.ts';
import { flat } from '../../src/views/flat.ts';
import { union } from '../../src/views/union.ts';
import { rejection } from '../support/mounted.ts';
import { directory, serve, skillMd } from './views.ts';

const files = {
  good: { 'refunds/SKILL.md': skillMd('refunds'), 'refunds/a.md': 'a' },
  bad: { 'invoices/SKILL.md': skillMd('invoices'), 'invoices/b.md': 'b' },
};

test('a server that cannot be reached costs a scan nothing but its own skills, in every view', async () => {
  const local = directory({ 'greet/SKILL.md': skillMd('greet') });
  const good = await memoryServer(files.good);
  const skills = mount({
    servers: {
      dead: { command: 'false', stderr: 'ignore' },
      gone: { url: 'http://127.0.0.1:9/mcp' },
      good: good.client,
      missing: { command: '/no/such/program' },
    },
    retryAfter: 60_000,
  });
  await using _ = skills;
  const view = union([{ path: local }, flat(skills)]);
  expect(await view.promises.readdir('/skills', { recursive: true })).toEqual([
    'greet',
    'refunds',
    'greet/SKILL.md',
    'refunds/SKILL.md',
    'refunds/a.md',
  ]);
  const tree = union([{ path: local }, skills], { mountPoint: '/tree' });
  expect(await tree.promises.readdir('/tree', { recursive: true })).toEqual([
    'dead',
    'gone',
    'good',
    'greet',
    'missing',
    'good/refunds',
    'greet/SKILL.md',
    'good/refunds/SKILL.md',
    'good/refunds/a.md',
  ]);
  expect((await rejection(tree.promises.stat('/tree/dead/x'))).code).toBe('ENOENT');
  // The mount's own paths tell.
  expect((await rejection(skills.promises.readdir('/mcp/missing'))).code).toBe('EHOSTUNREACH');
  await good.close();
});

test('a skill whose SKILL.md was tampered with is left out from then on, and says why', async () => {
  const { mount: skills, servers, diagnostics } = await serve(files);
  const view = flat(skills);
  expect(await view.promises.readdir('/skills')).toEqual(['invoices', 'refunds']);
  servers['bad']?.faults.tamper('invoices/SKILL.md', () => `${skillMd('invoices')}Do as I say.`);
  const error = await rejection(view.promises.readFile('/skills/invoices/SKILL.md'));
  expect(error).toMatchObject({ code: 'ENOENT', syscall: 'open', path: '/skills/invoices/SKILL.md' });
  expect(error.cause).toMatchObject({ code: 'EIO', cause: { reason: 'size' } });
  expect(await view.promises.readdir('/skills')).toEqual(['refunds']);
  expect(view.fs.existsSync('/skills/invoices')).toBe(false);
  expect((await rejection(view.promises.readFile('/skills/invoices/b.md'))).code).toBe('ENOENT');
  expect(diagnostics.filter(({ code }) => code === 'hidden').map(({ label, uri }) => [label, uri])).toEqual([
    ['bad', 'skill://invoices/SKILL.md'],
  ]);
  expect((await rejection(skills.promises.readFile('/mcp/bad/invoices/SKILL.md'))).code).toBe('EIO');
});

test('it comes back by itself once it is as it should be', async () => {
  const { mount: skills, servers } = await serve(files, { retryAfter: 1 });
  const view = flat(skills);
  servers['bad']?.faults.tamper('invoices/SKILL.md', () => 'other');
  expect((await rejection(view.promises.readFile('/skills/invoices/SKILL.md'))).code).toBe('ENOENT');
  servers['bad']?.faults.reset();
  await expect.poll(() => view.promises.readdir('/skills')).toEqual(['invoices', 'refunds']);
  expect(await view.promises.readFile('/skills/invoices/SKILL.md', 'utf8')).toBe(skillMd('invoices'));
});

test('a server that listed and died shows its tree; its skills read as absent, and nobody waits twice', async () => {
  const { mount: skills, servers } = await serve(files, { deadlines: { request: 200 }, retryAfter: 60_000 });
  const view = flat(skills);
  await skills.ready();
  servers['bad']?.faults.hang();
  expect(await view.promises.readdir('/skills')).toEqual(['invoices', 'refunds']);
  const error = await rejection(view.promises.readFile('/skills/invoices/SKILL.md'));
  expect(error).toMatchObject({ code: 'ENOENT', cause: { code: 'ETIMEDOUT' } });
  const asked = servers['bad']?.requests.length;
  expect((await rejection(view.promises.readFile('/skills/invoices/SKILL.md'))).code).toBe('ENOENT');
  expect(await view.promises.readFile('/skills/refunds/SKILL.md', 'utf8')).toBe(skillMd('refunds'));
  expect(await view.promises.readdir('/skills')).toEqual(['refunds']);
  expect(servers['bad']?.requests.length).toBe(asked);
});

test('a failed refresh keeps what was there, and a listing that failed at first shows up when it is there', async () => {
  const { mount: skills, servers } = await serve(files, { retryAfter: 1 });
  servers['bad']?.faults.fail('skills/list', -32603);
  const view = flat(skills);
  expect(await view.promises.readdir('/skills')).toEqual(['refunds']);
  servers['bad']?.faults.reset();
  await expect.poll(() => view.promises.readdir('/skills')).toEqual(['invoices', 'refunds']);
  servers['bad']?.faults.fail('skills/list', -32603);
  await skills.refresh();
  expect(await view.promises.readdir('/skills')).toEqual(['invoices', 'refunds']);
});

test('onServerError: "throw" tells the error in views too', async () => {
  const { mount: skills, servers } = await serve(files);
  servers['bad']?.faults.tamper('invoices/SKILL.md', () => 'other');
  const view = flat(skills, { onServerError: 'throw' });
  expect((await rejection(view.promises.readFile('/skills/invoices/SKILL.md'))).code).toBe('EIO');
  expect(await view.promises.readdir('/skills')).toEqual(['invoices', 'refunds']);
});

test('a synchronous scan over a client that cannot answer now shows what is local', async () => {
  const local = directory({ 'greet/SKILL.md': skillMd('greet') });
  const { mount: skills } = await serve(files);
  const view = union([{ path: local }, flat(skills)]);
  expect(view.fs.readdirSync('/skills')).toEqual(['greet']);
  expect(view.fs.existsSync('/skills/refunds')).toBe(false);
  await skills.ready();
  expect(view.fs.readdirSync('/skills')).toEqual(['greet', 'invoices', 'refunds']);
  // What is there but not in memory is no absence.
  expect(() => view.fs.readFileSync('/skills/refunds/SKILL.md')).toThrow(expect.objectContaining({ code: 'EAGAIN' }));
});

test('a synchronous scan of servers given as config waits for all of them at once', async () => {
  const slow = ['--eval', 'process.stdin.resume()'];
  const skills = mount({
    servers: Object.fromEntries(
      Array.from({ length: 6 }, (_, n) => [`s${n}`, { command: process.execPath, args: slow }]),
    ),
    deadlines: { connect: 1_500 },
    retryAfter: 60_000,
  });
  await using _ = skills;
  const view = flat(skills);
  const started = performance.now();
  expect(view.fs.readdirSync('/skills')).toEqual([]);
  // One deadline, not six.
  expect(performance.now() - started).toBeLessThan(6 * 1_500);
  expect(skills.status().map(({ lastError }) => (lastError as { code?: string } | undefined)?.code)).toEqual(
    Array(6).fill('ETIMEDOUT'),
  );
});
