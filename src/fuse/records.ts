import { createHash } from 'node:crypto';
import { lstat, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { detach } from './detach.ts';
import { FILE_SYSTEM_TYPE, kernelMounts } from './mountinfo.ts';

/** What is kept of a mount while its process serves it. */
export interface MountRecord {
  /** Without symbolic links. */
  readonly dir: string;
  readonly pid: number;
  /** The labels of its servers. */
  readonly servers: readonly string[];
  /** When it was mounted, as ISO 8601 has it. */
  readonly since: string;
  /** Where its messages go; absent where they go to standard error. */
  readonly log?: string;
}

/** A process number may be used again; together with when it began, it is not. */
interface Kept extends MountRecord {
  readonly began: string;
}

/**
 * The directory of the records, private to the user, which is made when it is missing.
 *
 * @throws Error when somebody else could write there
 */
export async function recordsDirectory(): Promise<string> {
  const runtime = process.env['XDG_RUNTIME_DIR'];
  const uid = process.getuid?.() ?? 0;
  const directory = runtime ? join(runtime, 'skillfs') : join(tmpdir(), `skillfs-${uid}`);
  await mkdir(directory, { mode: 0o700, recursive: true });
  const stats = await lstat(directory);
  if (stats.isDirectory() && stats.uid === uid && (stats.mode & 0o077) === 0) return directory;
  throw new Error(`${directory} is not a directory that only this user can use; remove it, or set XDG_RUNTIME_DIR`);
}

/** Where the record of a directory is, with another ending for what lies beside it. */
export async function recordFile(dir: string, ending: 'json' | 'log'): Promise<string> {
  const name = createHash('sha256').update(dir).digest('hex').slice(0, 16);
  return join(await recordsDirectory(), `${name}.${ending}`);
}

/** Keeps what this process serves. */
export async function keepRecord(record: MountRecord): Promise<void> {
  const kept: Kept = { ...record, began: (await beginOf(record.pid)) ?? '' };
  const file = await recordFile(record.dir, 'json');
  const written = `${file}.${record.pid}`;
  await writeFile(written, JSON.stringify(kept), { mode: 0o600, flag: 'wx' });
  await rename(written, file);
}

/** Removes the record of a directory, if it is this process's. */
export async function dropRecord(dir: string, pid: number): Promise<void> {
  const file = await recordFile(dir, 'json');
  const kept = await readRecord(file);
  if (kept?.pid !== pid) return;
  await rm(file, { force: true });
  await rm(await recordFile(dir, 'log'), { force: true });
}

/** The mounts that are served. Those whose process died are unmounted, and forgotten. */
export async function liveMounts(): Promise<readonly MountRecord[]> {
  const directory = await recordsDirectory();
  const mounted = new Set((await kernelMounts()).filter(({ type }) => type === FILE_SYSTEM_TYPE).map(({ dir }) => dir));
  const live: MountRecord[] = [];
  for (const name of (await readdir(directory)).filter((file) => file.endsWith('.json')).sort()) {
    const kept = await readRecord(join(directory, name));
    if (kept === undefined) continue;
    const { began, ...record } = kept;
    const served = (await beginOf(record.pid)) === began;
    if (!served) await sweep(kept);
    else if (mounted.has(record.dir)) live.push(record);
  }
  return live;
}

/** The record of a directory, whether or not it is still served. */
export async function recordOf(dir: string): Promise<MountRecord | undefined> {
  return readRecord(await recordFile(dir, 'json'));
}

/** Whether the process of a record is still the one that made it. */
export async function isServed(record: MountRecord): Promise<boolean> {
  return (await beginOf(record.pid)) === (record as Kept).began;
}

async function sweep({ dir, pid }: Kept): Promise<void> {
  await detach(dir);
  await dropRecord(dir, pid);
}

async function readRecord(file: string): Promise<Kept | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Kept;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** When a process began, in the kernel's own unit; `undefined` when there is none, or nobody has noticed its death yet. */
async function beginOf(pid: number): Promise<string | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
    // The name before them, in parentheses, may hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const isDead = fields[0] === 'Z' || fields[0] === 'X';
    return isDead ? undefined : fields[19];
  } catch {
    return undefined;
  }
}
