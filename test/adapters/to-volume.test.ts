import { Volume } from 'memfs';
import { expect, test } from 'vitest';
import { toVolume } from '../../src/adapters/index.ts';
import { files, served } from './served.ts';

const contents = (volume: InstanceType<typeof Volume>) =>
  Object.fromEntries(
    Object.keys(volume.toJSON()).map((path) => [path, Buffer.from(volume.readFileSync(path) as Buffer)]),
  );
const expected = (filter: (path: string) => boolean) =>
  Object.fromEntries(
    Object.entries(files)
      .filter(([path]) => filter(path))
      .map(([path, content]) => [`/mcp/s/${path}`, Buffer.from(content)]),
  );

test('a volume has what the mount has', async () => {
  await using held = await served();
  const volume = await toVolume(held.mounted, new Volume());
  expect(contents(volume)).toEqual(expected(() => true));
  const names = (fs: { readdirSync: (path: string, options: { recursive: true }) => unknown }) =>
    [...(fs.readdirSync('/mcp', { recursive: true }) as string[])].sort();
  expect(names(volume as never)).toEqual(names(held.mounted.fs));
});

test('or one part of it, beside what it had', async () => {
  await using held = await served();
  const volume = Volume.fromJSON({ '/mine/x': 'x' });
  await toVolume(held.mounted, volume, { path: '/mcp/s/notes' });
  expect(contents(volume)).toEqual({ ...expected((path) => path.startsWith('notes')), '/mine/x': Buffer.from('x') });
});

test('more bytes than allowed are refused before a file is read, with what to do', async () => {
  await using held = await served();
  await held.mounted.ready();
  held.server.requests.length = 0;
  const volume = new Volume();
  await expect(toVolume(held.mounted, volume, { maxBytes: 100 })).rejects.toMatchObject({
    code: 'EFBIG',
    path: '/mcp',
    message: expect.stringMatching(/more than 100 bytes; .*path.*maxBytes.*mount/),
  });
  expect(held.server.requests).toEqual([]);
  expect(volume.toJSON()).toEqual({});
});

test('so are those of dynamic skills, whose sizes show when they are read', async () => {
  await using held = await served({ dynamic: ['notes'] });
  const path = '/mcp/s/notes';
  await expect(toVolume(held.mounted, new Volume(), { path, maxBytes: 20 })).rejects.toMatchObject({ code: 'EFBIG' });
  const volume = await toVolume(held.mounted, new Volume(), { path });
  expect(contents(volume)).toEqual(expected((one) => one.startsWith('notes')));
});

test('a file that does not verify leaves the volume as it was (VER-2)', async () => {
  await using held = await served();
  held.server.faults.tamper('notes/.hidden', () => 'HIDDEN');
  const volume = new Volume();
  await expect(toVolume(held.mounted, volume)).rejects.toMatchObject({ code: 'EIO', path: '/mcp/s/notes/.hidden' });
  expect(volume.toJSON()).toEqual({});
});

test('what is not there is said', async () => {
  await using held = await served();
  await expect(toVolume(held.mounted, new Volume(), { path: '/mcp/s/none' })).rejects.toMatchObject({ code: 'ENOENT' });
});
