import { FrontmatterError, readYamlMapping, type YamlMapping } from './frontmatter-yaml.ts';

export { FrontmatterError, type FrontmatterProblem } from './frontmatter-yaml.ts';

/** Bytes of YAML between the fences. */
const FRONTMATTER_BYTES = 64 * 1024;

/** A fence is `---` and blanks; anything else after it (`---js`) makes it no fence. */
const OPENING = /^---[ \t]*\r?\n/;
const CLOSING = /(?:^|\n)---[ \t]*\r?(?:\n|$)/;

/** A SKILL.md taken apart. */
export interface SkillMd {
  /** As JSON would hold it. Every field that is there, known or not. */
  readonly frontmatter: Record<string, unknown>;
  /** How the values were written. */
  readonly source: YamlMapping['source'];
  /** The text after the closing fence's line, as it is. */
  readonly body: string;
}

/** A SKILL.md between its fences and after them, unread. */
export interface SkillMdText {
  /** Where the YAML begins in the decoded text, a byte order mark not counted; all before it is ASCII. */
  readonly start: number;
  /** The lines between the fences, as they are. */
  readonly yaml: string;
  readonly body: string;
}

/**
 * Reads the frontmatter of a SKILL.md: UTF-8, with or without a byte order mark, with LF or CRLF line ends, between two
 * lines of `---`.
 *
 * @throws FrontmatterError
 */
export function readFrontmatter(bytes: Uint8Array): SkillMd {
  const { yaml, body } = splitSkillMd(bytes);
  const { value, source } = readYamlMapping(yaml.replaceAll('\r\n', '\n'), 2);
  return { frontmatter: value, source, body };
}

/**
 * Finds the fences, and bounds what is between them.
 *
 * @throws FrontmatterError
 */
export function splitSkillMd(bytes: Uint8Array): SkillMdText {
  const text = decode(bytes);
  const opening = OPENING.exec(text)?.[0];
  if (opening === undefined) {
    const firstLine = JSON.stringify(text.slice(0, 40).split(/\r?\n/, 1)[0]);
    throw new FrontmatterError('missing-fence', `the first line is not "---" but ${firstLine}`, 1);
  }
  const rest = text.slice(opening.length);
  const closing = CLOSING.exec(rest);
  if (closing === null) throw new FrontmatterError('unclosed-fence', 'no line "---" ends the frontmatter');
  const yaml = rest.slice(0, closing.index + (closing[0].startsWith('\n') ? 1 : 0));
  if (new TextEncoder().encode(yaml).byteLength > FRONTMATTER_BYTES) {
    throw new FrontmatterError('too-large', `the frontmatter has more than ${FRONTMATTER_BYTES} bytes`);
  }
  return { start: opening.length, yaml, body: rest.slice(closing.index + closing[0].length) };
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new FrontmatterError('not-utf8', 'the file is not UTF-8');
  }
}
