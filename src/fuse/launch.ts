import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { type FileHandle, open, readdir, readFile, realpath, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { AttachError, attach, unavailable } from './attach.ts';
import { detach } from './detach.ts';
import { isOurs } from './mountinfo.ts';
import { isServed, recordFile, recordOf } from './records.ts';
import { type Arrangement, isOutcome, type Outcome, type ServingOptions, type Setup } from './setup.ts';

export interface LaunchOptions {
  readonly options: ServingOptions;
  readonly arrangement: Arrangement;
  readonly verbose: boolean;
  /**
   * `program`: the mount ends with this process. `command`: so it does, but what a terminal sends to its programs is not for
   * it, and it is silent. `detached`: it outlives this process, and its messages go to a file.
   */
  readonly lifetime: 'program' | 'command' | 'detached';
  /** Whether the directory may hold something, which is hidden while it is mounted on. */
  readonly nonempty: boolean;
  /** Whether other users may look into the mount; as root only. */
  readonly allowOther: boolean;
}

/** A mount that answers, and the process that serves it. */
export interface Launched {
  readonly dir: string;
  readonly child: ChildProcess;
}

/** Milliseconds that the serving process may take to begin. */
const START = 30_000;

/** What waits for the kernel holds threads of Node's pool; so many leave room for lookups of host names. */
const THREADS = '8';

/**
 * Mounts on a directory, and starts the process that serves it.
 *
 * @throws AttachError when it cannot be mounted on; nothing is left of the attempt
 */
export async function launch(where: string, options: LaunchOptions): Promise<Launched> {
  const dir = await usableDirectory(where, options.nonempty);
  await refuseCovered(dir, options.arrangement);
  const command = [process.execPath, servingProgram()] as const;
  const { device, ...attached } = await attach(dir, command, options.allowOther);
  const { lifetime } = options;
  const logFile = lifetime === 'detached' ? await recordFile(dir, 'log') : undefined;
  const log = logFile === undefined ? undefined : await open(logFile, 'w', 0o600);
  try {
    const child = start(attached, { device, log, lifetime });
    await begin(child, setupOf(dir, options, logFile));
    await stat(dir);
    return { dir, child };
  } catch (error) {
    await detach(dir);
    throw await failure(error, logFile);
  } finally {
    await Promise.all([device?.close(), log?.close()]);
  }
}

/** Takes a mount away. @returns when its process has ended */
export async function withdraw({ dir, child }: Launched): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.ref();
  await detach(dir);
  child.kill('SIGTERM');
  await ended;
}

/** @throws AttachError when it is no directory, or not empty; a mount of ours that nobody serves any more is taken away */
async function usableDirectory(where: string, nonempty: boolean): Promise<string> {
  const cannot = (why: string) => new AttachError(`cannot mount on ${where}: ${why}`);
  const dir = await realpath(where).catch((error: Error) => {
    throw cannot(error.message);
  });
  if (await isOurs(dir)) {
    if (!(await isAbandoned(dir))) throw cannot('it is mounted on already');
    await detach(dir);
  }
  const entries = await readdir(dir).catch((error: Error) => {
    throw cannot(error.message);
  });
  if (nonempty || entries.length === 0) return dir;
  throw cannot('it is not empty; what is in it would be hidden (--nonempty allows it)');
}

/**
 * A local directory must not be reached through the mount itself: whoever serves it would wait for itself.
 *
 * @throws AttachError naming the one that would be
 */
async function refuseCovered(dir: string, { local = [] }: Arrangement): Promise<void> {
  for (const path of local) {
    const real = await realpath(path).catch(() => resolve(path));
    if (real !== dir && !real.startsWith(`${dir}/`)) continue;
    throw new AttachError(
      `cannot mount on ${dir}: the local directory ${path} would be hidden by it; mount somewhere else`,
    );
  }
}

/** Whether the process that served a mount is gone. The kernel may still know the attributes, but not the entries. */
async function isAbandoned(dir: string): Promise<boolean> {
  const record = await recordOf(dir);
  if (record !== undefined && (await isServed(record))) return false;
  return readdir(dir).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === 'ENOTCONN' || error.code === 'ECONNABORTED',
  );
}

function setupOf(dir: string, launched: LaunchOptions, log: string | undefined): Setup {
  const { options, verbose, lifetime } = launched;
  const detached = lifetime === 'detached';
  const { local = [], ...rest } = launched.arrangement;
  const arrangement = { ...rest, local: local.map((path) => resolve(path)) };
  return { dir, options, arrangement, verbose, detached, ...(log !== undefined && { log }) };
}

interface Streams {
  readonly device: FileHandle | undefined;
  readonly log: FileHandle | undefined;
  readonly lifetime: LaunchOptions['lifetime'];
}

function start({ command, args }: { command: string; args: readonly string[] }, streams: Streams): ChildProcess {
  const { device, log, lifetime } = streams;
  const stderr = lifetime === 'command' ? 'ignore' : 'inherit';
  return spawn(command, args, {
    detached: lifetime !== 'program',
    // Hooks of this program, which may replace what reads files, are not for that one.
    env: { ...process.env, NODE_OPTIONS: undefined, UV_THREADPOOL_SIZE: process.env['UV_THREADPOOL_SIZE'] ?? THREADS },
    stdio: ['pipe', 'pipe', log?.fd ?? stderr, ...(device === undefined ? [] : ['ignore' as const, device.fd])],
  });
}

/** Waits until the process serves. @throws Error with what it says, or how it ended */
async function begin(child: ChildProcess, setup: Setup): Promise<void> {
  const [stdin, stdout] = [child.stdin as Writable, child.stdout as Readable];
  // A process that ended tells so itself.
  stdin.on('error', () => {});
  stdin.write(`${JSON.stringify(setup)}\n`);
  const deadline = AbortSignal.timeout(START);
  try {
    const outcome = await Promise.race([
      firstOutcome(stdout),
      once(child, 'exit', { signal: deadline }).then(([code, signal]): Outcome => {
        return { failed: `the serving process ended with ${signal ?? code} before it answered` };
      }),
    ]);
    if ('failed' in outcome) throw new Error(outcome.failed);
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  } finally {
    stdout.destroy();
  }
  if (setup.detached) stdin.end();
}

async function firstOutcome(stdout: Readable): Promise<Outcome> {
  for await (const line of createInterface({ input: stdout })) {
    const said: unknown = JSON.parse(line);
    if (isOutcome(said)) return said;
  }
  // It ended, which is told in its own words.
  return new Promise(() => {});
}

/** With what the process wrote, where that went to a file. */
async function failure(error: unknown, log: string | undefined): Promise<AttachError> {
  const written = log === undefined ? '' : (await readFile(log, 'utf8')).trim();
  if (log !== undefined) await rm(log, { force: true });
  return unavailable([(error as Error).message, ...(written === '' ? [] : [written])].join('\n'));
}

/** The program is beside this module, as it is published; a program bundled into one file finds it in its packages. */
function servingProgram(): string {
  const beside = new URL('./fuse-server.js', import.meta.url);
  if (existsSync(beside)) return fileURLToPath(beside);
  for (const from of [import.meta.url, pathToFileURL(`${process.cwd()}/`).href]) {
    try {
      return createRequire(from).resolve('skillfs/fuse-server');
    } catch {
      // Not resolvable from there.
    }
  }
  throw new AttachError(
    'cannot mount: the program that serves mounts (skillfs/fuse-server) is missing from this installation',
  );
}
