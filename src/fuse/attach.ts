import { constants } from 'node:fs';
import { access, type FileHandle, open } from 'node:fs/promises';
import { findProgram, runProgram } from './command.ts';
import { HELPERS } from './fusermount-helpers.ts';
import { FILE_SYSTEM_TYPE } from './mountinfo.ts';

const DEVICE = '/dev/fuse';

/** No change, no devices, no other user's identity, and nothing runs (SEC-1). The kernel checks permissions. */
const FLAGS = 'ro,nosuid,nodev,noexec,default_permissions';

/** How a program is started so that it finds the mount as descriptor 4. */
export interface Attachment {
  readonly command: string;
  readonly args: readonly string[];
  /** What to pass as descriptor 4, and to close afterwards; absent when the command gets it by itself. */
  readonly device: FileHandle | undefined;
}

/** A directory that cannot be mounted on. */
export class AttachError extends Error {
  override readonly name = 'AttachError';
  readonly code = 'ERR_SKILLFS_MOUNT';
}

/**
 * Mounts on a directory, for a program that will answer.
 *
 * @param command the program, and its arguments
 * @param allowOther whether other users may look into the mount; as root only
 * @throws AttachError with the reasons, and what works instead
 */
export async function attach(
  dir: string,
  command: readonly [string, ...string[]],
  allowOther: boolean,
): Promise<Attachment> {
  if (process.platform !== 'linux') throw unavailable(`kernel mounts work on Linux, and this is ${process.platform}`);
  try {
    await access(DEVICE, constants.F_OK);
  } catch {
    throw unavailable(`${DEVICE} is not there: this kernel or container has no FUSE`);
  }
  if (process.getuid?.() === 0) return attachAsRoot(dir, command, allowOther);
  if (allowOther) throw new AttachError('allowing other users to look into a mount needs root');
  return attachAsUser(dir, command);
}

async function attachAsRoot(dir: string, [program, ...args]: readonly [string, ...string[]], allowOther: boolean) {
  const device = await open(DEVICE, 'r+').catch((error: Error) => {
    throw unavailable(error.message);
  });
  const options = `fd=3,rootmode=40000,user_id=0,group_id=0,${FLAGS}${allowOther ? ',allow_other' : ''}`;
  const mount = (await findProgram('mount')) ?? 'mount';
  try {
    await runProgram(mount, ['-i', '-n', '-t', FILE_SYSTEM_TYPE, '-o', options, 'skillfs', dir], device.fd);
  } catch (error) {
    await device.close();
    throw unavailable((error as Error).message);
  }
  return { command: program, args, device };
}

async function attachAsUser(dir: string, command: readonly [string, ...string[]]): Promise<Attachment> {
  const fusermount = await findProgram('fusermount3');
  if (fusermount === undefined) {
    throw unavailable('this user is not root, and fusermount3 (of the package fuse3) is not installed');
  }
  const options = `${FLAGS},fsname=skillfs,subtype=skillfs,auto_unmount`;
  for (const { program, args } of HELPERS) {
    const helper = await findProgram(program);
    if (helper === undefined) continue;
    return { command: helper, args: [...args, fusermount, options, dir, ...command], device: undefined };
  }
  const names = HELPERS.map(({ program }) => program).join(' nor ');
  throw unavailable(`this user is not root, and to take the mount over from fusermount3 neither ${names} is installed`);
}

/** The reason, and what gives files without a kernel mount. */
export function unavailable(reason: string): AttachError {
  return new AttachError(
    `cannot mount: ${reason}. Without a kernel mount, "skillfs run" shows the files to a Node.js program, and ` +
      '"skillfs export" writes them to a directory',
  );
}
