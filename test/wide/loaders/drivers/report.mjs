// What all drivers print, in one form. Supporting files are found and read as an agent's own tools would: with functions of
// node:fs/promises imported by name.
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/** The skills directory that this run looks at. */
export const root = resolve(process.argv[2]);

/**
 * Prints one line of JSON: what the loader of `packageName` found, and the SHA-256 of every file of every skill.
 *
 * @param skills as `{ name, description, path, directory }`; `path` is what the loader says, `directory` is where its files are
 * @param read the package's own way to read a file, given `{ path, skill, name }`; nothing for one it does not read. Its
 *   results are digested under `own`, with the root taken out of texts
 */
export async function report(loader, packageName, skills, read = () => undefined) {
  const manifest = new URL(`../node_modules/${packageName}/package.json`, import.meta.url);
  const { version } = JSON.parse(await readFile(manifest, 'utf8'));
  const sorted = [...skills].sort((one, other) => (one.name < other.name ? -1 : 1));
  const files = {};
  const own = {};
  for (const skill of sorted) {
    for (const name of await filesOf(skill.directory)) {
      const path = join(skill.directory, name);
      const key = `${skill.name}/${name}`;
      files[key] = sha256(await readFile(path));
      const content = await read({ path, skill: skill.name, name });
      if (content !== undefined) own[key] = sha256(content);
    }
  }
  const shown = sorted.map(({ name, description, path }) => ({ name, description, path }));
  console.log(`\n${JSON.stringify({ loader, version, skills: shown, files, own })}`);
}

/** The files below a directory, sorted, relative to it. */
async function filesOf(directory, prefix = '') {
  const names = [];
  for (const entry of await readdir(join(directory, prefix), { withFileTypes: true })) {
    const name = `${prefix}${entry.name}`;
    if (entry.isDirectory()) names.push(...(await filesOf(directory, `${name}/`)));
    else if (entry.isFile()) names.push(name);
  }
  return names.sort();
}

function sha256(content) {
  const bytes = typeof content === 'string' ? content.replaceAll(root, '<root>') : content;
  return createHash('sha256').update(bytes).digest('hex');
}
