import { checkedByNode } from './native.ts';

/** `undefined` is UTF-8 text. */
export type NameEncoding = BufferEncoding | 'buffer' | undefined;

/**
 * The encoding of names in an options argument, which is an encoding or an object that may have one.
 *
 * @param refuse Node's own function for these options, given a path where nothing is
 * @throws what Node throws for options it does not take
 */
export function encodingOf(options: unknown, refuse: (options: never) => unknown): NameEncoding {
  if (options === undefined || options === null) return undefined;
  const encoding: unknown = typeof options === 'object' ? (options as { encoding?: unknown }).encoding : options;
  if (encoding === 'utf8' || (typeof options === 'object' && !encoding)) return undefined;
  if (encoding === 'buffer' || (typeof encoding === 'string' && Buffer.isEncoding(encoding))) return encoding;
  checkedByNode(() => refuse(options as never));
  return undefined;
}

export function encodeName(name: string, encoding: NameEncoding): string | Buffer {
  if (encoding === undefined) return name;
  const bytes = Buffer.from(name);
  return encoding === 'buffer' ? bytes : bytes.toString(encoding);
}
