/** Characters of a text that are looked at, and of one URI in it: paths are shorter, however they are escaped. */
const LOOKED_AT = 256 * 1024;
const URI = 16 * 1024;

const SKILL_MD = '/SKILL.md';
/** What a URI may be made of, where it stands in prose or in Markdown. */
const WORD = /[^\s<>"'`)\]]+/g;
/** A scheme right before `://`, no longer than schemes are. */
const SCHEME = /[A-Za-z][A-Za-z0-9+.-]{0,63}$/;

/**
 * The SKILL.md URIs that a server's instructions name (GET-3), in order, each once. The time it takes grows with the text
 * and no faster: the caller's thread waits for it, and a server writes what it likes.
 */
export function skillUrisIn(text: string, most: number): readonly string[] {
  const uris = new Set<string>();
  for (const [word] of text.slice(0, LOOKED_AT).matchAll(WORD)) {
    const colon = word.indexOf('://');
    const end = word.lastIndexOf(SKILL_MD);
    if (colon === -1 || end <= colon + '://'.length || word.length > URI) continue;
    const scheme = SCHEME.exec(word.slice(Math.max(0, colon - 64), colon));
    if (scheme !== null) uris.add(scheme[0] + word.slice(colon, end + SKILL_MD.length));
    if (uris.size >= most) break;
  }
  return [...uris];
}
