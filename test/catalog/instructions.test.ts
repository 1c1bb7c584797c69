import { expect, test } from 'vitest';
import { skillUrisIn } from '../../src/catalog/instructions.ts';

test.each([
  ['See skill://a/SKILL.md, and (repo://b/c/SKILL.md).', ['skill://a/SKILL.md', 'repo://b/c/SKILL.md']],
  [
    '[a](skill://a/SKILL.md) `skill://b/SKILL.md` <skill://c/SKILL.md>',
    ['a', 'b', 'c'].map((n) => `skill://${n}/SKILL.md`),
  ],
  ['skill://a/SKILL.md skill://a/SKILL.md', ['skill://a/SKILL.md']],
  ['uri=skill://a%20b/SKILL.md;', ['skill://a%20b/SKILL.md']],
  ['skill:///SKILL.md ://a/SKILL.md 1://a/SKILL.md skill://a/skill.md /SKILL.md skill://a', []],
])('GET-3: %j names %j', (text, uris) => expect(skillUrisIn(text, 32)).toEqual(uris));

test('GET-3: as many as are wanted are taken, and no more', () => {
  const text = Array.from({ length: 10_000 }, (_, index) => `skill://s${index}/SKILL.md`).join(' ');
  expect(skillUrisIn(text, 3)).toEqual(['skill://s0/SKILL.md', 'skill://s1/SKILL.md', 'skill://s2/SKILL.md']);
});

// Each of them would take minutes if the time grew with the square of the length.
test.each([
  ['letters', 'a'.repeat(16_000_000)],
  ['schemes', 'a://'.repeat(4_000_000)],
  ['ends', '/SKILL.md'.repeat(2_000_000)],
  ['both', 'a://x/SKILL.md'.repeat(1_000_000)],
  ['words', 'a '.repeat(8_000_000)],
])('GET-3: hostile instructions are read through at once: %s', (_what, text) => {
  expect(skillUrisIn(text, 32)).toEqual([]);
});
