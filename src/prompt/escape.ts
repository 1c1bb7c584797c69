/**
 * Text of servers for prompts. Names and descriptions are whatever a server says (VER-6): they must not end the element,
 * line or list item they stand in, and must not hide anything from a person who reads the prompt.
 */

/** What is not seen, or changes what is seen: controls, bidirectional and zero-width marks, tags, selectors, halves of pairs. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]/gu;

/** Shows what is unseen as `\u{202e}`. The result is one line. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}

const XML: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
  // As references, so that a parser gives them back and no line begins with a server's words.
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
};

/** Text for an element or attribute. A parser reads it back exactly, but for what is unseen: {@link visible} shows that. */
export function xmlText(text: string): string {
  return visible(text.replace(/[&<>"'\t\n\r]/g, (char) => XML[char] ?? char));
}

/** One line of JSON, which reads back exactly; what is unseen is escaped as JSON does. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value).replace(UNSEEN, (char) =>
    char
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

/** What begins anything inside a line of Markdown, its dialects' strikethrough, tables, mathematics and addresses included. */
const MARKS = /[\\`*_[\]<>&!~|$@]|:(?=\/\/)|(?<=www)\./gi;

/** Text for the inside of a line of Markdown: white space is single blanks, and nothing in it is markup. */
export function markdownText(text: string): string {
  return visible(text.replace(/\s+/g, ' ').trim()).replace(MARKS, '\\$&');
}

/** Text as a span of code, which keeps it as it is to be typed. */
export function markdownCode(text: string): string {
  const shown = visible(text) || ' ';
  const longest = Math.max(0, ...(shown.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  const pad = /^[ `]|[ `]$/.test(shown) && shown.trim() !== '' ? ' ' : '';
  return `${fence}${pad}${shown}${pad}${fence}`;
}
