import { dirname } from 'node:path';
import {
  ActivateSkillTool,
  loadSkillsFromDir,
  processSingleFileContent,
  SkillManager,
  StandardFileSystemService,
  WorkspaceContext,
} from '@google/gemini-cli-core';
import { report, root } from './report.mjs';

const skills = await loadSkillsFromDir(root);
const manager = new SkillManager();
manager.addSkills(skills);
const workspace = new WorkspaceContext(root);
const config = { getSkillManager: () => manager, getWorkspaceContext: () => workspace };
const activation = new ActivateSkillTool(config, undefined);
const files = new StandardFileSystemService();

async function read({ path, skill, name }) {
  const { llmContent } =
    name === 'SKILL.md'
      ? await activation.build({ name: skill }).execute({ abortSignal: new AbortController().signal })
      : await processSingleFileContent(path, root, files);
  return typeof llmContent === 'string' ? llmContent : JSON.stringify(llmContent);
}

await report(
  'gemini',
  '@google/gemini-cli-core',
  skills.map(({ name, description, location }) => ({
    name,
    description,
    path: location,
    directory: dirname(location),
  })),
  read,
);
