import { spawn } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/** Where system programs are that not everybody has in their PATH. */
const SYSTEM_DIRECTORIES = ['/usr/sbin', '/usr/bin', '/sbin', '/bin'];

/** Finds a program as a shell would, and where system programs are; `undefined` when there is none. */
export async function findProgram(name: string): Promise<string | undefined> {
  const directories = (process.env['PATH'] ?? '').split(delimiter).filter((dir) => dir !== '');
  for (const directory of [...directories, ...SYSTEM_DIRECTORIES]) {
    const file = join(directory, name);
    try {
      await access(file, constants.X_OK);
      return file;
    } catch {
      // Not here.
    }
  }
  return undefined;
}

/**
 * Runs a program to its end.
 *
 * @param fd what it finds as descriptor 3
 * @throws Error with what it said, when it failed
 */
export function runProgram(file: string, args: readonly string[], fd?: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { stdio: ['ignore', 'ignore', 'pipe', ...(fd === undefined ? [] : [fd])] });
    let said = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (said += text));
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(said.trim() || `${file} ended with ${code}`));
    });
  });
}
