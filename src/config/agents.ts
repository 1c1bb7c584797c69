import { basename } from 'node:path';

/** How an agent is told of a directory of skills besides those it knows. */
export interface Told {
  /** Where skills are looked for below the directory that is told. */
  readonly below: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** An agent, and where it looks for skills, each at one level: `<directory>/<name>/SKILL.md`. */
export interface Agent {
  /** As `--for` takes it, and as its program is called. */
  readonly name: string;
  /** Other names of its program. */
  readonly programs?: readonly string[];
  /** `node`: it reads files in a Node.js process; `native`: by another program, even where Node.js starts that. */
  readonly runtime: 'node' | 'native';
  /** Directories of a project, the agent's own first. */
  readonly project: readonly string[];
  /** Directories of the user. */
  readonly user: readonly string[];
  /** How to tell it of another one, which leaves those of the user alone. */
  readonly tell?: (directory: string) => Told;
  /** Where its maker says so. */
  readonly source: string;
}

/** Agents whose directories are known. A new one is one entry. */
export const AGENTS: readonly Agent[] = [
  {
    name: 'claude',
    runtime: 'native',
    project: ['.claude/skills'],
    user: ['~/.claude/skills'],
    // An added directory is looked into for skills as a project is. The option takes several values when it has no "=".
    tell: (directory) => ({ below: '.claude/skills', args: [`--add-dir=${directory}`] }),
    source: 'https://code.claude.com/docs/en/skills',
  },
  {
    name: 'codex',
    runtime: 'native',
    project: ['.agents/skills', '.codex/skills'],
    user: ['~/.agents/skills', '~/.codex/skills', '/etc/codex/skills'],
    source: 'https://developers.openai.com/codex/skills',
  },
  {
    name: 'opencode',
    runtime: 'native',
    project: ['.opencode/skills', '.agents/skills', '.claude/skills'],
    user: ['~/.config/opencode/skills', '~/.agents/skills', '~/.claude/skills'],
    tell: (directory) => ({
      below: '',
      env: { OPENCODE_CONFIG_CONTENT: JSON.stringify({ skills: { paths: [directory] } }) },
    }),
    source: 'https://opencode.ai/docs/skills',
  },
  {
    name: 'gemini',
    runtime: 'node',
    project: ['.gemini/skills', '.agents/skills'],
    user: ['~/.gemini/skills', '~/.agents/skills'],
    source: 'https://geminicli.com/docs/cli/skills',
  },
  {
    name: 'qwen',
    runtime: 'node',
    project: ['.qwen/skills'],
    user: ['~/.qwen/skills'],
    source: 'https://qwenlm.github.io/qwen-code-docs/en/users/features/skills',
  },
  {
    name: 'goose',
    runtime: 'native',
    project: ['.goose/skills', '.agents/skills', '.claude/skills'],
    user: ['~/.config/goose/skills', '~/.config/agents/skills', '~/.agents/skills', '~/.claude/skills'],
    source: 'https://block.github.io/goose/docs/guides/context-engineering/using-skills',
  },
  {
    name: 'cline',
    runtime: 'node',
    project: ['.cline/skills', '.clinerules/skills', '.claude/skills', '.agents/skills'],
    user: ['~/.cline/skills', '~/.agents/skills'],
    source: 'https://docs.cline.bot/customization/skills',
  },
  {
    name: 'pi',
    runtime: 'node',
    project: ['.pi/skills', '.agents/skills'],
    user: ['~/.pi/agent/skills', '~/.agents/skills'],
    source: 'https://www.npmjs.com/package/@earendil-works/pi-coding-agent',
  },
  {
    name: 'copilot',
    runtime: 'native',
    project: ['.github/skills', '.agents/skills', '.claude/skills'],
    user: ['~/.copilot/skills', '~/.agents/skills', '~/.claude/skills'],
    source: 'https://docs.github.com/en/copilot/concepts/agents/about-agent-skills',
  },
  {
    name: 'amp',
    runtime: 'native',
    project: ['.agents/skills', '.claude/skills'],
    user: ['~/.config/agents/skills', '~/.config/amp/skills', '~/.claude/skills'],
    source: 'https://ampcode.com/manual',
  },
  {
    name: 'cursor',
    programs: ['cursor-agent'],
    runtime: 'native',
    project: ['.cursor/skills', '.agents/skills', '.claude/skills'],
    user: ['~/.cursor/skills', '~/.agents/skills', '~/.claude/skills'],
    source: 'https://cursor.com/docs/context/skills',
  },
];

/** The agent that is called so, or whose program it is; `undefined` for all others. */
export function agentCalled(command: string): Agent | undefined {
  const name = basename(command).replace(/\.(?:exe|cmd|[cm]?js)$/i, '');
  return AGENTS.find((agent) => agent.name === name || agent.programs?.includes(name));
}
