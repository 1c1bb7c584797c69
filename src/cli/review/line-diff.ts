/** Comparisons of lines at most; beyond, what differs is shown as replaced. */
const WORK = 4_000_000;

/** What became of a text, line by line: `- ` went, `+ ` came, and two blanks stand before what stayed around that. */
export function lineDiff(before: string, after: string, context = 2): readonly string[] {
  const [a, b] = [before.split('\n'), after.split('\n')];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const changed = diffOf(a.slice(start, a.length - end), b.slice(start, b.length - end));
  const head = a.slice(Math.max(0, start - context), start);
  const tail = a.slice(a.length - end, a.length - end + context);
  return changed.length === 0 ? [] : [...head.map(stayed), ...changed, ...tail.map(stayed)];
}

const stayed = (line: string) => `  ${line}`;

function diffOf(a: readonly string[], b: readonly string[]): string[] {
  const removed = (lines: readonly string[]) => lines.map((line) => `- ${line}`);
  const added = (lines: readonly string[]) => lines.map((line) => `+ ${line}`);
  if (a.length * b.length > WORK) return [...removed(a), ...added(b)];
  const common = commonLengths(a, b);
  const lines: string[] = [];
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      lines.push(stayed(a[i] as string));
      i++;
      j++;
    } else if ((common[i + 1]?.[j] ?? 0) >= (common[i]?.[j + 1] ?? 0)) lines.push(...removed([a[i++] as string]));
    else lines.push(...added([b[j++] as string]));
  }
  return [...lines, ...removed(a.slice(i)), ...added(b.slice(j))];
}

/** How many lines two texts have in common, in order, from each pair of lines on. */
function commonLengths(a: readonly string[], b: readonly string[]): readonly Uint32Array[] {
  const lengths = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    const [row, below] = [lengths[i] as Uint32Array, lengths[i + 1] as Uint32Array];
    for (let j = b.length - 1; j >= 0; j--) {
      row[j] = a[i] === b[j] ? (below[j + 1] as number) + 1 : Math.max(below[j] as number, row[j + 1] as number);
    }
  }
  return lengths;
}
