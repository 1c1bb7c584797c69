import type { Outcome } from './calls.ts';

/** What can be compared of a value or an error, as plain JSON. */
export type Facts = string | number | boolean | null | readonly Facts[] | { readonly [key: string]: Facts };

const KINDS = [
  'isFile',
  'isDirectory',
  'isSymbolicLink',
  'isBlockDevice',
  'isCharacterDevice',
  'isFIFO',
  'isSocket',
] as const;

/** Fields of stats that may be compared: access times change by looking. */
const STAT_FIELDS = [
  'dev',
  'ino',
  'mode',
  'nlink',
  'uid',
  'gid',
  'rdev',
  'size',
  'blksize',
  'blocks',
  'mtimeMs',
  'ctimeMs',
  'birthtimeMs',
] as const;

/** Which of the seven `is…` methods of a `Dirent` or `Stats` say yes; `none` when it has not all of them. */
export function kindOf(value: unknown): string {
  const object = value as Readonly<Record<string, unknown>>;
  const kinds = KINDS.filter((kind) => {
    const method = object[kind];
    return typeof method === 'function' && method.call(value) === true;
  });
  const complete = KINDS.every((kind) => typeof object[kind] === 'function');
  return complete && kinds.length > 0 ? kinds.map((kind) => kind.slice(2).toLowerCase()).join('+') : 'none';
}

export function factsOf(value: unknown): Facts {
  if (value === undefined) return 'undefined';
  if (typeof value === 'bigint') return `${value}n`;
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return value;
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString('latin1')}`;
  if (Array.isArray(value)) return value.map(factsOf);
  const object = value as Readonly<Record<string, unknown>>;
  if (typeof object['isFile'] !== 'function') return Object.prototype.toString.call(value);
  if (!('ino' in object)) {
    const { name, parentPath } = object;
    return { kind: kindOf(value), name: factsOf(name), parentPath: factsOf(parentPath) };
  }
  return { kind: kindOf(value), ...Object.fromEntries(STAT_FIELDS.map((field) => [field, factsOf(object[field])])) };
}

const ERROR_FIELDS = ['code', 'errno', 'syscall', 'path', 'dest', 'message'] as const;

export function errorFacts(error: unknown): Facts {
  if (!(error instanceof Error)) return { thrown: String(error) };
  const object = error as unknown as Readonly<Record<string, unknown>>;
  return { error: Object.fromEntries(ERROR_FIELDS.map((field) => [field, factsOf(object[field])])) };
}

export function outcomeFacts(outcome: Outcome): Facts {
  return 'error' in outcome ? errorFacts(outcome.error) : factsOf(outcome.value);
}

/** The code of the error a call ended with, its message where it has none; `no error` when it ended well. */
export function codeOf(outcome: Outcome): string {
  if (!('error' in outcome)) return 'no error';
  const { error } = outcome;
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : String(error);
}

/** `undefined` when both are the same, else where they differ: `size 3 and 4`. */
export function difference(a: Facts, b: Facts, where = ''): string | undefined {
  if (JSON.stringify(a) === JSON.stringify(b)) return undefined;
  if (isRecord(a) && isRecord(b)) {
    const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])];
    const differences = keys.map((key) => difference(a[key] ?? 'nothing', b[key] ?? 'nothing', key));
    return differences.filter((one) => one !== undefined).join(', ');
  }
  return `${where} ${show(a)} and ${show(b)}`.trimStart();
}

/** A value in a message, cut where it is long. */
export function show(value: Facts): string {
  const text = JSON.stringify(value);
  return text.length > 160 ? `${text.slice(0, 150)}… (${text.length} characters)` : text;
}

export function isRecord(facts: Facts): facts is { readonly [key: string]: Facts } {
  return typeof facts === 'object' && facts !== null && !Array.isArray(facts);
}
