import { expect, test } from 'vitest';
import { mountScript } from '../support/mounted.ts';
import { notFound, scriptedSkill } from '../support/scripted-server.ts';

const skills = Array.from({ length: 6 }, (_, index) => scriptedSkill(`skill-${index}`));
const entries = skills.map(({ entry }) => entry);

/** Two entries a page; `next` says how a page names the one after it. */
function paged(next: (page: number) => unknown) {
  return (cursor: string | undefined) => {
    const page = cursor === undefined || cursor === '' ? 0 : Number(cursor);
    return { skills: entries.slice(page * 2, page * 2 + 2), nextCursor: next(page) };
  };
}

test('LST-1: all pages are walked', async () => {
  const { mount, requests } = await mountScript({
    skills,
    list: paged((page) => (page < 2 ? `${page + 1}` : undefined)),
  });
  await mount.ready();
  expect(mount.skills()).toHaveLength(6);
  expect(requests).toEqual(['skills/list', 'skills/list 1', 'skills/list 2']);
  expect(mount.status()[0]?.partial).toBeUndefined();
});

test('LST-1: an empty nextCursor ends a walk that brings nothing new', async () => {
  const { mount, requests } = await mountScript({ skills, list: () => ({ skills: entries, nextCursor: '' }) });
  await mount.ready();
  expect(mount.skills()).toHaveLength(6);
  expect(requests).toHaveLength(2);
  expect(mount.status()[0]?.partial).toBeUndefined();
});

test('LST-1: an empty nextCursor that leads on is followed', async () => {
  const { mount } = await mountScript({
    skills,
    list: (cursor) =>
      cursor === undefined ? { skills: entries.slice(0, 2), nextCursor: '' } : { skills: entries.slice(2) },
  });
  await mount.ready();
  expect(mount.skills()).toHaveLength(6);
});

test('LST-1: an empty nextCursor that the server refuses to be asked with ends the walk', async () => {
  const { mount } = await mountScript({
    skills,
    list: (cursor) => {
      if (cursor === '') throw notFound('cursor');
      return { skills: entries, nextCursor: '' };
    },
  });
  await mount.ready();
  expect(mount.status()[0]).toMatchObject({ state: 'ready', skills: 6 });
  expect(mount.status()[0]?.partial).toBeUndefined();
});

test('LST-1: a cursor that never ends is followed no further than it brings something new', async () => {
  const { mount, requests, diagnostics } = await mountScript({ skills, list: paged(() => '1') });
  await mount.ready();
  expect(mount.skills()).toHaveLength(4);
  expect(requests).toHaveLength(3);
  expect(mount.status()[0]?.partial).toMatch(/page 3 brought nothing new/);
  expect(diagnostics.map(({ code }) => code)).toEqual(['partial']);
});

test('LST-1: a listing without end is cut, and marked partial', async () => {
  let page = 0;
  const { mount } = await mountScript({
    list: () => {
      const first = page++ * 100;
      const more = Array.from({ length: 100 }, (_, index) => scriptedSkill(`endless-${first + index}`).entry);
      return { skills: more, nextCursor: `${page}` };
    },
  });
  await mount.ready();
  expect(mount.skills()).toHaveLength(100_000);
  expect(mount.status()[0]?.partial).toMatch(/cut at 100000/);
}, 120_000);

test('LST-1, LST-2: a page that fails keeps the pages before it', async () => {
  const { mount } = await mountScript({
    skills,
    list: (cursor) => {
      if (cursor === '2') throw new Error('shard is down');
      return paged((page) => `${page + 1}`)(cursor);
    },
  });
  await mount.ready();
  expect(mount.skills()).toHaveLength(4);
  expect(mount.status()[0]).toMatchObject({ state: 'ready', partial: expect.stringMatching(/page 3.*shard is down/) });
  expect(await mount.promises.readFile('/mcp/s/skill-5/SKILL.md', 'utf8')).toContain('skill-5');
});

test('ENT-5: one bad entry never costs a page', async () => {
  const { mount } = await mountScript({
    skills,
    list: () => ({
      skills: [null, 7, {}, entries[0], { uri: 5 }, { ...entries[1], frontmatter: undefined }, entries[2]],
    }),
  });
  const [status] = await mount.ready();
  expect(mount.skills().map(({ name }) => name)).toEqual(['skill-0', 'skill-2']);
  expect(status?.refused.map(({ reason }) => reason)).toEqual([
    'not-an-object',
    'not-an-object',
    'uri',
    'uri',
    'frontmatter',
  ]);
});

