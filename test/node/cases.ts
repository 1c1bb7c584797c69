import fs from 'node:fs';
import { pathToFileURL } from 'node:url';

/** Every kind of path there is, by name; `R` is the tree's root. */
export const PATHS: Readonly<Record<string, (root: string) => unknown>> = {
  'a file': (R) => `${R}/acme/billing/refunds/SKILL.md`,
  'a binary file': (R) => `${R}/acme/billing/refunds/assets/logo.png`,
  'a file named in another script': (R) => `${R}/acme/billing/refunds/assets/空 白.md`,
  'an empty file': (R) => `${R}/notes/.hidden/empty.txt`,
  'a large file': (R) => `${R}/notes/large.txt`,
  'the root': (R) => R,
  'a directory': (R) => `${R}/acme/billing`,
  'an empty directory': (R) => `${R}/acme/empty`,
  'a directory and a slash': (R) => `${R}/acme/billing/`,
  'a file and a slash': (R) => `${R}/notes/large.txt/`,
  'a file and a dot': (R) => `${R}/notes/large.txt/.`,
  'doubled slashes': (R) => `/${R}//notes///large.txt`,
  dots: (R) => `${R}/./notes/../notes/./large.txt`,
  'dots after a directory': (R) => `${R}/acme/billing/refunds/..`,
  'dots after a file': (R) => `${R}/notes/large.txt/../large.txt`,
  'dots after nothing': (R) => `${R}/missing/../notes/large.txt`,
  'dots above the top': (R) => `/../..${R}/notes/large.txt`,
  nothing: (R) => `${R}/missing.md`,
  'nothing below nothing': (R) => `${R}/missing/SKILL.md`,
  'nothing below a file': (R) => `${R}/notes/large.txt/SKILL.md`,
  'nothing, with a slash': (R) => `${R}/missing/`,
  'an empty string': () => '',
  'a name of 256 bytes': (R) => `${R}/${'n'.repeat(256)}`,
  'a name of 256 bytes below nothing': (R) => `${R}/missing/${'n'.repeat(256)}`,
  'a path of 4096 bytes': (R) => `${R}/${'n/'.repeat(2048)}`.slice(0, 4096),
  'a Buffer': (R) => Buffer.from(`${R}/notes/large.txt`),
  'a Uint8Array': (R) => new TextEncoder().encode(`${R}/acme`),
  'a Buffer of nothing': (R) => Buffer.from(`${R}/missing`),
  'a Buffer that is no UTF-8': (R) => Buffer.concat([Buffer.from(`${R}/`), Buffer.from([0xff, 0xfe])]),
  'a file URL': (R) => pathToFileURL(`${R}/acme/billing/refunds/assets/空 白.md`),
  'a file URL of a directory': (R) => pathToFileURL(`${R}/acme/`),
  'a file URL of nothing': (R) => pathToFileURL(`${R}/missing`),
  'another URL': () => new URL('https://example.com/notes'),
  'a file URL with an escaped slash': (R) => new URL(`file://${R}/notes%2Flarge.txt`),
  'a relative path': () => 'notes/large.txt',
  'a relative directory': () => './acme/../acme/',
  'the working directory': () => '.',
  'above the working directory': (R) => `../${R.slice(R.lastIndexOf('/') + 1)}/notes`,
  'nothing relative': () => 'missing/../notes',
  'a NUL byte': (R) => `${R}/notes\0/large.txt`,
  'a Buffer with a NUL byte': (R) => Buffer.from(`${R}/notes\0`),
  'a descriptor that is not open': () => 999_999,
  undefined: () => undefined,
  null: () => null,
  'a boolean': () => true,
  'an object': () => ({}),
  'a function': () => () => undefined,
};

const ENCODINGS = ['utf8', 'utf-8', 'latin1', 'hex', 'base64', 'base64url', 'ucs2', 'ascii', 'buffer'] as const;
const BAD_OPTIONS = ['no-such-encoding', { encoding: 'no-such-encoding' }, 7, true] as const;

