import type { SkillMd } from './frontmatter.ts';
import type { Source, YamlMapping } from './frontmatter-yaml.ts';
import { sameInstant } from './timestamp.ts';

/** A field that an entry and its SKILL.md give differently. */
export interface FrontmatterDifference {
  /** `metadata.version`, `tags[1]`. */
  readonly field: string;
  /** `undefined` where the entry does not have the field. */
  readonly entry: unknown;
  /** `undefined` where the file does not have the field. */
  readonly file: unknown;
}

/**
 * Compares an entry's frontmatter with the file's, field by field and both ways (VER-4): arrays in order, mappings in any
 * order, numbers by value. The file's fields come first.
 *
 * YAML readers type one plain (unquoted) scalar differently, so that a faithful server may list another value than we
 * read. A value in which only the reading of one plain scalar differs is no difference; any other is:
 *
 * | plain scalar              | accepted in the entry, beside the text itself                                     |
 * |---------------------------|-----------------------------------------------------------------------------------|
 * | `~`, `null`, nothing      | null, ""                                                                          |
 * | `yes` `on` `y` `true` …   | true; the negatives: false                                                        |
 * | `012`                     | 12 (YAML 1.2), 10 (YAML 1.1)                                                      |
 * | `0o12`, `0x1F`, `0b11`    | the number in base 8, 16, 2                                                       |
 * | `1_000`, `1.10`, `1e3`    | the number, underscores left out                                                  |
 * | `1:30`, `1:30.5`          | 90, 90.5 (base 60)                                                                |
 * | `.inf`, `.nan`, `1e999`   | null, "Infinity", "-Infinity", "NaN"                                              |
 * | `2026-03-05`, `… 10:00Z`  | the same instant as a date-time text, with or without fraction, UTC without zone  |
 *
 * Plain keys are matched likewise, as the text of any such reading. Quoted, block and tagged scalars have one reading.
 */
export function frontmatterDifferences(
  entry: Readonly<Record<string, unknown>>,
  read: Pick<SkillMd, 'frontmatter' | 'source'>,
): readonly FrontmatterDifference[] {
  return [...mappingDifferences(entry, { value: read.frontmatter, source: read.source }, '')];
}

function* mappingDifferences(
  entry: Readonly<Record<string, unknown>>,
  file: YamlMapping,
  prefix: string,
): Generator<FrontmatterDifference> {
  const matched = new Set<string>();
  for (const [name, written] of file.source) {
    const field = prefix + name;
    const isFree = (key: string) => Object.hasOwn(entry, key) && (key === name || !file.source.has(key));
    const listed = [name, ...readings(written.key).map(String)].find((key) => isFree(key) && !matched.has(key));
    if (listed === undefined) yield { field, entry: undefined, file: file.value[name] };
    else {
      matched.add(listed);
      yield* differences(entry[listed], file.value[name], written.value, field);
    }
  }
  for (const name of Object.keys(entry)) {
    if (!matched.has(name)) yield { field: prefix + name, entry: entry[name], file: undefined };
  }
}

function* differences(entry: unknown, file: unknown, source: Source, field: string): Generator<FrontmatterDifference> {
  if (source instanceof Map && isMapping(entry) && isMapping(file)) {
    yield* mappingDifferences(entry, { value: file, source }, `${field}.`);
  } else if (Array.isArray(source) && Array.isArray(entry) && Array.isArray(file) && entry.length === file.length) {
    for (const [index, item] of file.entries()) {
      yield* differences(entry[index], item, source[index], `${field}[${index}]`);
    }
  } else if (!isSameScalar(entry, file, source)) yield { field, entry, file };
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isSameScalar(entry: unknown, file: unknown, source: Source): boolean {
  if (typeof file === 'object' && file !== null) return false;
  if (entry === file) return true;
  if (typeof source !== 'string') return false;
  return readings(source).includes(entry) || (typeof entry === 'string' && sameInstant(source, entry));
}

interface Reading {
  readonly of: RegExp;
  readonly as: (text: string) => readonly unknown[];
}

/** The rows of the table above, but for the timestamps. */
const READINGS: readonly Reading[] = [
  { of: /^(?:~|null|Null|NULL|)$/, as: () => [null, ''] },
  { of: /^(?:y|Y|yes|Yes|YES|on|On|ON|true|True|TRUE)$/, as: () => [true] },
  { of: /^(?:n|N|no|No|NO|off|Off|OFF|false|False|FALSE)$/, as: () => [false] },
  { of: /^[-+]?0[0-7_]+$/, as: (text) => [inBase(8, text)] },
  { of: /^[-+]?0o[0-7_]+$/, as: (text) => [inBase(8, text)] },
  { of: /^[-+]?0x[0-9A-Fa-f_]+$/, as: (text) => [inBase(16, text)] },
  { of: /^[-+]?0b[01_]+$/, as: (text) => [inBase(2, text)] },
  {
    of: /^[-+]?(?:\.[0-9][0-9_]*|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?$/,
    as: (text) => asJson(Number(text.replaceAll('_', ''))),
  },
  { of: /^[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+$/, as: (text) => [inBase60(text)] },
  { of: /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*$/, as: (text) => [inBase60(text)] },
  { of: /^[-+]?\.(?:inf|Inf|INF)$/, as: (text) => asJson(text.startsWith('-') ? -Infinity : Infinity) },
  { of: /^\.(?:nan|NaN|NAN)$/, as: () => asJson(Number.NaN) },
];

/** What YAML 1.1, YAML 1.2 and failsafe readers make of a plain scalar, as JSON values. */
function readings(text: string | undefined): readonly unknown[] {
  if (text === undefined) return [];
  return [text, ...READINGS.flatMap((reading) => (reading.of.test(text) ? reading.as(text) : []))];
}

function inBase(base: number, text: string): number {
  const digits = Number.parseInt(text.replace(/^[-+]?0[box]?/, '').replaceAll('_', ''), base);
  return text.startsWith('-') ? -digits : digits;
}

function inBase60(text: string): number {
  const parts = text.replace(/^[-+]/, '').replaceAll('_', '').split(':');
  const value = parts.reduce((sum, part) => sum * 60 + Number(part), 0);
  return text.startsWith('-') ? -value : value;
}

/** JSON has no infinities and no NaN; renderers write null or their names. */
function asJson(value: number): readonly unknown[] {
  return Number.isFinite(value) ? [value] : [null, String(value)];
}
