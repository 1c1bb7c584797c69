import { functionOf } from './check-fs/calls.ts';
import { bytes, encodings, fresh, ranges, size } from './check-fs/content.ts';
import { callbacks, errors, forms, oracle } from './check-fs/forms.ts';
import { handles, opendir } from './check-fs/handles.ts';
import { dirents, glob, listing, names, order, recursive, subtrees } from './check-fs/listing.ts';
import { access, malformed, noEntry, realpath, spellings } from './check-fs/paths.ts';
import { readOnly } from './check-fs/read-only.ts';
import { bigint, classes, descriptors, inodes, links, statfs, times, types } from './check-fs/stats.ts';
import { type Check, type Expected, type Oracle, type Subject, walk } from './check-fs/subject.ts';
import { expected, requests } from './check-fs/tree.ts';

/** The checks, in the order they run; the one that tries to change something is the last. */
const checks = {
  expected,
  names,
  order,
  listing,
  dirents,
  recursive,
  subtrees,
  glob,
  types,
  size,
  bytes,
  ranges,
  encodings,
  fresh,
  inodes,
  descriptors,
  bigint,
  times,
  links,
  classes,
  statfs,
  spellings,
  malformed,
  realpath,
  access,
  'no-entry': noEntry,
  errors,
  forms,
  callbacks,
  handles,
  opendir,
  requests,
  oracle,
  'read-only': readOnly,
} satisfies Readonly<Record<string, Check>>;

/** The name of a check; `walk` is the first walk through the tree, which the others build on. */
export type CheckName = keyof typeof checks | 'walk';

/** A misbehaviour of a file system. */
export interface Finding {
  readonly check: CheckName;
  readonly path: string;
  readonly message: string;
}

export interface CheckFsOptions {
  /** Files that have to be there: relative paths, or what they hold by relative path (`true` for whatever it is). */
  readonly expected?: Expected;
  /** Another file system with the same tree, to compare every answer and every error with (say, `node:fs` and a copy). */
  readonly oracle?: Oracle;
  /** Checks to leave out: `read-only` for a disk, for one. */
  readonly skip?: readonly CheckName[];
  /** How many requests the file system has made; looking and listing must not add to it (LAZY-1). */
  readonly requests?: () => number;
  /** Milliseconds after which a call counts as never answered. Default 10,000. */
  readonly patience?: number;
}

/**
 * Reports all misbehaviours of a read-only file system at once: whatever a program that expects `node:fs` could trip over.
 * Each file is read once, asynchronously, before any synchronous call.
 *
 * @param fs anything shaped like `node:fs`; a function that a check needs and that is missing is a finding
 * @param root the directory to check, an absolute path without links in it
 * @returns what was found, in the order of the checks; empty when all is well
 */
export async function checkFs(fs: object, root: string, options: CheckFsOptions = {}): Promise<readonly Finding[]> {
  const { expected, oracle, requests, patience = 10_000 } = options;
  const skip = new Set(options.skip);
  const findings: Finding[] = [];
  const reporter = (check: CheckName, path: string) => (message: string, at?: string) => {
    findings.push({ check, path: at ?? path, message });
  };
  const subject = await walk(fs, root, { expected, oracle, requests, patience }, reporter('walk', root));
  if (!subject.directories.includes(root)) return findings;
  for (const [name, check] of Object.entries(checks) as [CheckName, Check][]) {
    if (skip.has(name)) continue;
    const missing = check.needs.filter((one) => functionOf(fs, one) === undefined);
    for (const one of missing) reporter(name, root)(`fs.${one} is missing`);
    if (missing.length > 0) continue;
    for (const path of pathsFor(check, subject)) {
      const say = reporter(name, path);
      try {
        await check.run(subject, path, say);
      } catch (error) {
        say(`cannot be checked: ${String(error)}`);
      }
    }
  }
  return findings;
}

/**
 * Throws when {@link checkFs} finds anything.
 *
 * @throws Error that lists every finding, a line each
 */
export async function assertFs(fs: object, root: string, options: CheckFsOptions = {}): Promise<void> {
  const findings = await checkFs(fs, root, options);
  if (findings.length === 0) return;
  const lines = findings.map(({ check, path, message }) => `  ${check}: ${path}: ${message}`);
  throw new Error(`${findings.length} findings in ${root}:\n${lines.join('\n')}`);
}

function pathsFor({ each }: Check, { root, directories, files }: Subject): readonly string[] {
  if (each === 'tree') return [root];
  if (each === 'file') return files;
  return each === 'directory' ? directories : [...directories, ...files];
}
