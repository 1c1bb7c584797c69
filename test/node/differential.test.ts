import fs from 'node:fs';
import { inspect, isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createNodeFs } from '../../src/node/index.ts';
import { isMeant, OPTIONS, PATHS } from './cases.ts';
import { driver, MemoryReadFs } from './memory-read-fs.ts';
import { FILES, mirror, removeMirror } from './mirrored.ts';
import { calledBack, type Fs, promised, sync } from './outcomes.ts';

/** The same absolute path on both sides, so that values and errors need no translation. */
let root: string;
let ours: Fs;
const home = process.cwd();

beforeAll(() => {
  root = mirror(FILES);
  process.chdir(root);
  ours = createNodeFs(new MemoryReadFs(root, FILES), driver, { mountPoint: root });
});

afterAll(() => {
  process.chdir(home);
  removeMirror(root);
});

describe.each(Object.keys(OPTIONS))('%s', (name) => {
  const variants = [undefined, ...(OPTIONS[name] ?? [])];
  test.each(Object.entries(PATHS))(`does with %s what node:fs does`, async (kind, pathOf) => {
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
