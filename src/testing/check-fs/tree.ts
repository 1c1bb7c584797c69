import { functionOf } from './calls.ts';
import type { Check } from './subject.ts';
import { childOf } from './subject.ts';

/** The files that have to be there are, with what they have to hold. */
export const expected: Check = {
  needs: [],
  each: 'tree',
  run({ expected, bytes }, root, say) {
    const wanted = Array.isArray(expected)
      ? expected.map((path) => [path, true] as const)
      : Object.entries(expected ?? {});
    for (const [relative, content] of wanted) {
      const path = childOf(root, relative);
      const found = bytes.get(path);
      if (found === undefined) say('is expected, and is not there', path);
      else if (content !== true && !found.equals(Buffer.from(content))) say('does not hold what is expected', path);
    }
  },
};

const LOOKS = ['statSync', 'lstatSync', 'accessSync', 'existsSync', 'promises.stat', 'promises.access'];

/** Looking at what is known, and listing it, asks nobody (LAZY-1). */
export const requests: Check = {
  needs: [...LOOKS, 'readdirSync', 'promises.readdir'],
  each: 'tree',
  async run({ fs, requests, directories, files }, _root, say) {
    if (requests === undefined) return;
    const looks = async (names: readonly string[], paths: readonly string[]) => {
      for (const name of names) {
        for (const path of paths) {
          const before = requests();
          await functionOf(fs, name)?.(path);
          const made = requests() - before;
          if (made > 0) say(`${name} makes ${made} requests`, path);
        }
      }
    };
    await looks(LOOKS, [...directories, ...files]);
    await looks(['readdirSync', 'promises.readdir'], directories);
  },
};
