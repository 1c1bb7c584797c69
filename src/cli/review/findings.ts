import { MaskError, maskSkill } from '../../policy/mask.ts';
import { visible } from '../../prompt/escape.ts';

/** Something in a text that a reader does not see. */
export interface Unseen {
  readonly line: number;
  readonly kind: string;
  /** Of the characters of that kind in the line: the first, as `U+202E`. */
  readonly first: string;
  readonly count: number;
}

const KINDS: readonly (readonly [kind: string, characters: RegExp])[] = [
  ['tag', /[\u{e0000}-\u{e007f}]/u],
  ['bidirectional', /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u],
  ['zero-width', /[\u00ad\u180e\u200b-\u200d\u2060-\u2064\ufeff]/u],
  ['control', /[\p{Cc}\p{Zl}\p{Zp}]/u],
  ['selector', /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/u],
];

/** The text with every character shown that is not seen; line ends and tabs stay. */
export function shown(text: string): string {
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''));
  return lines.map((line) => line.split('\t').map(visible).join('\t')).join('\n');
}

/** What is not seen in a text; a byte order mark at its beginning and line ends are usual. */
export function unseenIn(text: string): readonly Unseen[] {
  return text.split('\n').flatMap((line, index) => {
    const plain = (index === 0 ? line.replace(/^\ufeff/, '') : line).replace(/\r$/, '').replaceAll('\t', '');
    const found = new Map<string, { first: string; count: number }>();
    for (const char of plain) {
      if (visible(char) === char) continue;
      const kind = KINDS.find(([, characters]) => characters.test(char))?.[0] ?? 'other';
      const code = (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
      const known = found.get(kind);
      found.set(kind, { first: known?.first ?? `U+${code}`, count: (known?.count ?? 0) + 1 });
    }
    return [...found].map(([kind, rest]): Unseen => ({ line: index + 1, kind, ...rest }));
  });
}

/** What a SKILL.md asks a host for: fields and directives that are masked unless they are granted. */
export interface Requests {
  readonly asked: readonly { readonly what: string; readonly line: number; readonly reason: string }[];
  /** Why it cannot be masked, and is not served unless it is granted. */
  readonly unmaskable?: string;
}

export function requestsOf(bytes: Uint8Array, fields: readonly string[]): Requests {
  try {
    const { masked } = maskSkill(bytes, { fields });
    return { asked: masked.map(({ field = '!`command`', line, reason }) => ({ what: field, line, reason })) };
  } catch (error) {
    if (error instanceof MaskError) return { asked: [], unmaskable: error.message };
    throw error;
  }
}

/** Whether a path is of something that is made to be run. */
export function isScript(path: string): boolean {
  return (
    /(^|\/)scripts?\//i.test(path) ||
    /\.(bash|bat|cjs|cmd|com|exe|fish|js|jar|lua|mjs|php|pl|ps1|py|rb|sh|ts|wasm|zsh)$/i.test(path)
  );
}
