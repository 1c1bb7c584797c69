import { posix } from 'node:path';

/** A pattern by its parts, which are matched name by name. */
export interface SplitPattern {
  readonly parts: readonly string[];
  readonly absolute: boolean;
  /** It ends in a slash: only directories match. */
  readonly directories: boolean;
}

/** Splits a glob pattern at its slashes. Alternatives that hold a slash (`{a/b,c}`) become patterns of their own. */
export function splitPattern(pattern: string): SplitPattern[] {
  return alternatives(pattern)
    .filter((text) => text !== '')
    .map((text) => {
      const normal = posix.normalize(text);
      const parts = normal.split('/').filter((part) => part !== '' && part !== '.');
      return { parts, absolute: normal.startsWith('/'), directories: normal.endsWith('/') };
    })
    .filter(({ parts }) => parts.length > 0);
}

function alternatives(pattern: string): string[] {
  for (const { start, end, commas } of groups(pattern)) {
    if (!pattern.slice(start, end).includes('/') || commas.length === 0) continue;
    const cuts = [start, ...commas, end];
    const before = pattern.slice(0, start);
    const after = pattern.slice(end + 1);
    return commas
      .concat(end)
      .flatMap((cut, index) => alternatives(`${before}${pattern.slice((cuts[index] ?? start) + 1, cut)}${after}`));
  }
  return [pattern];
}

interface Group {
  /** Of its opening brace. */
  readonly start: number;
  /** Of its closing brace. */
  readonly end: number;
  /** Of the commas between its alternatives. */
  readonly commas: readonly number[];
}

/** The outermost groups of braces. */
function groups(pattern: string): Group[] {
  const found: Group[] = [];
  let depth = 0;
  let start = 0;
  let commas: number[] = [];
  for (let at = 0; at < pattern.length; at++) {
    const letter = pattern[at];
    if (letter === '\\') at += 1;
    else if (letter === '{' && depth++ === 0) [start, commas] = [at, []];
    else if (letter === ',' && depth === 1) commas.push(at);
    else if (letter === '}' && depth > 0 && --depth === 0) found.push({ start, end: at, commas });
  }
  return found;
}
