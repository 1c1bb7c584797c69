import type { Dirent } from 'node:fs';
import { functionOf } from './calls.ts';
import { difference, kindOf, show } from './facts.ts';
import type { Check, Say, Subject } from './subject.ts';
import { childOf, isSaneName, relativeTo } from './subject.ts';

/** Names are names: not empty, no dots, no slash, none twice. */
export const names: Check = {
  needs: ['readdirSync'],
  each: 'directory',
  run({ fs }, path, say) {
    const seen = new Set<unknown>();
    for (const name of fs.readdirSync(path)) {
      if (!isSaneName(name)) say(`lists ${JSON.stringify(name)}`);
      if (seen.has(name)) say(`lists ${JSON.stringify(name)} twice`);
      seen.add(name);
    }
  },
};

/** Listings are sorted, by code units or by code points (the order of UTF-8 bytes). */
export const order: Check = {
  needs: ['readdirSync'],
  each: 'directory',
  run({ fs }, path, say) {
    const listed = fs.readdirSync(path).filter(isSaneName);
    const byUnits = listed.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
    const byBytes = listed.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    if (difference(listed, byUnits) && difference(listed, byBytes)) say(`is listed out of order: ${show(listed)}`);
  },
};

/** Repeated listings and listings read entry by entry say the same. */
export const listing: Check = {
  needs: ['readdirSync', 'opendirSync', 'opendir', 'promises.opendir'],
  each: 'directory',
  async run({ fs, call }, path, say) {
    const first = fs.readdirSync(path);
    const compare = (way: string, listed: readonly string[]) => {
      const unlike = difference(sorted(new Set(first)), sorted(new Set(listed)));
      if (unlike !== undefined) say(`readdirSync and ${way} differ: ${unlike}`);
    };
    if (difference(first, fs.readdirSync(path))) say('is listed differently the second time');

    const dir = fs.opendirSync(path, { bufferSize: 1 });
    const read: string[] = [];
    for (let entry = dir.readSync(); entry !== null; entry = dir.readSync()) read.push(entry.name);
    if (dir.readSync() !== null) say('opendirSync: readSync gives an entry after the last one');
    dir.closeSync();
    compare('opendirSync', read);

    const awaited: string[] = [];
    for await (const entry of await fs.promises.opendir(path, { bufferSize: 2 })) awaited.push(entry.name);
    compare('promises.opendir', awaited);

    const called = await call.callback('opendir', [path]);
    if ('error' in called) throw called.error;
    const given: string[] = [];
    for await (const entry of called.value as AsyncIterable<Dirent>) given.push(entry.name);
    compare('opendir', given);
  },
};

/** With file types come the same names, each with its directory, each of exactly one type. */
export const dirents: Check = {
  needs: ['readdirSync', 'opendirSync'],
  each: 'directory',
  run({ fs }, path, say) {
    const entries = fs.readdirSync(path, { withFileTypes: true });
    const unlike = difference(
      fs.readdirSync(path),
      entries.map(({ name }) => name),
    );
    if (unlike !== undefined) say(`readdirSync without and with file types: ${unlike}`);
    const dir = fs.opendirSync(path);
    for (let entry = dir.readSync(); entry !== null; entry = dir.readSync()) checkDirent(entry, path, say);
    dir.closeSync();
    for (const entry of entries) checkDirent(entry, path, say);
  },
};

function checkDirent(entry: Dirent, directory: string, say: Say): void {
  const at = childOf(directory, entry.name);
  if (entry.parentPath !== directory) say(`the Dirent's parentPath is ${JSON.stringify(entry.parentPath)}`, at);
  const kind = kindOf(entry);
  if (kind === 'none') say('the Dirent has no type, or not all seven methods', at);
  if (kind.includes('+')) say(`the Dirent has several types: ${kind}`, at);
}

/** The recursive listing of the root is what a walk by hand finds. */
export const recursive: Check = {
  needs: ['readdirSync', 'readdir', 'promises.readdir'],
  each: 'tree',
  run: (subject, root, say) => compareRecursive(subject, root, say),
};

/** So is the recursive listing of every directory below. */
export const subtrees: Check = {
  needs: ['readdirSync', 'readdir', 'promises.readdir'],
  each: 'directory',
  async run(subject, path, say) {
    if (path !== subject.root) await compareRecursive(subject, path, say);
  },
};

/** Where there are patterns (Node 22 and later), they find what a walk by hand finds, but for names with a leading dot. */
export const glob: Check = {
  needs: [],
  each: 'tree',
  run({ fs, directories, files, others }, root, say) {
    const globSync = functionOf(fs, 'globSync');
    if (globSync === undefined) return;
    const walked = [...directories, ...files, ...others].map((path) => relativeTo(root, path));
    const expected = sorted(walked.filter((path) => path !== '' && !/(^|\/)\./.test(path)));
    const found = sorted((globSync('**', { cwd: root }) as string[]).filter((path) => path !== '.' && path !== ''));
    const unlike = difference(expected, found);
    if (unlike !== undefined) say(`a walk and globSync: ${unlike}`);
  },
};

async function compareRecursive(subject: Subject, path: string, say: Say): Promise<void> {
  const { fs, call, directories, files, others } = subject;
  const walked = [...directories, ...files, ...others].filter(
    (one) => one !== path && one.startsWith(childOf(path, '')),
  );
  const expected = sorted(new Set(walked.map((one) => relativeTo(path, one))));
  const compare = (way: string, listed: readonly string[]) => {
    const missing = expected.filter((one) => !listed.includes(one));
    const extra = listed.filter((one) => !expected.includes(one));
    if (missing.length > 0) say(`${way} leaves out ${show(missing)}`);
    if (extra.length > 0) say(`${way} lists ${show(extra)}, which a walk does not find`);
  };
  const placed = (entries: readonly Dirent[]) =>
    entries.map(({ parentPath, name }) => relativeTo(path, childOf(parentPath, name)));
  const asNames = { recursive: true } as const;
  const asDirents = { recursive: true, withFileTypes: true } as const;

  compare('readdirSync', fs.readdirSync(path, asNames) as string[]);
  compare('readdirSync with file types', placed(fs.readdirSync(path, asDirents)));
  compare('promises.readdir', (await fs.promises.readdir(path, asNames)) as string[]);
  compare('promises.readdir with file types', placed(await fs.promises.readdir(path, asDirents)));
  const called = await call.callback('readdir', [path, asDirents]);
  if ('error' in called) throw called.error;
  compare('readdir with file types', placed(called.value as Dirent[]));
}

function sorted(values: Iterable<string>): string[] {
  return [...values].sort();
}
