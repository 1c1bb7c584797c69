/** Characters of one message at most that a server had a part in. */
const MESSAGE = 1_000;
const VALUE = 300;

/** A message with its middle left out where it is long: what it is about stands at one end, what is wrong at the other. */
export function shortened(text: string, most = MESSAGE): string {
  if (text.length <= most) return text;
  const end = Math.floor(most / 3);
  // Not through the middle of a pair of surrogates.
  const [head, tail] = [text.slice(0, most - end), text.slice(-end)];
  return `${head.replace(/[\uD800-\uDBFF]$/, '')} […] ${tail.replace(/^[\uDC00-\uDFFF]/, '')}`;
}

/** A value of a server's as a message shows it: as JSON, not too much of it. Any value, however long or deep. */
export function quoted(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(shortened(value, VALUE));
  try {
    return shortened(JSON.stringify(value) ?? 'nothing', VALUE);
  } catch {
    return 'a value that nests without end';
  }
}
