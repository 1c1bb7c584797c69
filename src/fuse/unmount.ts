import { realpath } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { AttachError } from './attach.ts';
import { detach } from './detach.ts';
import { isOurs } from './mountinfo.ts';
import { dropRecord, isServed, recordOf } from './records.ts';

/** Milliseconds that the serving process is waited for, and between two looks. */
const WAIT = { total: 2_000, step: 20 } as const;

/**
 * Takes a mount away from its directory, and has its process end.
 *
 * @returns whether the process has ended; one that has not still serves open files
 * @throws AttachError when nothing of ours is mounted there
 */
export async function unmountServed(where: string): Promise<{ dir: string; pid?: number; ended: boolean }> {
  const dir = await realpath(where);
  if (!(await isOurs(dir))) throw new AttachError(`${where} is not a mount of skillfs; "skillfs mounts" lists them`);
  const record = await recordOf(dir);
  await detach(dir);
  if (record === undefined) return { dir, ended: true };
  const { pid } = record;
  if (await isServed(record)) process.kill(pid, 'SIGTERM');
  else await dropRecord(dir, pid);
  for (let waited = 0; waited < WAIT.total; waited += WAIT.step) {
    if (!(await isServed(record))) return { dir, pid, ended: true };
    await sleep(WAIT.step);
  }
  return { dir, pid, ended: false };
}
