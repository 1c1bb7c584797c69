import { readdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { report, root } from './report.mjs';

// Published as a bundle only: the chunk that exports the loader is found by what it holds.
const chunks = new URL('../node_modules/@qwen-code/qwen-code/chunks/', import.meta.url);

async function core() {
  for (const name of await readdir(chunks)) {
    if (!/^chunk-.*\.js$/.test(name)) continue;
    const url = new URL(name, chunks);
    if ((await readFile(url, 'utf8')).includes('var SkillManager = class')) return import(url);
  }
  throw new Error('no chunk holds the class SkillManager');
}

const { SkillManager, StandardFileSystemService } = await core();
const skills = await new SkillManager({}).loadSkillsFromDir(root, 'user');
const files = new StandardFileSystemService();

await report(
  'qwen',
  '@qwen-code/qwen-code',
  skills.map(({ name, description, filePath }) => ({
    name,
    description,
    path: filePath,
    directory: dirname(filePath),
  })),
  async ({ path }) => JSON.stringify((await files.readTextFile({ path, limit: Number.POSITIVE_INFINITY })).content),
);
