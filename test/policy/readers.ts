import matter from 'gray-matter';
import { load as load4 } from 'js-yaml';
import { load as load3 } from 'js-yaml3';
import { parse } from 'yaml';
import { splitSkillMd } from '../../src/catalog/frontmatter.ts';
import { MASKED_FIELDS } from '../../src/policy/mask.ts';

export const encode = (text: string) => new TextEncoder().encode(text);
export const decode = (bytes: Uint8Array) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);

type Read = (bytes: Uint8Array) => unknown;

const between = (bytes: Uint8Array) => splitSkillMd(bytes).yaml;

/** What hosts read a frontmatter with. They throw on what they do not accept. */
export const READERS: ReadonlyMap<string, Read> = new Map<string, Read>([
  ['yaml 1.2', (bytes) => parse(between(bytes), { logLevel: 'silent' })],
  ['yaml 1.1', (bytes) => parse(between(bytes), { version: '1.1', logLevel: 'silent' })],
  ['js-yaml 3', (bytes) => load3(between(bytes))],
  ['js-yaml 4', (bytes) => load4(between(bytes))],
  ['gray-matter', (bytes) => matter(decode(bytes), {}).data],
]);

export type Reading = { readonly value: unknown } | { readonly error: unknown };

export function readingOf(read: Read, bytes: Uint8Array): Reading {
  try {
    return { value: read(bytes) };
  } catch (error) {
    return { error };
  }
}

/** Any spelling of a field as one; written apart from the code under test. */
const plain = (name: string) =>
  name
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[\s_.-]/g, '');
const MASKED = new Set([...MASKED_FIELDS.keys()].map(plain));

export function isMaskedKey(key: string): boolean {
  return MASKED.has(plain(key));
}

/** A mapping without the masked fields; anything else as it is. */
export function withoutFields(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => !isMaskedKey(key)));
}
