import { quoted } from '../base/quote.ts';
import { isAbsence, isUnknownMethod, MalformedResult } from './wire-errors.ts';

/** An object of an answer, its fields unchecked. */
export function record(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
}

/** Turns "no such thing" into `undefined`; a failure stays one (ERR-1). */
export async function absentAsUndefined<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
}

/** As {@link absentAsUndefined}; a method that the server does not have has nothing, either. */
export async function unknownAsUndefined<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await absentAsUndefined(answer);
  } catch (error) {
    if (isUnknownMethod(error)) return undefined;
    throw error;
  }
}

/**
 * The JSON that a `resources/read` result holds: in exactly one text item, for the URI asked (RD-1).
 *
 * @throws MalformedResult
 */
export function jsonOf(result: unknown, uri: string): unknown {
  const contents = record(result)?.['contents'];
  const [item, ...more] = Array.isArray(contents) ? contents.map(record) : [];
  if (item === undefined || more.length > 0) throw new MalformedResult(`${uri}: the answer has not one content item`);
  if (item['uri'] !== uri) {
    throw new MalformedResult(`${uri}: the content item is for ${quoted(item['uri'])}`);
  }
  if (typeof item['text'] !== 'string') throw new MalformedResult(`${uri} is no text`);
  try {
    return JSON.parse(item['text']);
  } catch {
    throw new MalformedResult(`${uri} is no JSON`);
  }
}
