import { dirname, join } from 'node:path';
import type { Op } from '../base/op.ts';
import { type Context, locate } from './context.ts';
import { codedError, nodeError, systemError } from './errors.ts';
import { type Forms, forms } from './forms.ts';
import { checkedByNode, NOWHERE, native } from './native.ts';
import { asBuffer, spelledPath } from './paths.ts';

interface CopyOptions {
  readonly recursive?: boolean;
  readonly force?: boolean;
  readonly errorOnExist?: boolean;
  readonly preserveTimestamps?: boolean;
  readonly filter?: (source: string, destination: string) => boolean;
  readonly mode?: number;
}

const FILE_MODE = 0o444;
/** A directory on the real disk has to take its files. */
const DIRECTORY_MODE = 0o755;

export function copyFileForms(context: Context): Forms<'copyFile'> {
  return forms(context.driver, 'copyFile', (source, destination, mode) => {
    const from = spelledPath(source, (bad) => native.copyFileSync(bad, ''));
    const to = spelledPath(destination, (bad) => native.copyFileSync('', bad));
    if (mode !== undefined && mode !== null) checkedByNode(() => native.copyFileSync(NOWHERE, NOWHERE, mode as number));
    return copyFile(context, from, to, ((mode ?? 0) as number) & native.constants.COPYFILE_EXCL);
  });
}

function* copyFile({ core, owns }: Context, from: string, to: string, exclusive: number): Op<void> {
  try {
    const { bytes } = yield* core.read(yield* locate(core, from));
    if (owns(to)) throw systemError('EROFS', 'copyfile', { path: from, dest: to });
    native.writeFileSync(to, asBuffer(bytes), { flag: exclusive === 0 ? 'w' : 'wx', mode: FILE_MODE });
  } catch (error) {
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === 'open' && code !== undefined) throw systemError(code, 'copyfile', { path: from, dest: to });
    throw nodeError(error, 'copyfile', from, to);
  }
}

/** One thing to make on the real disk. */
interface Copy {
  readonly from: string;
  readonly to: string;
  /** A file's content; a directory where there is none. */
  readonly bytes: Uint8Array | undefined;
  readonly mtimeMs: number;
}

/**
 * Copies files and trees of the mount to the real disk. Node's own `cp` would go around the facade; files keep their
 * mode, directories become writable by their owner.
 */
export function cpForms(context: Context): Forms<'cp'> {
  const prepare = (source: unknown, destination: unknown, given: unknown) => {
    const from = spelledPath(source, (bad) => native.copyFileSync(bad, ''));
    const to = spelledPath(destination, (bad) => native.copyFileSync('', bad));
    checkedByNode(() => native.cpSync(NOWHERE, NOWHERE, given as never));
    return { from, to, options: (given ?? {}) as CopyOptions };
  };
  const made = forms(context.driver, 'cp', (source, destination, given) => {
    const { from, to, options } = prepare(source, destination, given);
    return cp(context, from, to, options);
  });
  return made;
}

function* cp(context: Context, from: string, to: string, options: CopyOptions): Op<void> {
  const { core, owns } = context;
  try {
    const found = yield* locate(core, from);
    const { kind } = yield* core.stat(found);
    if (kind === 'directory' && options.recursive !== true) {
      throw codedError('ERR_FS_EISDIR', `Recursive option not enabled, cannot copy a directory: ${from}`);
    }
    if (owns(to)) throw systemError('EROFS', 'cp', { path: from, dest: to });
    for (const copy of yield* plan(context, found, to, options)) place(copy, options);
  } catch (error) {
    throw nodeError(error, 'cp', from, to);
  }
}

/** Everything to be copied, in the order it is made in; read before anything is written, so that a failure leaves nothing. */
function* plan({ core }: Context, from: string, to: string, options: CopyOptions): Op<readonly Copy[]> {
  const { filter } = options;
  if (filter !== undefined && !filter(from, to)) return [];
  const { kind, mtimeMs } = yield* core.stat(from);
  if (kind === 'file') return [{ from, to, bytes: (yield* core.read(from)).bytes, mtimeMs }];
  const copies: Copy[] = [{ from, to, bytes: undefined, mtimeMs }];
  for (const { name } of yield* core.readdir(from)) {
    copies.push(...(yield* plan({ core } as Context, join(from, name), join(to, name), options)));
  }
  return copies;
}

function place({ from, to, bytes, mtimeMs }: Copy, options: CopyOptions): void {
  if (bytes === undefined) {
    native.mkdirSync(to, { recursive: true, mode: DIRECTORY_MODE });
    return;
  }
  const { force = true, errorOnExist = false, mode = 0 } = options;
  native.mkdirSync(dirname(to), { recursive: true });
  if (native.existsSync(to)) {
    if (errorOnExist && !force) throw codedError('ERR_FS_CP_EEXIST', `Target already exists: cp ${from} -> ${to}`);
    if (!force) return;
    if ((mode & native.constants.COPYFILE_EXCL) !== 0) throw systemError('EEXIST', 'cp', { path: from, dest: to });
    native.rmSync(to);
  }
  native.writeFileSync(to, asBuffer(bytes), { flag: 'wx', mode: FILE_MODE });
  if (options.preserveTimestamps === true) native.utimesSync(to, mtimeMs / 1000, mtimeMs / 1000);
}
