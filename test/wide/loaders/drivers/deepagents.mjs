import { dirname } from 'node:path';
import { createSkillsMiddleware, FilesystemBackend, listSkills } from 'deepagents';
import { report, root } from './report.mjs';

const skills = listSkills({ projectSkillsDir: root });
const backend = new FilesystemBackend({ rootDir: root });
const middleware = createSkillsMiddleware({ backend, sources: [root] });
const { skillsMetadata } = await middleware.beforeModel({}, {});

/** SKILL.md as the middleware tells the model of it; other files from the backend of the file tools. */
async function read({ path, skill, name }) {
  if (name === 'SKILL.md') return JSON.stringify(skillsMetadata.find((one) => one.name === skill) ?? 'missing');
  const [{ content, error }] = await backend.downloadFiles([path]);
  return content ?? `error: ${error}`;
}

await report(
  'deepagents',
  'deepagents',
  skills.map(({ name, description, path }) => ({ name, description, path, directory: dirname(path) })),
  read,
);
