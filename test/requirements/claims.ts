import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The names of tests and suites, as they stand in the source: the first argument of test, it and describe. */
const TEST_NAME = /\b(?:test|it|describe)(?:\.\w+)*(?:\([^()]*\))?\(\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1/g;
const ID = /\b[A-Z]{2,5}-\d+\b/g;

/** Requirement ids that the name of a test below `dir` holds. */
export function claimedIds(dir: string): ReadonlySet<string> {
  const claimed = new Set<string>();
  for (const file of readdirSync(dir, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.test.ts')) continue;
    for (const [, , name] of readFileSync(join(dir, file), 'utf8').matchAll(TEST_NAME)) {
      for (const [id] of (name ?? '').matchAll(ID)) claimed.add(id);
    }
  }
  return claimed;
}
