import { type CatalogEntry, type CatalogFormat, type Writer, writers } from './entries.ts';

/** What a catalog needs to know of a skill; a `SkillInfo` and a `ViewSkill` are such. */
export interface CatalogSkill {
  readonly name: string;
  readonly description: string;
  /** The skill's directory. */
  readonly path: string;
  /** The URI of its SKILL.md. */
  readonly uri?: string;
  /** The host's label of the server it is from; absent for a local skill. */
  readonly label?: string | undefined;
  readonly content?: 'verified' | 'dynamic' | 'local';
}

export interface CatalogOptions {
  /** Default `xml`. */
  readonly format?: CatalogFormat;
  /** UTF-8 bytes that a page's text may have. Default 16 KiB. */
  readonly budget?: number;
  /** The `nextCursor` of the page before; absent for the first page. */
  readonly cursor?: string;
  /**
   * What to read a skill by: the `path` of its SKILL.md (default), for models that read files, or its `uri`, for
   * `readResourceTool`. A local skill without a URI is given by its path.
   */
  readonly location?: 'path' | 'uri';
}

export interface CatalogPage {
  readonly text: string;
  /** For the next page; absent on the last one. Stays right when skills come and go in between. */
  readonly nextCursor?: string;
  /** Skills in `text`. */
  readonly shown: number;
  /** Skills in all. */
  readonly total: number;
  /** Skills passed over on this page: without any description, they alone are more than the budget. */
  readonly omitted: readonly CatalogSkill[];
}

const BUDGET = 16 * 1024;
const SKILL_MD = '/SKILL.md';

/**
 * Writes a page of the skills known now for a prompt: name, description, location, and the server each is from (SEC-2).
 * Costs no request. Skills are in the order of their paths. What servers say is escaped, so that it cannot leave its
 * element or line; white space and unseen characters in it show as such. It can still lie: a description is a claim.
 *
 * `xml` is `<available_skills>` with one `<skill>` each, `markdown` a list with one line each, `json` an array with one line
 * each. An entry is never cut, but the description of one that alone is more than the budget: that ends in an ellipsis.
 *
 * @throws RangeError for a format or location that there is not, a budget that not even an empty catalog fits in, or a cursor that no page gave
 */
export function catalog(from: { skills(): readonly CatalogSkill[] }, options: CatalogOptions = {}): CatalogPage {
  const { format = 'xml', budget = BUDGET, cursor, location = 'path' } = options;
  if (!Object.hasOwn(writers, format)) throw new RangeError(`format: expected ${Object.keys(writers).join(', ')}`);
  if (location !== 'path' && location !== 'uri') throw new RangeError('location: expected path or uri');
  const writer = writers[format];
  const room = budget - utf8Length(writer.before + writer.after);
  if (!(room >= 0)) throw new RangeError(`a budget of ${budget} bytes is too small for any catalog`);
  const keyed = sortedByKey(from.skills());
  const start = cursor === undefined ? 0 : firstAfter(keyed, keyOf(cursor));
  const page = fill(keyed.slice(start), writer, room, location);
  const last = keyed[start + page.taken - 1];
  const more = last !== undefined && start + page.taken < keyed.length;
  return {
    text: `${writer.before}${page.entries.join(writer.between)}${writer.after}`,
    ...(more && { nextCursor: cursorOf(last.key) }),
    shown: page.entries.length,
    total: keyed.length,
    omitted: page.omitted,
  };
}

interface Keyed {
  readonly key: string;
  readonly skill: CatalogSkill;
}

interface Filled {
  readonly entries: readonly string[];
  readonly omitted: readonly CatalogSkill[];
  /** Skills that were written or passed over. */
  readonly taken: number;
}

function fill(keyed: readonly Keyed[], writer: Writer, room: number, location: 'path' | 'uri'): Filled {
  const entries: string[] = [];
  const omitted: CatalogSkill[] = [];
  const between = utf8Length(writer.between);
  let left = room;
  let taken = 0;
  for (const { skill } of keyed) {
    const text = fitted(entryOf(skill, location), writer, room);
    const cost = text === undefined ? 0 : utf8Length(text) + (entries.length > 0 ? between : 0);
    if (cost > left) break;
    if (text === undefined) omitted.push(skill);
    else entries.push(text);
    left -= cost;
    taken += 1;
  }
  return { entries, omitted, taken };
}

function entryOf({ name, description, path, uri, label, content }: CatalogSkill, by: 'path' | 'uri'): CatalogEntry {
  const location = by === 'uri' && uri !== undefined ? uri : path + SKILL_MD;
  return { name, description, location, server: label, unverified: content === 'dynamic' };
}

/** The entry in at most `room` bytes, with as much of its description as goes in; `undefined` when nothing helps. */
function fitted(entry: CatalogEntry, writer: Writer, room: number): string | undefined {
  const whole = writer.entry(entry);
  if (utf8Length(whole) <= room) return whole;
  // A character is a byte at least, so that there is no need to look at more of them.
  const characters = Array.from(entry.description.slice(0, 2 * room)).slice(0, room);
  let best: string | undefined;
  let [low, high] = [0, characters.length];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const text = writer.entry({ ...entry, description: `${characters.slice(0, middle).join('').trimEnd()}…` });
    if (utf8Length(text) <= room) [best, low] = [text, middle + 1];
    else high = middle - 1;
  }
  return best;
}

/** Path first, and what makes it unique even where two skills claim one path. */
function sortedByKey(skills: readonly CatalogSkill[]): Keyed[] {
  const keyed = skills.map((skill) => ({ key: JSON.stringify([skill.path, skill.label, skill.uri]), skill }));
  return keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}

function firstAfter(keyed: readonly Keyed[], key: string): number {
  const index = keyed.findIndex((one) => one.key > key);
  return index === -1 ? keyed.length : index;
}

function cursorOf(key: string): string {
  return Buffer.from(key, 'utf8').toString('base64url');
}

function keyOf(cursor: string): string {
  const key = Buffer.from(cursor, 'base64url').toString('utf8');
  if (!key.startsWith('["') || cursorOf(key) !== cursor) {
    throw new RangeError(`${JSON.stringify(cursor)} is not the nextCursor of a page`);
  }
  return key;
}

function utf8Length(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}
