import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { claimedIds } from './claims.ts';

const here = import.meta.dirname;
const ids = Object.keys(JSON.parse(readFileSync(`${here}/requirements.json`, 'utf8')));
const unclaimed = readFileSync(`${here}/unclaimed.txt`, 'utf8').split('\n').filter(Boolean);

test('every requirement is claimed by a test, but for a list that only shrinks', () => {
  const claimed = claimedIds(`${here}/..`);
  const open = ids.filter((id) => !claimed.has(id));
  process.stdout.write(`requirements that no test claims yet: ${open.join(' ') || 'none'}\n`);
  expect(open, 'test/requirements/unclaimed.txt: remove what is claimed now; nothing may be added').toEqual(unclaimed);
});

test('tests name no requirement that does not exist', () => {
  const families = new Set(ids.map((id) => id.slice(0, id.indexOf('-'))));
  const unknown = [...claimedIds(`${here}/..`)].filter(
    (id) => families.has(id.slice(0, id.indexOf('-'))) && !ids.includes(id),
  );
  expect(unknown).toEqual([]);
});
