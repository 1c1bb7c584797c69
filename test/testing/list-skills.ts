import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** A loader as programs have them: knows nothing of servers, and imports `node:fs` as it is. */
export function listSkills(root: string): readonly { name: string; text: string }[] {
  const directories = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return directories.flatMap(({ name }) => {
    const file = `${root}/${name}/SKILL.md`;
    return existsSync(file) ? [{ name, text: readFileSync(file, 'utf8') }] : [];
  });
}
