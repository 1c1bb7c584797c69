import { readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { loadAllSkillsInDir } from '@google/adk';
import { report, root } from './report.mjs';

const skills = await loadAllSkillsInDir(root);

/** All files are read at discovery; a script that is not text is left out. */
function read({ skill, name }) {
  if (name === 'SKILL.md') return skills[skill].instructions;
  const [kind, ...rest] = name.split('/');
  const content = skills[skill].resources[kind]?.[rest.join('/')];
  return content?.src ?? content;
}

// The loader does not say where a skill is, but takes only one in a directory of its name.
const found = (await readdir(root, { recursive: true })).filter((name) => name.endsWith('/SKILL.md')).map(dirname);

await report(
  'adk',
  '@google/adk',
  Object.values(skills).map(({ frontmatter: { name, description } }) => ({
    name,
    description,
    path: null,
    directory: join(
      root,
      found.find((one) => one === name || one.endsWith(`/${name}`)),
    ),
  })),
  read,
);
