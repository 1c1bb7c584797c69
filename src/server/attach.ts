import type { McpServer } from '@modelcontextprotocol/server';
import { isUriProblem, skillRootOf, toTreePath } from '../catalog/uri.ts';
import { type ServeOptions, SkillDirectory } from './directory.ts';

/**
 * Publishes a directory of skills on a server of yours, before it is connected. Every directory with a SKILL.md, at any
 * depth, is a skill, and its path below `directory` is its skill path. Changes on disk show at the next request.
 *
 * @returns the directory, to attach to further servers
 * @throws what the file system gives when the directory cannot be read
 */
export async function attachDirectory(
  server: McpServer,
  directory: string,
  options: ServeOptions = {},
): Promise<SkillDirectory> {
  const skills = await SkillDirectory.open(directory, false, options);
  skills.attach(server);
  return skills;
}

/**
 * Publishes one skill at a skill path of your choice, `acme/billing/refunds`, whose last segment is the skill's name
 * (MAP-2).
 *
 * @throws TypeError when the directory holds no valid skill of that name
 */
export async function attachSkill(
  server: McpServer,
  directory: string,
  options: Omit<ServeOptions, 'prefix'> & { readonly skillPath: string },
): Promise<SkillDirectory> {
  const { skillPath, ...rest } = options;
  const reasons: string[] = [];
  const onWarning: ServeOptions['onWarning'] = (warning) => {
    reasons.push(`${warning.path}: ${warning.message}`);
    rest.onWarning?.(warning);
  };
  const skills = await SkillDirectory.open(directory, true, { ...rest, prefix: skillPath, onWarning });
  const treePath = toTreePath({ scheme: 'skill', segments: skillPath.split('/').filter(Boolean) });
  const served = skills.skills.some(({ uri }) => {
    const root = skillRootOf(uri);
    return !isUriProblem(root) && root.treePath === treePath;
  });
  if (!served) {
    throw new TypeError(`${directory} cannot be served at ${skillPath}: ${reasons[0] ?? 'it has no SKILL.md'}`);
  }
  skills.attach(server);
  return skills;
}
