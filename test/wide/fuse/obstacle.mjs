import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const isRoot = process.getuid?.() === 0;
export const has = (program) =>
  process.env.PATH.split(delimiter).some((directory) => existsSync(join(directory, program)));

/** Why nothing can be mounted here; `undefined` when it can. */
export function obstacle() {
  if (process.platform !== 'linux' || !existsSync('/dev/fuse')) return 'there is no /dev/fuse';
  if (!isRoot) return has('fusermount3') ? undefined : 'not root, and there is no fusermount3';
  const [, capabilities] = /^CapEff:\s*(\w+)$/m.exec(readFileSync('/proc/self/status', 'utf8'));
  return (BigInt(`0x${capabilities}`) >> 21n) & 1n ? undefined : 'root may not mount here (CAP_SYS_ADMIN)';
}
