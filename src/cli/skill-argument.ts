import { fromTreePath, isUriProblem, skillRootOf } from '../catalog/uri.ts';
import { UsageError } from './failures.ts';

/** A skill as a user names it: `acme/billing/refunds`, its path in the mount, or that of its SKILL.md. */
export interface SkillArgument {
  readonly label: string;
  /** The skill's directory, as a path below the server's. */
  readonly root: string;
  /** Of the SKILL.md, in canonical spelling. */
  readonly uri: string;
}

/** @throws UsageError when it can be no skill */
export function skillArgument(argument: string, mountPoint = '/mcp'): SkillArgument {
  const prefix = mountPoint === '/' ? '/' : `${mountPoint}/`;
  const path = argument.startsWith(prefix) ? argument.slice(prefix.length) : argument;
  const [label = '', ...below] = path.replace(/\/+$/, '').split('/');
  if (below.at(-1) === 'SKILL.md') below.pop();
  const root = below.join('/');
  const uri = `${fromTreePath(root) ?? ''}/SKILL.md`;
  if (label === '' || root === '' || isUriProblem(skillRootOf(uri))) {
    throw new UsageError(
      `${argument}: expected a skill, such as acme/billing/refunds: a server's label, and the path of the skill`,
    );
  }
  return { label, root, uri };
}
