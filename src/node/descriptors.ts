import type { Stat } from '../vfs/read-fs.ts';
import { native } from './native.ts';

/**
 * What the descriptors of this facade stand for. A descriptor is known by the file it was opened on: one that was closed,
 * by whomever, and whose number now is another file's, is not ours any more.
 */
export class Descriptors {
  readonly #open = new Map<number, { readonly identity: string | undefined; readonly stat: Stat }>();

  add(fd: number, stat: Stat): void {
    this.#open.set(fd, { identity: identityOf(fd), stat });
  }

  /** @returns `undefined` for what is not ours, or not open */
  get(fd: number): Stat | undefined {
    const known = this.#open.get(fd);
    if (known === undefined) return undefined;
    if (identityOf(fd) === known.identity) return known.stat;
    this.#open.delete(fd);
    return undefined;
  }
}

/** Inode numbers come again on some disks; the time a file lost its name does not. `undefined` when it is not open. */
function identityOf(fd: number): string | undefined {
  try {
    const { dev, ino, ctimeNs } = native.fstatSync(fd, { bigint: true });
    return `${dev} ${ino} ${ctimeNs}`;
  } catch {
    return undefined;
  }
}
