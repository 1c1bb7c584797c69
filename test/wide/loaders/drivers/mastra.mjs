import { LocalFilesystem, Workspace } from '@mastra/core/workspace';
import { report, root } from './report.mjs';

const workspace = new Workspace({ filesystem: new LocalFilesystem({ basePath: root }), skills: [root] });
const skills = await workspace.skills.list();

async function read({ path, skill, name }) {
  if (name === 'SKILL.md') return (await workspace.skills.get(skill)).instructions;
  if (name.startsWith('references/')) return workspace.skills.getReference(skill, name);
  if (name.startsWith('scripts/')) return workspace.skills.getScript(skill, name);
  if (name.startsWith('assets/')) return workspace.skills.getAsset(skill, name);
  return workspace.filesystem.readFile(path);
}

await report(
  'mastra',
  '@mastra/core',
  skills.map(({ name, description, path }) => ({ name, description, path, directory: path })),
  read,
);
