import fs from 'node:fs';
import { inspect, isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { isMeant, OPTIONS, PATHS } from './cases.ts';
import { bothSides } from './facades.ts';
import { calledBack, promised, sync } from './outcomes.ts';

/** The same absolute path on both sides, so that values and errors need no translation. */
const sides = bothSides();

describe.each(Object.keys(OPTIONS))('%s', (name) => {
  const variants = [undefined, ...(OPTIONS[name] ?? [])];
  test.each(Object.entries(PATHS))(`does with %s what node:fs does`, async (kind, pathOf) => {
    const { root, ours } = sides;
    const differences: string[] = [];
    for (const options of variants) {
      const args = options === undefined ? [pathOf(root)] : [pathOf(root), options];
      for (const form of [sync, promised, calledBack]) {
        if (isMeant({ name, form: form.name, path: kind, options })) continue;
        const [here, there] = [await form(ours, name, args), await form(fs, name, args)];
        if (isDeepStrictEqual(here, there)) continue;
        differences.push(
          inspect({ form: form.name, options, here, there }, { depth: 6, breakLength: Number.POSITIVE_INFINITY }),
        );
      }
    }
    expect(differences, differences.join('\n')).toEqual([]);
  });
});
