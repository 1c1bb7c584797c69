// What is known of the loaders, and how two outputs of a driver are compared.
import { relative } from 'node:path';

/**
 * recursive: skills below other directories than the root are found; renamed: a skill is found whose name is not its
 * directory's; links: a skill is found that is a symbolic link.
 */
export const loaders = {
  pi: { recursive: true, renamed: true, links: true },
  gemini: { recursive: false, renamed: true, links: true },
  mastra: { recursive: false, renamed: false, links: false },
  deepagents: { recursive: false, renamed: true, links: false },
  adk: { recursive: true, renamed: false, links: false },
  'bash-tool': { recursive: false, renamed: true, links: true },
  cline: { recursive: false, renamed: true, links: true },
  qwen: { recursive: false, renamed: true, links: true },
};

/** The names that a loader finds among the habits of skills.mjs. */
export function expectedHabits({ recursive, renamed, links }) {
  return [links && 'linked', recursive && 'nested', 'ordinary', renamed && 'renamed'].filter(Boolean);
}

/** An output as it would be without the skills of these names. */
export function less(names, output) {
  const kept = ([file]) => !names.includes(file.slice(0, file.indexOf('/')));
  return {
    ...output,
    skills: output.skills.filter(({ name }) => !names.includes(name)),
    files: Object.fromEntries(Object.entries(output.files).filter(kept)),
    own: Object.fromEntries(Object.entries(output.own).filter(kept)),
  };
}

/**
 * Compares two outputs of one driver, each with the root it was run on.
 *
 * @returns what differs, one line each; nothing when names, descriptions, paths below the root and all digests are equal
 */
export function differences(expected, actual) {
  const wanted = facts(expected);
  const found = facts(actual);
  const lines = [];
  for (const [key, value] of wanted) {
    if (!found.has(key)) lines.push(`missing: ${key}`);
    else if (found.get(key) !== value) lines.push(`${key}: expected ${value}, got ${found.get(key)}`);
  }
  for (const key of found.keys()) if (!wanted.has(key)) lines.push(`not expected: ${key}`);
  return lines;
}

/** An output as single statements. */
function facts({ output, root }) {
  const statements = new Map([['version', output.version]]);
  for (const { name, description, path } of output.skills) {
    const below = path === null ? null : relative(root, path);
    statements.set(`skill ${name}`, JSON.stringify({ description, path: below }));
  }
  statements.set('number of skills', output.skills.length);
  for (const [file, digest] of Object.entries(output.files)) statements.set(`file ${file}`, digest);
  for (const [file, digest] of Object.entries(output.own)) statements.set(`${file} as the loader reads it`, digest);
  return statements;
}
