const [TAB, LF, CR, BLANK, BANG, BACKTICK, TILDE] = [0x09, 0x0a, 0x0d, 0x20, 0x21, 0x60, 0x7e];

/** What may stand before a fence on its line: indentation, quote and list markers, and what may become a blank. */
const LEAD = new Set([...' \t>-*+.)0123456789!'].map((char) => char.charCodeAt(0)));

/** Bytes `start` to `end`, exclusive. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/**
 * Finds the `!` of everything that hosts run as a command when they load a skill. They match by regular expressions on
 * the plain text, so code spans and fenced blocks protect nothing:
 *
 * - `!` before a backtick, whatever is before it: some hosts want a line start or whitespace there, others nothing;
 * - `!` right after three or more backticks, anywhere;
 * - the same after a fence of backticks or tildes at the start of a line (in a quote or list, too), where blanks may
 *   come between, as they do not count in the info string.
 *
 * A run of `!` is taken as a whole, so that the blanks written over one directive cannot complete another.
 */
export function* directivesOf(bytes: Uint8Array): Generator<Range> {
  let isLead = true;
  let at = 0;
  while (at < bytes.length) {
    const byte = bytes[at];
    const end = endOfRun(bytes, at);
    if (byte === BANG) {
      if (bytes[end] === BACKTICK) yield { start: at, end };
    } else if (end - at >= 3 && (byte === BACKTICK || (byte === TILDE && isLead))) {
      at = yield* bangsAfter(bytes, end, isLead);
      isLead = false;
      continue;
    }
    if (byte === LF || byte === CR) isLead = true;
    else if (byte === undefined || !LEAD.has(byte)) isLead = false;
    at = end;
  }
}

/** The first offset after `at` that has another byte. */
function endOfRun(bytes: Uint8Array, at: number): number {
  let end = at + 1;
  while (end < bytes.length && bytes[end] === bytes[at]) end += 1;
  return end;
}

/** @returns where the fence's line goes on */
function* bangsAfter(bytes: Uint8Array, fenceEnd: number, mayHaveBlanks: boolean): Generator<Range, number> {
  let at = fenceEnd;
  for (;;) {
    const byte = bytes[at];
    const isBlank = mayHaveBlanks && (byte === BLANK || byte === TAB);
    if (byte !== BANG && !isBlank) return at;
    const end = endOfRun(bytes, at);
    if (byte === BANG) yield { start: at, end };
    at = end;
  }
}
