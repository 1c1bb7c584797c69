import { basename } from 'node:path';
import { experimental_createSkillTool } from 'bash-tool';
import { report, root } from './report.mjs';

const { skills, files } = await experimental_createSkillTool({ skillsDirectory: root });

await report(
  'bash-tool',
  'bash-tool',
  skills.map(({ name, description, localPath }) => ({
    name,
    description,
    path: localPath,
    directory: localPath,
  })),
  ({ path, skill, name }) => {
    const directory = basename(path.slice(0, -name.length));
    return files[`./skills/${directory}/${name}`] ?? `not read: ${skill}`;
  },
);
