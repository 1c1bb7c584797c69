import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../..', import.meta.url).pathname;
const model = readFileSync(`${root}/SECURITY.md`, 'utf8');

test('SEC-1: every threat in SECURITY.md names a test that is there', () => {
  const sources = readdirSync(`${root}/test`, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => readFileSync(`${root}/test/${file}`, 'utf8'));
  const rows = [...model.matchAll(/^\| [^|]+ \| [^|]+ \| `([^`]+)` \|$/gm)].map(([, name]) => name ?? '');
  const threats = model.slice(model.indexOf('## What is defended'), model.indexOf('## What is not defended'));
  const lines = threats.split('\n').filter((line) => /^\| (?!threat )/.test(line));
  expect(rows).toHaveLength(lines.length);
  expect(rows.filter((name) => !sources.some((source) => source.includes(name)))).toEqual([]);
});
