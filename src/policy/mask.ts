import { FrontmatterError, type SkillMdText, splitSkillMd } from '../catalog/frontmatter.ts';
import { readYamlMapping } from '../catalog/frontmatter-yaml.ts';
import { assertExact, assertNothingShows } from './mask-check.ts';
import { directivesOf, type Range } from './mask-directives.ts';
import { MaskError } from './mask-error.ts';
import { type FieldRange, fieldsToMask } from './mask-frontmatter.ts';
import { FieldNames } from './masked-fields.ts';

export { MaskError, type MaskProblem } from './mask-error.ts';
export { MASKED_FIELDS } from './masked-fields.ts';

export interface MaskOptions {
  /** Names of fields to mask beside {@link MASKED_FIELDS}; the spelling does not matter. */
  readonly fields?: Iterable<string>;
}

/** What was masked: the bytes `start` to `end`, exclusive, of the file. */
export interface MaskedSpan extends Range {
  /** The field's key, or `undefined` for a command directive of the body. */
  readonly field: string | undefined;
  readonly reason: string;
  /** Of the first byte, counted from 1. */
  readonly line: number;
}

export interface MaskedSkill {
  readonly bytes: Uint8Array;
  /** In the order of the file. */
  readonly masked: readonly MaskedSpan[];
}

const [LF, CR, BLANK, HASH] = [0x0a, 0x0d, 0x20, 0x23];

/** Command directives in one file. */
const DIRECTIVES = 10_000;

/**
 * Takes the effect from what would widen permissions or run something (SEC-3), in place: the length of the file and all
 * its line ends stay. Fields of a block mapping become comments, those of a flow mapping blanks, and the `!` of a
 * command directive a blank. Anything else is as it was, and the rest of the frontmatter reads the same.
 *
 * @returns the very bytes given, if there is nothing to mask
 * @throws MaskError if that cannot be done with certainty for every reader
 */
export function maskSkill(bytes: Uint8Array, options: MaskOptions = {}): MaskedSkill {
  const names = new FieldNames(options.fields);
  const text = readable(bytes);
  const offsets = byteOffsets(bytes, text);
  const fields = fieldsToMask(withLf(text.yaml), names).map((field) => inBytes(field, offsets));
  const directives = boundedDirectives(bytes);
  if (fields.length === 0 && directives.length === 0) {
    assertNothingShows(text.yaml, names);
    return { bytes, masked: [] };
  }
  const masked = bytes.slice();
  for (const range of directives) writeBlanks(masked, range);
  for (const field of fields) (field.style === 'block' ? writeComment : writeBlanks)(masked, field);

  const after = splitSkillMd(masked).yaml;
  assertNothingShows(after, names);
  const spans = spansOf(bytes, fields, directives, names);
  const yamlEnd = offsets.at(-1) ?? 0;
  const inYaml = spans.find(({ field, start }) => field === undefined && start < yamlEnd);
  assertExact(withLf(text.yaml), withLf(after), names, inYaml?.line);
  return { bytes: masked, masked: spans };
}

/** The file's parts, if its frontmatter can be read. */
function readable(bytes: Uint8Array): SkillMdText {
  try {
    const text = splitSkillMd(bytes);
    readYamlMapping(withLf(text.yaml), 2);
    return text;
  } catch (error) {
    if (!(error instanceof FrontmatterError)) throw error;
    throw new MaskError('frontmatter', `its frontmatter cannot be read (${error.message})`, error.line, error);
  }
}

function withLf(yaml: string): string {
  return yaml.replaceAll('\r\n', '\n');
}

function boundedDirectives(bytes: Uint8Array): Range[] {
  const directives: Range[] = [];
  for (const range of directivesOf(bytes)) {
    directives.push(range);
    if (directives.length > DIRECTIVES) {
      throw new MaskError('too-many-directives', `it has more than ${DIRECTIVES} command directives`);
    }
  }
  return directives;
}

/** For every UTF-16 offset in the YAML with LF line ends, the end included, the offset of its byte in the file. */
function byteOffsets(bytes: Uint8Array, { start, yaml }: SkillMdText): Uint32Array {
  const offsets = new Uint32Array(yaml.length + 1);
  let byte = start + (bytes[0] === 0xef ? 3 : 0);
  let unit = 0;
  for (const char of yaml) {
    const code = char.codePointAt(0) ?? 0;
    // The CR of a CRLF has no offset of its own.
    const isDropped = code === CR && bytes[byte + 1] === LF;
    if (!isDropped) offsets.fill(byte, unit, unit + char.length);
    if (!isDropped) unit += char.length;
    byte += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  offsets[unit] = byte;
  return offsets;
}

function inBytes(field: FieldRange, offsets: Uint32Array): FieldRange {
  const [start = 0, end = 0, key = 0] = [field.start, field.end, field.key].map((offset) => offsets[offset]);
  return { ...field, start, end, key };
}

/** Every line that has anything in it begins with `#`, and so does the key, for readers that look for it in a line. */
function writeComment(bytes: Uint8Array, { start, end, key }: FieldRange): void {
  let isLineStart = true;
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? LF;
    const isLineEnd = byte === LF || byte === CR;
    if ((isLineStart && !isLineEnd) || at === key) writeHash(bytes, at);
    isLineStart = isLineEnd;
  }
}

/** Over one character, whatever the number of its bytes. */
function writeHash(bytes: Uint8Array, at: number): void {
  bytes[at] = HASH;
  for (let next = at + 1; ((bytes[next] ?? 0) & 0xc0) === 0x80; next++) bytes[next] = BLANK;
}

function writeBlanks(bytes: Uint8Array, { start, end }: Range): void {
  for (let at = start; at < end; at++) {
    if (bytes[at] !== LF && bytes[at] !== CR) bytes[at] = BLANK;
  }
}

function spansOf(
  bytes: Uint8Array,
  fields: readonly FieldRange[],
  directives: readonly Range[],
  names: FieldNames,
): MaskedSpan[] {
  const spans: Omit<MaskedSpan, 'line'>[] = [
    ...fields.map(({ field, start, end }) => ({ field, reason: names.reason(field) ?? '', start, end })),
    ...directives.map(({ start, end }) => ({
      field: undefined,
      reason: 'runs a command when the skill is loaded',
      start,
      end,
    })),
  ];
  let [line, at] = [1, 0];
  return spans
    .sort((a, b) => a.start - b.start)
    .map((span) => {
      for (; at < span.start; at++) if (bytes[at] === LF) line += 1;
      return { ...span, line };
    });
}
