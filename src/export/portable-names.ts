/**
 * Names that every file system takes. What one of them cannot hold is written as `%XX`, a byte of its UTF-8, and `%` itself as
 * `%25`, so that {@link originalName} gives back what it was:
 *
 * - control characters and `< > : " | ? * \`,
 * - a dot or blank at the end,
 * - the first character of a device's name (CON, NUL, COM1, …, with any extension),
 * - the dot of a directory that programs act upon by its name (`.git`, `.claude`, …),
 * - of a name that differs only in case or Unicode normalisation from one before it, as many characters from its beginning as
 *   it takes to tell them apart.
 */

const FORBIDDEN = /[%<>:"|?*\\/\p{Cc}]/gu;
const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])[ ]*(?:\.|$)/i;
const ACTED_UPON =
  /^\.(?:git|agents?|claude(?:-plugin)?|clinerules|cline|codex|cursor|gemini|goose|opencode|pi|qwen|roo)$/i;

/** One name, as it is where no sibling is in its way. */
export function portableName(name: string): string {
  const escaped = name.replace(FORBIDDEN, percent).replace(/[. ]$/u, percent);
  return DEVICE.test(escaped) || ACTED_UPON.test(escaped) ? escapeFirst(escaped, 1) : escaped;
}

/** The inverse of every spelling that this module gives. */
export function originalName(portable: string): string {
  return portable.replace(/(?:%[0-9A-F]{2})+/g, (escapes) =>
    Buffer.from(escapes.replaceAll('%', ''), 'hex').toString('utf8'),
  );
}

/**
 * Portable spellings of the names of one directory. Which of several that some disks take for one keeps its own depends on
 * their order alone.
 *
 * @param taken names that are somebody else's, which need no escape
 */
export function portableNames(names: Iterable<string>, taken: Iterable<string> = []): ReadonlyMap<string, string> {
  const used = new Set([...taken].map(keyOf));
  const portable = new Map<string, string>();
  for (const name of [...new Set(names)].sort()) {
    const plain = portableName(name);
    let spelled = plain;
    for (let count = 1; used.has(keyOf(spelled)) && count <= plain.length; count++) spelled = escapeFirst(plain, count);
    used.add(keyOf(spelled));
    portable.set(name, spelled);
  }
  return portable;
}

/** Portable spellings of the paths of one tree, whose names are separated by slashes. */
export function portablePaths(paths: Iterable<string>, taken: Iterable<string> = []): ReadonlyMap<string, string> {
  const children = new Map<string, Set<string>>();
  const all = [...paths];
  for (const path of all) {
    for (const { above, name } of steps(path)) {
      const siblings = children.get(above);
      if (siblings === undefined) children.set(above, new Set([name]));
      else siblings.add(name);
    }
  }
  const spelled = new Map<string, ReadonlyMap<string, string>>();
  for (const [above, names] of children) spelled.set(above, portableNames(names, above === '' ? taken : []));
  return new Map(
    all.map((path) => [
      path,
      steps(path)
        .map(({ above, name }) => spelled.get(above)?.get(name))
        .join('/'),
    ]),
  );
}

function steps(path: string): readonly { readonly above: string; readonly name: string }[] {
  const names = path.split('/');
  return names.map((name, index) => ({ above: names.slice(0, index).join('/'), name }));
}

/** What disks that do not tell case or normalisation apart take for one name. */
function keyOf(name: string): string {
  return name.normalize('NFD').toUpperCase().toLowerCase().normalize('NFD');
}

/** Escapes the first characters of a name; what is an escape already counts as one. */
function escapeFirst(name: string, count: number): string {
  const parts = name.match(/%[0-9A-F]{2}|./gsu) ?? [];
  return parts.map((part, index) => (index < count && part.length < 3 ? percent(part) : part)).join('');
}

function percent(char: string): string {
  return [...Buffer.from(char)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
}
