import { fileURLToPath } from 'node:url';
import { Fault } from '../base/fault.ts';
import type { Op } from '../base/op.ts';
import type { ReadFs } from '../vfs/read-fs.ts';

/** Bytes of one name, and of a path with its ending NUL, that Linux takes. */
const NAME_MAX = 255;
const PATH_MAX = 4096;

/**
 * A path argument as text, as the caller spelled it: a string, a `Buffer`'s UTF-8, a `file:` URL's path.
 *
 * @param refuse Node's own function for this argument, called with what is no path
 * @throws what Node throws for what is no path, or holds a NUL byte
 */
export function spelledPath(path: unknown, refuse: (path: never) => unknown): string {
  if (typeof path === 'string') {
    if (!path.includes('\0')) return path;
  } else if (path instanceof Uint8Array) {
    if (!path.includes(0)) return asBuffer(path).toString();
  } else if (isUrl(path)) {
    return spelledPath(fileURLToPath(path), refuse);
  }
  refuse(path as never);
  throw new TypeError('The path is not valid');
}

/** A name or a path as Node gives it out: as bytes where a program asked for, or gave, bytes. */
export type Name = string | Uint8Array;

/** A path argument as Node gives it back: URLs as paths, bytes as they are. */
export function givenPath(path: unknown, spelled: string): Name {
  return path instanceof Uint8Array ? path : spelled;
}

export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Node takes whatever looks like a `URL` for one. */
export function isUrl(value: unknown): value is URL {
  if (typeof value !== 'object' || value === null) return false;
  const { href, protocol, auth, path } = value as Record<string, unknown>;
  return Boolean(href) && Boolean(protocol) && auth === undefined && path === undefined;
}

/** Whether a path is as the core wants it, so that nothing has to be resolved. */
export function isNormal(path: string): boolean {
  const { length } = path;
  return (
    path.charCodeAt(0) === 47 &&
    length <= NAME_MAX &&
    (length === 1 || path.charCodeAt(length - 1) !== 47) &&
    !path.includes('//') &&
    !path.includes('/.')
  );
}

/**
 * The absolute, normalised path a kernel would arrive at: `..` and `.` (and a trailing slash, which is the same as `/.`)
 * are looked up, so what comes before them has to be a directory. The process's working directory is known to be one.
 *
 * @throws `Fault` ENOENT, ENOTDIR, ENAMETOOLONG
 */
export function* resolvePath(core: ReadFs, path: string): Op<string> {
  if (path === '') throw new Fault('ENOENT');
  if (Buffer.byteLength(path) >= PATH_MAX) throw new Fault('ENAMETOOLONG');
  const names = path.startsWith('/') ? [] : process.cwd().split('/').filter(Boolean);
  let known = names.length;
  for (const name of (path.endsWith('/') ? `${path}.` : path).split('/')) {
    if (name === '') continue;
    const dots = name === '.' || name === '..';
    if (!dots && Buffer.byteLength(name) <= NAME_MAX) {
      names.push(name);
      continue;
    }
    if (names.length > known) yield* expectDirectory(core, `/${names.join('/')}`);
    if (!dots) throw new Fault('ENAMETOOLONG');
    if (name === '..') names.pop();
    known = Math.min(known, names.length);
  }
  return `/${names.join('/')}`;
}

/** @throws `Fault` ENOTDIR when it is a file */
export function* expectDirectory(core: ReadFs, path: string): Op<void> {
  const { kind } = yield* core.stat(path);
  if (kind !== 'directory') throw new Fault('ENOTDIR');
}
