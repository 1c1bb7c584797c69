import {
  type Alias,
  Composer,
  type CST,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  Parser,
  visit,
  type YAMLMap,
} from 'yaml';

/** Collections inside one another, the frontmatter itself being the first. */
const DEPTH = 32;
/** Aliases in one frontmatter. */
const ALIASES = 100;
/** Keys and values in one frontmatter with every alias written out; plain text of the allowed size cannot reach it. */
const NODES = 64 * 1024;

export type FrontmatterProblem =
  | 'not-utf8'
  | 'missing-fence'
  | 'unclosed-fence'
  | 'duplicate-key'
  | 'yaml'
  | 'not-a-mapping'
  | 'too-large'
  | 'too-deep'
  | 'too-many-aliases';

/** A SKILL.md whose frontmatter cannot be read. The message is a sentence that says why, and where if that is known. */
export class FrontmatterError extends Error {
  override readonly name = 'FrontmatterError';
  readonly problem: FrontmatterProblem;
  /** Counted from 1 in the whole file. */
  readonly line: number | undefined;

  constructor(problem: FrontmatterProblem, what: string, line?: number) {
    super(line === undefined ? `SKILL.md: ${what}` : `SKILL.md line ${line}: ${what}`);
    this.problem = problem;
    this.line = line;
  }
}

/**
 * How a value was written, in the shape of the value itself: the text of a plain scalar (readers type it differently),
 * `undefined` for a scalar that has one reading only (quoted, block or tagged).
 */
export type Source = string | undefined | readonly Source[] | ReadonlyMap<string, FieldSource>;

export interface FieldSource {
  /** The text of a plain key. */
  readonly key: string | undefined;
  readonly value: Source;
}

export interface YamlMapping {
  readonly value: Record<string, unknown>;
  readonly source: ReadonlyMap<string, FieldSource>;
}

/**
 * Reads one YAML 1.2 mapping (core schema) as the JSON value it stands for. Keys that are no strings become strings as
 * in JSON renderers (`1`, `true`, `null`); merge keys are plain keys and unknown tags say nothing, as in the core schema.
 * Time and stack are bounded for any text of a bounded length.
 *
 * @param firstLine the number of the text's first line, for messages
 * @throws FrontmatterError
 */
export function readYamlMapping(text: string, firstLine: number): YamlMapping {
  const lines = new LineCounter();
  const lineAt = (offset: number) => lines.linePos(offset).line + firstLine - 1;
  const tokens = [...new Parser(lines.addNewLine).parse(text)];
  assertDepth(tokens, lineAt);

  const options = { uniqueKeys: false, prettyErrors: false, resolveKnownTags: false } as const;
  const [document, second] = new Composer(options).compose(tokens, true, text.length);
  const error = document?.errors[0];
  if (error !== undefined) {
    const hint = error.code === 'BLOCK_AS_IMPLICIT_KEY' ? ' (a value that holds ": " has to be quoted)' : '';
    throw new FrontmatterError('yaml', `${error.message}${hint}`, lineAt(error.pos[0]));
  }
  if (second !== undefined) {
    throw new FrontmatterError('yaml', 'the frontmatter is more than one YAML document', lineAt(second.range[0]));
  }
  const root = document?.contents;
  if (!isMap(root)) {
    throw new FrontmatterError('not-a-mapping', 'the frontmatter is no mapping of keys to values', firstLine);
  }
  return new Reader(targetsOf(root, lineAt), lineAt).mapping(root, 1);
}

type LineAt = (offset: number) => number;

/** Goes down level by level, so that text that nests too deep for the parser's own recursion never reaches it. */
function assertDepth(tokens: readonly CST.Token[], lineAt: LineAt): void {
  let level = tokens.flatMap((token) => (token.type === 'document' ? collections(token.value) : []));
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > DEPTH) throw tooDeep(lineAt(level[0]?.offset ?? 0));
    level = level.flatMap(({ items }) =>
      items.flatMap(({ key, value }) => [...collections(key), ...collections(value)]),
    );
  }
}

type Collection = CST.BlockMap | CST.BlockSequence | CST.FlowCollection;

function collections(token: CST.Token | null | undefined): Collection[] {
  return token && 'items' in token ? [token] : [];
}

function tooDeep(line: number): FrontmatterError {
  return new FrontmatterError('too-deep', `the frontmatter nests deeper than ${DEPTH} levels`, line);
}

/** What each alias stands for: the anchor of its name that was last set before it. */
function targetsOf(root: YAMLMap, lineAt: LineAt): ReadonlyMap<Alias, Node> {
  const anchors = new Map<string, Node>();
  const targets = new Map<Alias, Node>();
  visit(root, {
    Alias(_key, alias) {
      const target = anchors.get(alias.source);
      const line = lineAt(alias.range?.[0] ?? 0);
      if (target === undefined) throw new FrontmatterError('yaml', `no anchor before the alias *${alias.source}`, line);
      targets.set(alias, target);
      if (targets.size > ALIASES) {
        throw new FrontmatterError('too-many-aliases', `the frontmatter has more than ${ALIASES} aliases`, line);
      }
    },
    Value(_key, node) {
      if (node.anchor !== undefined) anchors.set(node.anchor, node);
    },
  });
  return targets;
}

class Reader {
  readonly #targets: ReadonlyMap<Alias, Node>;
  readonly #lineAt: LineAt;
  #nodes = 0;

  constructor(targets: ReadonlyMap<Alias, Node>, lineAt: LineAt) {
    this.#targets = targets;
    this.#lineAt = lineAt;
  }

  mapping(map: YAMLMap<unknown, unknown>, depth: number): YamlMapping {
    const value: Record<string, unknown> = {};
    const source = new Map<string, FieldSource>();
    for (const { key: keyNode, value: valueNode } of map.items) {
      const key = this.#value(keyNode, depth + 1);
      const line = this.#line(keyNode);
      if (typeof key.value === 'object' && key.value !== null) {
        throw new FrontmatterError('yaml', 'a key is no scalar', line);
      }
      const name = String(key.value);
      if (source.has(name)) {
        throw new FrontmatterError('duplicate-key', `the key ${JSON.stringify(name)} is set twice`, line);
      }
      const field = this.#value(valueNode, depth + 1);
      // Defined and not assigned, as `__proto__` is data here.
      Object.defineProperty(value, name, { value: field.value, enumerable: true, writable: true, configurable: true });
      source.set(name, { key: typeof key.source === 'string' ? key.source : undefined, value: field.source });
    }
    return { value, source };
  }

  /** @param depth the depth of `node`, should it be a collection */
  #value(node: unknown, depth: number): { readonly value: unknown; readonly source: Source } {
    this.#nodes += 1;
    if (this.#nodes > NODES) {
      throw new FrontmatterError('too-many-aliases', `the aliases stand for more than ${NODES} values`);
    }
    if (isAlias(node)) return this.#value(this.#targets.get(node), depth);
    if (isScalar(node)) {
      const plain = node.type === 'PLAIN' && node.tag === undefined;
      return { value: node.value, source: plain ? node.source : undefined };
    }
    if (!isMap(node) && !isSeq(node)) return { value: null, source: '' };
    if (depth > DEPTH) throw tooDeep(this.#line(node));
    if (isMap(node)) return this.mapping(node, depth);
    const items = node.items.map((item) => this.#value(item, depth + 1));
    return { value: items.map(({ value }) => value), source: items.map(({ source }) => source) };
  }

  #line(node: unknown): number {
    return this.#lineAt((node as Node).range?.[0] ?? 0);
  }
}
