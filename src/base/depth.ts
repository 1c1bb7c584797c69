/** Whether a JSON value nests deeper than so many levels; the value itself is the first, where it is a collection. */
export function nestsDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  // Every file of every listing comes by here: nothing is made to look at it.
  if (Array.isArray(value)) {
    for (const one of value) if (typeof one === 'object' && nestsDeeper(one, levels - 1)) return true;
    return false;
  }
  const fields = value as Record<string, unknown>;
  for (const name in fields) {
    const one = fields[name];
    if (typeof one === 'object' && nestsDeeper(one, levels - 1)) return true;
  }
  return false;
}

/**
 * A JSON value without what nests deeper than so many levels, which becomes null. JSON of a few hundred kilobytes can nest
 * deeper than the stack of whoever copies, compares or writes it goes, the platform's own functions among them.
 */
export function upToDepth(value: unknown, levels: number): unknown {
  return nestsDeeper(value, levels) ? cut(value, levels) : value;
}

function cut(value: unknown, levels: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (levels === 0) return null;
  if (Array.isArray(value)) return value.map((one) => cut(one, levels - 1));
  // Entries and not assignments, as `__proto__` is data here.
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, cut(one, levels - 1)]));
}