test('ENT-5: a URI listed twice with different entries is refused; the same entry twice counts once', async () => {
  const changed = { ...entries[0], frontmatter: { name: 'skill-0', description: 'Changed' } };
  const { mount } = await mountScript({
    skills,
    list: () => ({ skills: [entries[0], changed, entries[1], entries[1]] }),
  });
  const [status] = await mount.ready();
  expect(mount.skills().map(({ name }) => name)).toEqual(['skill-1']);
  expect(status?.refused).toMatchObject([{ uri: entries[0]?.uri, reason: 'duplicate-entry' }]);
});

test('LST-3: a listing is asked for again when it is no longer fresh, and not before', async () => {
  let ttlMs = 60_000;
  const { mount, requests } = await mountScript({ skills, list: () => ({ skills: entries, ttlMs }) });
  await mount.ready();
  await mount.ready();
  await mount.promises.readdir('/mcp/s');
  expect(requests).toHaveLength(1);
  ttlMs = 1;
  await mount.refresh();
  await new Promise((resolve) => setTimeout(resolve, 5));
  await mount.promises.readdir('/mcp/s');
  await expect.poll(() => requests.length).toBe(3);
});

test('a refresh reports what changed, and keeps what stayed', async () => {
  let listed = entries.slice(0, 3);
  const { mount } = await mountScript({ skills, list: () => ({ skills: listed }) });
  await mount.ready();
  const before = mount.fs.statSync('/mcp/s/skill-1/SKILL.md');
  const description = { ...entries[2], frontmatter: { name: 'skill-2', description: 'New' } } as (typeof entries)[0];
  listed = [entries[1], description, entries[5]] as typeof entries;
  expect(await mount.refresh('s')).toEqual([
    { label: 's', added: [entries[5]?.uri], removed: [entries[0]?.uri], changed: [entries[2]?.uri] },
  ]);
  const after = mount.fs.statSync('/mcp/s/skill-1/SKILL.md');
  expect([after.ino, after.mtimeMs]).toEqual([before.ino, before.mtimeMs]);
  expect(mount.fs.existsSync('/mcp/s/skill-0')).toBe(false);
});

test('a refresh that fails keeps the last good tree, marked stale', async () => {
  let down = false;
  const { mount } = await mountScript({
    skills,
    list: () => {
      if (down) throw new Error('maintenance');
      return { skills: entries };
    },
  });
  await mount.ready();
  down = true;
  const [report] = await mount.refresh();
  expect(report?.error?.message).toMatch(/maintenance/);
  expect(mount.status()[0]).toMatchObject({ state: 'ready', stale: true, skills: 6 });
  expect(await mount.promises.readdir('/mcp/s')).toHaveLength(6);
  down = false;
  await mount.refresh();
  expect(mount.status()[0]).toMatchObject({ stale: false });
  expect(mount.status()[0]?.lastError).toBeUndefined();
});

test('LST-1: a listing that takes too long is cut, and marked partial', async () => {
  let page = 0;
  const { mount } = await mountScript(
    {
      list: async () => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        return { skills: [scriptedSkill(`slow-${page++}`).entry], nextCursor: `${page}` };
      },
    },
    { deadlines: { list: 2_000 } },
  );
  expect((await mount.ready())[0]).toMatchObject({ state: 'ready', partial: expect.stringMatching(/took too long/) });
  expect(mount.skills().length).toBeGreaterThan(0);
}, 20_000);

test('LST-1: cursors of a megabyte, pages that shrink and entries that move between pages cost nothing', async () => {
  const cursor = (page: number) => `${page}${'x'.repeat(1_000_000)}`;
  const pages = [entries.slice(0, 4), entries.slice(3, 5), [], entries.slice(1, 6)];
  const { mount } = await mountScript({
    list: (at) => {
      const page = Number.parseInt(at ?? '0', 10);
      return { skills: pages[page], ...(page < 3 && { nextCursor: cursor(page + 1) }) };
    },
  });
  await mount.ready();
  expect(mount.skills()).toHaveLength(5);
  expect(mount.status()[0]).toMatchObject({ refused: [], partial: 'page 3 brought nothing new' });
});

test.each([0, -1, 1e308, Number.NaN, Number.POSITIVE_INFINITY, '60000', null])(
  'LST-3: a TTL of %s is no reason to fail, nor to ask without end',
  async (ttlMs) => {
    const { mount, requests } = await mountScript({ list: () => ({ skills: entries, ttlMs }) }, {}, 'v2');
    await mount.ready();
    for (let index = 0; index < 20; index++) await mount.promises.readdir('/mcp/s');
    expect(mount.skills()).toHaveLength(6);
    expect(requests).toEqual(['skills/list']);
  },
);
