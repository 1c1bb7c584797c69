import { isMap, parseDocument } from 'yaml';
import { MaskError } from './mask-error.ts';
import type { FieldNames } from './masked-fields.ts';

/**
 * Makes sure that readers that go by lines, without YAML, see none of the fields.
 *
 * @throws MaskError
 */
export function assertNothingShows(yaml: string, names: FieldNames): void {
  for (const [index, line] of yaml.split('\n').entries()) {
    if (!names.showsIn(line)) continue;
    const what = 'a value has a line that some readers take for a field that grants or runs something';
    throw new MaskError(
      'hidden-field',
      `${what}; the author has to reword it, or the user to grant the skill`,
      index + 2,
    );
  }
}

/**
 * Makes sure, for both versions of YAML, that one frontmatter is the other without the masked fields.
 *
 * @param directive the line of a command directive that was masked in it, if there is one
 * @throws MaskError
 */
export function assertExact(original: string, masked: string, names: FieldNames, directive: number | undefined): void {
  for (const version of ['1.2', '1.1'] as const) {
    const kept = entriesOf(original, version)?.filter(([key]) => names.reason(String(key)) === undefined);
    if (kept !== undefined && isSame(kept, entriesOf(masked, version))) continue;
    if (directive !== undefined) {
      const what = 'a value of the frontmatter has a command directive, which some hosts would run';
      throw new MaskError('directive-in-frontmatter', `${what}; the author has to reword it`, directive);
    }
    const what = `without the fields to mask, readers of YAML ${version} would fail, or see something else`;
    throw new MaskError('not-exact', `${what}; no other field may need an anchor in one of them`);
  }
}

/** Keys and values of the mapping; `undefined` if this version cannot read it. */
function entriesOf(yaml: string, version: '1.1' | '1.2'): [unknown, unknown][] | undefined {
  const document = parseDocument(yaml, { version, uniqueKeys: false, prettyErrors: false, logLevel: 'silent' });
  if (document.errors.length > 0 || !isMap(document.contents)) return undefined;
  try {
    return [...document.toJS({ mapAsMap: true })];
  } catch {
    // An alias without anchor, or a merge of something that is no mapping.
    return undefined;
  }
}

function isSame(a: unknown, b: unknown): boolean {
  if (a instanceof Date && b instanceof Date) return Object.is(a.getTime(), b.getTime());
  if (a instanceof Map && b instanceof Map) return isSame([...a], [...b]);
  if (!Array.isArray(a) || !Array.isArray(b)) return Object.is(a, b);
  return a.length === b.length && a.every((item, index) => isSame(item, b[index]));
}
