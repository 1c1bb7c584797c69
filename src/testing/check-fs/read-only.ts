import { once } from 'node:events';
import { constants } from 'node:fs';
import type { Outcome } from './calls.ts';
import { codeOf, difference, type Facts, factsOf } from './facts.ts';
import { errorProblems } from './forms.ts';
import type { Check, Say, Subject } from './subject.ts';
import { childOf, missingPath, walk } from './subject.ts';

/** A change that is tried: what is called, with which arguments. */
type Attempt = readonly [name: string, ...args: readonly unknown[]];

const { O_WRONLY, O_RDWR, O_CREAT, O_EXCL, O_APPEND, O_TRUNC, W_OK } = constants;

/**
 * Every change fails with EROFS in every form, and nothing has changed afterwards. Where a first new file is not refused
 * in this way, the tree may be one that can be written to: the file is removed, and no further change is tried.
 */
export const readOnly: Check = {
  needs: ['openSync', 'closeSync', 'unlinkSync', 'lstatSync'],
  each: 'tree',
  async run(subject, root, say) {
    const { call, fs } = subject;
    const created = missingPath(subject);
    const probe = call.sync('openSync', [created, 'wx']);
    if (!('error' in probe)) {
      fs.closeSync(probe.value as number);
      fs.unlinkSync(created);
      say('is writable: a file can be created', created);
      return;
    }
    refuse('openSync "wx"', probe, say, created);
    if (codeOf(probe) !== 'EROFS') return;
    const before = picture(subject);
    for (const [name, ...args] of attempts(subject, created)) {
      const forms = { [`${name}Sync`]: call.sync(`${name}Sync`, args) };
      forms[name] = await call.callback(name, args);
      forms[`promises.${name}`] = await call.promise(`promises.${name}`, args);
      for (const [form, outcome] of Object.entries(forms)) {
        refuse(`${form} ${describe(args.slice(1))}`, outcome, say, String(args[0]));
        await close(subject, name, outcome);
      }
    }
    await refuseStreams(subject, created, say);
    const after = picture(await walk(fs, root, subject, say));
    for (const path of new Set([...before.keys(), ...after.keys()])) {
      const unlike = difference(before.get(path) ?? 'nothing', after.get(path) ?? 'nothing');
      if (unlike !== undefined) say(`has changed: ${unlike}`, path);
    }
  },
};

function attempts({ root, files, directories, fs, bytes }: Subject, created: string): readonly Attempt[] {
  const [file] = files;
  const inDirectories = [root, directories.at(-1) ?? root].flatMap((directory): Attempt[] => [
    ['mkdir', childOf(directory, 'missing-directory')],
    ['mkdtemp', childOf(directory, 'missing-')],
    ['symlink', '/nowhere', childOf(directory, 'missing-link')],
  ]);
  const writes = ['w', 'a', 'wx', 'w+', 'a+', O_WRONLY | O_CREAT, O_RDWR | O_CREAT | O_EXCL].map(
    (flags): Attempt => ['open', created, flags],
  );
  const atCreated: Attempt[] = [
    ['writeFile', created, 'x'],
    ['appendFile', created, 'x'],
    ['mkdir', `${created}/below`, { recursive: true }],
  ];
  if (file === undefined) return [...inDirectories, ...writes, ...atCreated];
  const stats = fs.lstatSync(file);
  // The gentlest first, with what would change nothing if it were not refused.
  const atFile: Attempt[] = [
    ['access', file, W_OK],
    ['open', file, 'r+'],
    ['open', file, O_WRONLY],
    ['open', file, O_RDWR | O_APPEND],
    ['chmod', file, stats.mode & 0o7777],
    ['chown', file, stats.uid, stats.gid],
    ['lchown', file, stats.uid, stats.gid],
    ['utimes', file, stats.atime, stats.mtime],
    ['lutimes', file, stats.atime, stats.mtime],
    ['appendFile', file, ''],
    ['truncate', file, stats.size],
    ['writeFile', file, bytes.get(file)],
    ['copyFile', file, created],
    ['cp', file, created],
    ['link', file, created],
    ['open', file, O_WRONLY | O_TRUNC],
    ['open', file, 'w'],
    ['rename', file, created],
    ['unlink', file],
    ['rm', file],
  ];
  const atDirectory = directories.slice(1, 2).flatMap((directory): Attempt[] => [
    ['rmdir', directory],
    ['rm', directory, { recursive: true, force: true }],
  ]);
  return [...inDirectories, ...writes, ...atCreated, ...atFile, ...atDirectory];
}

function refuse(way: string, outcome: Outcome, say: Say, at: string): void {
  const code = codeOf(outcome);
  if (code !== 'EROFS') say(`${way.trimEnd()}: ${code} instead of EROFS`, at);
  else if ('error' in outcome)
    for (const problem of errorProblems(outcome.error)) say(`${way.trimEnd()}: ${problem}`, at);
}

async function refuseStreams({ fs, files }: Subject, created: string, say: Say): Promise<void> {
  for (const path of [created, ...files.slice(0, 1)]) {
    const stream = fs.createWriteStream(path, { flags: path === created ? 'wx' : 'r+' });
    const outcome = await once(stream, 'open').then(
      (): Outcome => ({ value: undefined }),
      (error: unknown): Outcome => ({ error }),
    );
    stream.destroy();
    refuse('createWriteStream', outcome, say, path);
  }
}

/** Closes what should not have been opened. */
async function close({ fs }: Subject, name: string, outcome: Outcome): Promise<void> {
  if (name !== 'open' || 'error' in outcome) return;
  const { value } = outcome;
  if (typeof value === 'number') fs.closeSync(value);
  else await (value as { close(): Promise<void> }).close();
}

function describe(args: readonly unknown[]): string {
  const plain = args.filter((arg) => typeof arg === 'string' || typeof arg === 'number');
  return plain.map((arg) => JSON.stringify(arg)).join(' ');
}

/** What can be compared of each path. */
function picture({ fs, directories, files, bytes }: Subject): ReadonlyMap<string, Facts> {
  const paths = [...directories, ...files];
  return new Map(
    paths.map((path) => [path, { stats: factsOf(fs.lstatSync(path)), content: factsOf(bytes.get(path)) }]),
  );
}
