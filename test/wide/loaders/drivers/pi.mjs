import { homedir } from 'node:os';
import { dirname } from 'node:path';
import { createReadTool, loadSkills } from '@earendil-works/pi-coding-agent';
import { report, root } from './report.mjs';

const { skills } = loadSkills({ cwd: homedir(), agentDir: homedir(), skillPaths: [root], includeDefaults: false });
const tool = createReadTool(root, { autoResizeImages: false });

await report(
  'pi',
  '@earendil-works/pi-coding-agent',
  skills.map(({ name, description, filePath }) => ({
    name,
    description,
    path: filePath,
    directory: dirname(filePath),
  })),
  async ({ path }) => JSON.stringify((await tool.execute('read', { path })).content),
);
