import { dirname } from 'node:path';
import { createDefaultExecutors, createSkillsConfigDefinition, UnifiedConfigFileWatcher } from '@cline/core';
import { report, root } from './report.mjs';

const watcher = new UnifiedConfigFileWatcher([createSkillsConfigDefinition({ directories: [root] })]);
await watcher.refreshAll();
const skills = [...watcher.getSnapshot('skill').values()];
const executors = createDefaultExecutors();

await report(
  'cline',
  '@cline/core',
  skills.map(({ item: { name, description }, filePath }) => ({
    name,
    description,
    path: filePath,
    directory: dirname(filePath),
  })),
  async ({ path }) => JSON.stringify(await executors.readFile({ path }, { metadata: { modelSupportsImages: true } })),
);
