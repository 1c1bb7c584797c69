import { createHash } from 'node:crypto';
import { resolve } from 'node:path';

/** Whose content it is: one server, under one label, reached with one set of credentials (MAP-5, CACHE-2). */
export interface Scope {
  /** The name of the scope's directory. Credentials can be compared by it, and not read off it. */
  readonly id: string;
  readonly label: string;
}

/**
 * The scope of a server given as config. It is another one for another label, command, argument, variable, URL or header, and
 * for a command in another working directory: a relative path leads elsewhere there. Content is always kept apart by
 * credentials, whether or not the server calls it private.
 *
 * @param key a name for what the source stands for, and as whom, where the source itself does not tell: a connected client
 * @returns `undefined` when neither the source, which holds more than plain data, nor a key says what it is
 */
export function scopeOf(label: string, source: object, key?: string, cwd = process.cwd()): Scope | undefined {
  const identity = key === undefined ? identityOf(source, cwd) : { key };
  const text = identity && canonical({ label, identity });
  return text === undefined ? undefined : { id: `${labelPrefix(label)}${sha256(text)}`, label };
}

/** What the ids of all scopes of a label begin with. */
export function labelPrefix(label: string): string {
  return `${sha256(label).slice(0, 16)}-`;
}

/** Whether a name is that of a scope's directory. */
export function isScopeId(name: string): boolean {
  return /^[0-9a-f]{16}-[0-9a-f]{64}$/.test(name);
}

function identityOf(source: object, cwd: string): object {
  // Where a server's messages go says nothing about what it serves.
  const { stderr: _, ...rest } = source as { readonly stderr?: unknown; readonly cwd?: string };
  if (!('command' in rest)) return isPlain(source) ? rest : source;
  return { ...rest, cwd: resolve(cwd, rest.cwd ?? '.') };
}

/** JSON with sorted keys; `undefined` when a value is not plain data. */
function canonical(value: unknown): string | undefined {
  if (value === null || ['string', 'number', 'boolean'].includes(typeof value)) return JSON.stringify(value);
  if (typeof value !== 'object') return undefined;
  const pairs: [string, unknown][] = Object.entries(value).filter(([, item]) => item !== undefined);
  if (!Array.isArray(value)) {
    if (!isPlain(value)) return undefined;
    pairs.sort(([a], [b]) => (a < b ? -1 : 1));
  }
  const parts: string[] = [];
  for (const [name, item] of pairs) {
    const text = canonical(item);
    if (text === undefined) return undefined;
    parts.push(Array.isArray(value) ? text : `${JSON.stringify(name)}:${text}`);
  }
  return Array.isArray(value) ? `[${parts.join(',')}]` : `{${parts.join(',')}}`;
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
