import {
  type CST,
  isAlias,
  isMap,
  isNode,
  isScalar,
  LineCounter,
  type Pair,
  parseDocument,
  visit,
  type YAMLMap,
} from 'yaml';
import type { Range } from './mask-directives.ts';
import { MaskError } from './mask-error.ts';
import type { FieldNames } from './masked-fields.ts';

/** A masked field, by offsets in the text it was found in. */
export interface FieldRange extends Range {
  readonly field: string;
  readonly style: 'block' | 'flow';
  /** Where the key begins, which may be inside its line. */
  readonly key: number;
  /** Counted from 1 in the file. */
  readonly line: number;
}

/** The tags whose nodes every reader makes the same of. */
const CORE_TAGS = new Set(
  ['str', 'int', 'float', 'bool', 'null', 'map', 'seq'].map((tag) => `tag:yaml.org,2002:${tag}`),
);

const REWRITE = 'the author has to write it otherwise, or the user has to grant the skill';

/**
 * Finds the top-level fields to mask. A block field is all lines from its key to the next key; a flow field goes to the
 * comma that ends it, or begins at the one before it if it is the last.
 *
 * @param yaml a mapping that the frontmatter reader accepts, with LF line ends
 * @throws MaskError for what readers take differently
 */
export function fieldsToMask(yaml: string, names: FieldNames): FieldRange[] {
  assertPlainLines(yaml);
  const lines = new LineCounter();
  const lineAt = (offset: number) => lines.linePos(offset).line + 1;
  const options = { keepSourceTokens: true, uniqueKeys: false, resolveKnownTags: false, lineCounter: lines } as const;
  const root = parseDocument(yaml, { ...options, prettyErrors: false, logLevel: 'silent' }).contents;
  if (!isMap(root)) throw new MaskError('frontmatter', `it is no mapping of keys to values; ${REWRITE}`);

  const masked = root.items.map((pair) => {
    assertWholePair(pair, lineAt);
    const name = nameOf(pair, lineAt);
    if (names.reason(name) !== undefined) return name;
    assertPlainKey(pair, lineAt);
    return undefined;
  });
  if (masked.length > 0 && !masked.includes(undefined)) {
    throw new MaskError('nothing-left', 'its frontmatter has nothing but fields that grant or run something');
  }
  const ranges = isFlow(root.srcToken) ? flowRanges(root.srcToken, masked) : blockRanges(root, yaml, masked);
  const fields = ranges.map((range) => ({ ...range, line: lineAt(range.key) }));
  assertCoreTags(root, fields, lineAt);
  return fields;
}

/** Refuses line ends and markers that some readers see, and others do not. */
function assertPlainLines(yaml: string): void {
  for (const [index, line] of yaml.split('\n').entries()) {
    const odd = /[^\P{Cc}\t]|[\u2028\u2029]/u.test(line)
      ? 'a character that some readers take for a line end'
      : undefined;
    const marker = /^(?:---|\.\.\.|%)/.exec(line)?.[0];
    const what =
      odd ?? (marker === undefined ? undefined : `${JSON.stringify(marker)}, which ends the frontmatter for some`);
    if (what !== undefined) throw new MaskError('ambiguous-lines', `the line has ${what}; ${REWRITE}`, index + 2);
  }
}

function nameOf({ key }: Pair, lineAt: (offset: number) => number): string {
  const line = isNode(key) ? lineAt(key.range?.[0] ?? 0) : undefined;
  if (isAlias(key)) throw new MaskError('indirect-key', `a key is the alias *${key.source}; ${REWRITE}`, line);
  const name = isScalar(key) ? String(key.value) : '';
  if (name === '<<')
    throw new MaskError('indirect-key', `"<<" brings in other keys for some readers; ${REWRITE}`, line);
  if (name === '__proto__') throw new MaskError('prototype-key', `the key "__proto__" is set; ${REWRITE}`, line);
  return name;
}

/** The parser takes `? a? b: c` for the key `a` and drops the rest, which other readers do not. */
function assertWholePair({ key, srcToken }: Pair, lineAt: (offset: number) => number): void {
  if (!srcToken?.value || srcToken.sep?.some(({ type }) => type === 'map-value-ind')) return;
  const line = isNode(key) ? lineAt(key.range?.[0] ?? 0) : undefined;
  throw new MaskError('ambiguous-lines', `more than one key is in the line; ${REWRITE}`, line);
}

/** A key with an anchor or tag cannot be the first one for some readers, and it may become that. */
function assertPlainKey({ key }: Pair, lineAt: (offset: number) => number): void {
  if (!isScalar(key) || (key.anchor === undefined && key.tag === undefined)) return;
  const line = lineAt(key.range?.[0] ?? 0);
  throw new MaskError('indirect-key', `a key has an anchor or a tag, which not all readers take; ${REWRITE}`, line);
}

function assertCoreTags(root: YAMLMap, masked: readonly Range[], lineAt: (offset: number) => number): void {
  visit(root, {
    Node(_key, node) {
      const offset = node.range?.[0] ?? 0;
      const tag = isAlias(node) ? undefined : node.tag;
      if (tag === undefined || CORE_TAGS.has(tag) || masked.some(({ start, end }) => offset >= start && offset < end))
        return;
      throw new MaskError('tag', `the tag ${tag} means something else to each reader; ${REWRITE}`, lineAt(offset));
    },
  });
}

type ItemRange = Omit<FieldRange, 'line'>;
type Item = CST.CollectionItem;

function isFlow(token: CST.Token | undefined): token is CST.FlowCollection {
  return token?.type === 'flow-collection';
}

/** Where a pair begins: at its `?`, anchor, tag or key. */
function startOf(item: Item | undefined): number {
  const first = item?.start.find(({ type }) => !['space', 'newline', 'comment', 'comma'].includes(type));
  return (first ?? item?.key ?? item?.sep?.[0] ?? item?.value)?.offset ?? 0;
}

function blockRanges(root: YAMLMap, yaml: string, masked: readonly (string | undefined)[]): ItemRange[] {
  const keys = root.items.map(({ srcToken }) => startOf(srcToken));
  const lineStarts = keys.map((key) => (key === 0 ? 0 : yaml.lastIndexOf('\n', key - 1) + 1));
  return masked.flatMap((field, index) => {
    if (field === undefined) return [];
    const [key = 0, start = 0, end = yaml.length] = [keys[index], lineStarts[index], lineStarts[index + 1]];
    const before = yaml.slice(start, key).trim();
    if (before === '' && end > key) return [{ field, style: 'block' as const, key, start, end }];
    throw new MaskError('ambiguous-lines', `the field ${field} is not alone in its lines; ${REWRITE}`);
  });
}

function flowRanges({ items, end }: CST.FlowCollection, masked: readonly (string | undefined)[]): ItemRange[] {
  const pairs = items.filter(({ key, sep, value }) => key != null || sep !== undefined || value !== undefined);
  const commaBefore = (item: Item | undefined) => item?.start.find(({ type }) => type === 'comma')?.offset;
  const lastKept = masked.lastIndexOf(undefined);
  return masked.flatMap((field, index) => {
    if (field === undefined) return [];
    const key = startOf(pairs[index]);
    const comma = commaBefore(items[index + 1]);
    const isFirstOfTail = index === lastKept + 1 && items.length === pairs.length;
    const start = isFirstOfTail ? (commaBefore(pairs[index]) ?? key) : key;
    const stop = comma === undefined ? (end.find(({ type }) => type === 'flow-map-end')?.offset ?? key) : comma + 1;
    return [{ field, style: 'flow' as const, key, start, end: stop }];
  });
}
