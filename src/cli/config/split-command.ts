/**
 * Splits a command line into words as a shell does: blanks separate, quotes and backslashes keep. Nothing is expanded and no
 * shell is run.
 *
 * @throws Error when a quote is not closed
 */
export function splitCommand(line: string): readonly string[] {
  const words: string[] = [];
  let word: string | undefined;
  for (let at = 0; at < line.length; at++) {
    const char = line[at] as string;
    if (char === ' ' || char === '\t' || char === '\n') {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (char === "'" || char === '"') {
      const end = closingQuote(line, at);
      const quoted = line.slice(at + 1, end);
      word = (word ?? '') + (char === '"' ? quoted.replace(/\\(["\\$`])/g, '$1') : quoted);
      at = end;
    } else if (char === '\\' && at + 1 < line.length) {
      word = (word ?? '') + line[++at];
    } else word = (word ?? '') + char;
  }
  if (word !== undefined) words.push(word);
  return words;
}

function closingQuote(line: string, start: number): number {
  const quote = line[start];
  for (let at = start + 1; at < line.length; at++) {
    if (quote === '"' && line[at] === '\\') at++;
    else if (line[at] === quote) return at;
  }
  throw new Error(`the quote at character ${start + 1} is not closed`);
}
