import { findProgram, runProgram } from './command.ts';
import { isOurs } from './mountinfo.ts';

/**
 * Takes a mount of ours away from its directory. Files that are open stay readable until they are closed. Must not be
 * waited for by a blocked thread that answers the mount.
 *
 * @throws Error with what the system says
 */
export async function detach(dir: string): Promise<void> {
  if (!(await isOurs(dir))) return;
  try {
    if (process.getuid?.() === 0) await runProgram((await findProgram('umount')) ?? 'umount', ['-l', dir]);
    else await runProgram((await findProgram('fusermount3')) ?? 'fusermount3', ['-u', '-z', '--', dir]);
  } catch (error) {
    // Another end of the same mount may have been quicker.
    if (await isOurs(dir)) throw new Error(`${dir} could not be unmounted: ${(error as Error).message}`);
  }
}
