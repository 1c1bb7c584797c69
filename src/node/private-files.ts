import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { native, nativePromises } from './native.ts';

/** Leading part of our directories' names; the process id and a random part follow. */
const PREFIX = 'skillfs-';

let directory: string | undefined;
let files = 0;

/**
 * Opens content on the real disk, so that a descriptor is Node's own: in a file (or an empty directory) that only this
 * user can read, in a directory only this user can enter, and that has no name any more when this returns.
 *
 * @param content a file's bytes; a directory where there are none
 */
export function openPrivate(content: Uint8Array | undefined): number {
  const path = place(content);
  try {
    return native.openSync(path, 'r');
  } finally {
    unplace(path, content);
  }
}

/** As {@link openPrivate}, giving one of Node's own handles. */
export async function openPrivateHandle(content: Uint8Array | undefined) {
  const path = place(content);
  try {
    return await nativePromises.open(path, 'r');
  } finally {
    unplace(path, content);
  }
}

function place(content: Uint8Array | undefined): string {
  directory ??= createDirectory();
  files += 1;
  const path = join(directory, String(files));
  try {
    write(path, content);
    return path;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    // Somebody cleaned up the temporary directory.
    directory = createDirectory();
    const again = join(directory, String(files));
    write(again, content);
    return again;
  }
}

function write(path: string, content: Uint8Array | undefined): void {
  if (content === undefined) native.mkdirSync(path, { mode: 0o500 });
  else native.writeFileSync(path, content, { mode: 0o400, flag: 'wx' });
}

function unplace(path: string, content: Uint8Array | undefined): void {
  if (content === undefined) native.rmdirSync(path);
  else native.unlinkSync(path);
}

function createDirectory(): string {
  sweep();
  const created = native.mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
  process.once('exit', () => native.rmSync(created, { recursive: true, force: true }));
  return created;
}

/** Removes what processes that ended without an exit left behind. */
function sweep(): void {
  for (const name of native.readdirSync(tmpdir())) {
    const pid = name.startsWith(PREFIX) ? /^\d+(?=-)/.exec(name.slice(PREFIX.length))?.[0] : undefined;
    if (pid === undefined || isAlive(Number(pid))) continue;
    try {
      native.rmSync(join(tmpdir(), name), { recursive: true, force: true });
    } catch {
      // It is another user's.
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
