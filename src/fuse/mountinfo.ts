import { readFile } from 'node:fs/promises';

/** The type under which the kernel lists our mounts. */
export const FILE_SYSTEM_TYPE = 'fuse.skillfs';

export interface KernelMountEntry {
  readonly dir: string;
  readonly type: string;
}

/** The mounts that this process sees, in the order they were made. */
export async function kernelMounts(): Promise<readonly KernelMountEntry[]> {
  return parseMountinfo(await readFile('/proc/self/mountinfo', 'utf8'));
}

/** Reads `/proc/self/mountinfo` (proc(5)): the fifth field is where, the type follows a lone dash. */
export function parseMountinfo(text: string): readonly KernelMountEntry[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const fields = line.split(' ');
      return { dir: unescaped(fields[4] ?? ''), type: fields[fields.indexOf('-') + 1] ?? '' };
    });
}

/** Whether what is mounted at a directory, uppermost, is ours. */
export async function isOurs(dir: string): Promise<boolean> {
  const at = (await kernelMounts()).filter((mount) => mount.dir === dir);
  return at.at(-1)?.type === FILE_SYSTEM_TYPE;
}

/** Spaces, tabs, line ends and backslashes are written in octal, as the bytes they are. */
function unescaped(field: string): string {
  return field.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