/** The options each function is called with, next to none. */
export const OPTIONS: Readonly<Record<string, readonly unknown[]>> = {
  stat: [{}, { bigint: true }, { bigint: false }],
  lstat: [{ bigint: true }],
  statfs: [{ bigint: true }],
  access: [0, 1, 4, 5, 8, -1, 1.5, '4', null, {}],
  readFile: [
    ...ENCODINGS.filter((encoding) => encoding !== 'buffer'),
    null,
    {},
    { encoding: 'utf8' },
    { encoding: null },
    { encoding: 'hex', flag: 'r' },
    { flag: 'rs' },
    { flag: fs.constants.O_RDONLY },
    { flag: 'no-such-flag' },
    { flag: 1.5 },
    { signal: 'no signal' },
    'buffer',
    ...BAD_OPTIONS,
  ],
  readdir: [
    ...ENCODINGS,
    null,
    { encoding: 'buffer' },
    { withFileTypes: true },
    { withFileTypes: true, encoding: 'buffer' },
    { withFileTypes: true, encoding: 'hex' },
    { recursive: true },
    { recursive: true, withFileTypes: true },
    { recursive: 1 },
    ...BAD_OPTIONS,
  ],
  readlink: ['utf8', ...BAD_OPTIONS],
  realpath: [...ENCODINGS, { encoding: 'hex' }, null, ...BAD_OPTIONS],
};

const MAJOR = Number(process.versions.node.split('.')[0]);

interface Call {
  readonly name: string;
  /** `sync`, `promised` or `calledBack`. */
  readonly form: string;
  /** A key of {@link PATHS}. */
  readonly path: string;
  readonly options: unknown;
}

/** Where a difference is meant, and why. The rest has to be the same to the letter. */
const EXCEPTIONS: Readonly<Record<string, (call: Call) => boolean>> = {
  'Node 20 calls back before a recursive readdir has returned, and throws its errors; we never do': ({
    name,
    form,
    options,
  }) => name === 'readdir' && form === 'calledBack' && isRecursive(options),
  'Node 20 cannot join a path given as bytes in a recursive readdir; later versions and we can': ({
    name,
    path,
    options,
  }) => name === 'readdir' && isRecursive(options) && /Buffer|Uint8Array/.test(path),
  'promises.readdir of Node 20 takes any `recursive`': ({ name, form, options }) =>
    name === 'readdir' && form === 'promised' && (options as { recursive?: unknown } | undefined)?.recursive === 1,
  'callback readFile of Node looks at the flag first, and calls it by another name': ({ name, form, options }) =>
    name === 'readFile' && form === 'calledBack' && hasBadFlag(options),
  'promises.readFile of Node fails late for the encoding "buffer", and not as the others do': ({
    name,
    form,
    options,
  }) => name === 'readFile' && form === 'promised' && options === 'buffer',
  'promises.readlink of Node 22 and later calls its path `oldPath`': ({ name, form }) =>
    name === 'readlink' && form === 'promised' && MAJOR >= 22,
  'asynchronous reads of a directory know its path in Node 26': ({ name, form }) =>
    name === 'readFile' && form !== 'sync' && MAJOR >= 26,
  'readFileSync of Node 26 looks at the flag before the path': ({ name, form, options }) =>
    name === 'readFile' && form === 'sync' && hasBadFlag(options) && MAJOR >= 26,
  'the C library resolves a path of any length in `realpath`': ({ name, path }) =>
    name === 'realpath' && path === 'a path of 4096 bytes',
};

export function isMeant(call: Call): boolean {
  return Object.values(EXCEPTIONS).some((matches) => matches(call));
}

function isRecursive(options: unknown): boolean {
  return typeof options === 'object' && options !== null && 'recursive' in options;
}

function hasBadFlag(options: unknown): boolean {
  const { flag } = (options ?? {}) as { flag?: unknown };
  return flag === 1.5 || flag === 'no-such-flag';
}
