import fc from 'fast-check';
import { expect, test } from 'vitest';
import { originalName, portableName, portableNames, portablePaths } from '../../src/export/portable-names.ts';

const nasty = fc
  .oneof(
    fc.constantFrom(
      ...[
        'CON',
        'nul',
        'NUL.txt',
        'com1',
        'COM¹.log',
        'aux ',
        'CONIN$',
        'a.',
        'a ',
        'a..',
        '. .',
        '%',
        '%41',
        '%2E',
        '.git',
      ],
      ...[
        '.Claude',
        'README',
        'readme',
        'ReadMe',
        '%72eadme',
        'é',
        'e\u0301',
        'É',
        'ß',
        'SS',
        'ſ',
        's',
        'İ',
        'i',
        'a:b',
        'a\\b',
      ],
      ...['<', '>', '"', '|', '?', '*', '\u0001', '\u007f', '日本語', '🧭', 'con.', 'LPT9.tar.gz', 'con .x'],
    ),
    fc.string({
      unit: fc.constantFrom('a', 'A', '%', '4', '1', '.', ' ', 'é', 'e\u0301', ':', 'C', 'O', 'N', '🧭'),
      minLength: 1,
    }),
    fc.string({ unit: 'grapheme', minLength: 1 }).filter((name) => !/[/\0\p{Surrogate}]/u.test(name)),
  )
  .filter((name) => name !== '.' && name !== '..');

/** What Windows says of names, in words of its own documentation rather than ours. */
function windowsTakes(name: string): boolean {
  const base = (name.split('.')[0] ?? '').trimEnd().toUpperCase();
  const devices = ['CON', 'PRN', 'AUX', 'NUL', 'CONIN$', 'CONOUT$'];
  for (const digit of '0123456789¹²³') devices.push(`COM${digit}`, `LPT${digit}`);
  const last = name.at(-1);
  return (
    !devices.includes(base) &&
    last !== '.' &&
    last !== ' ' &&
    ![...name].some((char) => '<>:"/\\|?*'.includes(char) || (char.codePointAt(0) as number) < 32)
  );
}

test('every name has a spelling that Windows takes, and that can be undone', () => {
  fc.assert(
    fc.property(nasty, (name) => {
      const portable = portableName(name);
      expect(windowsTakes(portable)).toBe(true);
      expect(originalName(portable)).toBe(name);
    }),
    { numRuns: 2_000 },
  );
});

test('siblings stay apart where case and normalisation do not count, and can be told which they were', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(nasty, { maxLength: 12 }),
      fc.subarray(['skillfs.lock.json', 'README', 'é']),
      (names, reserved) => {
        const portable = portableNames(names, reserved);
        expect([...portable.keys()].sort()).toEqual([...names].sort());
        const all = [...portable.values()];
        for (const fold of [
          (s: string) => s.toLowerCase(),
          (s: string) => s.toUpperCase(),
          (s: string) => s.normalize('NFD'),
        ]) {
          expect(new Set(all.map(fold)).size).toBe(names.length);
          expect(all.filter((name) => reserved.map(fold).includes(fold(name)))).toEqual([]);
        }
        for (const [name, spelled] of portable) {
          expect(originalName(spelled)).toBe(name);
          expect(windowsTakes(spelled)).toBe(true);
        }
        expect(portableNames([...names].reverse(), reserved)).toEqual(portable);
      },
    ),
    { numRuns: 1_000 },
  );
});

test.each([
  ['refunds', 'refunds'],
  ['filled example.png', 'filled example.png'],
  ['日本語.md', '日本語.md'],
  ['CON', '%43ON'],
  ['nul.tar.gz', '%6Eul.tar.gz'],
  ['console', 'console'],
  ['a:b?', 'a%3Ab%3F'],
  ['100%', '100%25'],
  ['end.', 'end%2E'],
  ['end ', 'end%20'],
  ['.git', '%2Egit'],
  ['.claude', '%2Eclaude'],
  ['.gitignore', '.gitignore'],
])('%j is %j', (name, portable) => {
  expect(portableName(name)).toBe(portable);
});

test('paths of one directory keep it in common, and names that differ in case are told apart in each', () => {
  const paths = ['s/Docs/a.md', 's/Docs/A.md', 's/docs/a.md', 's/x:y/nul'];
  expect(Object.fromEntries(portablePaths(paths, ['S']))).toEqual({
    's/Docs/A.md': '%73/Docs/A.md',
    's/Docs/a.md': '%73/Docs/%61.md',
    's/docs/a.md': '%73/%64ocs/a.md',
    's/x:y/nul': '%73/x%3Ay/%6Eul',
  });
});
