// Agents that are native programs, and how each tells, without a model or an account, which skills it has found.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const installed = (path) => fileURLToPath(new URL(`node_modules/${path}`, import.meta.url));
const platform = `${process.platform}-${process.arch}`;

/** Milliseconds for an agent to say what it has. */
const DEADLINE = 60_000;

/**
 * For each, its program; where a project keeps its skills; its arguments, and the messages it is asked with, if any; and
 * `answer`, which makes `{ name, path? }` of what it writes: of each line, until it is not `undefined`, or of the `whole`.
 */
export const agents = {
  codex: {
    program: installed('@openai/codex/bin/codex.js'),
    needs: installed(`@openai/codex-${platform}`),
    local: '.agents/skills',
    args: ['app-server'],
    asked: [
      { id: 1, method: 'initialize', params: { clientInfo: { name: 'checks', title: 'checks', version: '1' } } },
      { method: 'initialized' },
      { id: 2, method: 'skills/list', params: {} },
    ],
    answer({ id, result }) {
      if (id !== 2) return undefined;
      return result.data.flatMap(({ skills }) => skills).filter(({ scope }) => scope === 'repo');
    },
  },
  opencode: {
    program: installed(`opencode-${platform}/bin/opencode`),
    local: '.agents/skills',
    args: ['debug', 'skill'],
    env: {
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    },
    whole: true,
    answer: (skills) =>
      skills
        .filter(({ location }) => location !== '<built-in>')
        .map(({ name, location }) => ({ name, path: location })),
  },
  claude: {
    program: installed(`@anthropic-ai/claude-code-${platform}/claude`),
    local: '.claude/skills',
    // What it begins a conversation with names its skills; the conversation itself reaches nobody.
    args: ['-p', 'hello', '--output-format', 'stream-json', '--verbose'],
    env: {
      ANTHROPIC_API_KEY: 'none',
      ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    },
    answer({ type, subtype, skills }) {
      return type === 'system' && subtype === 'init' ? skills.map((name) => ({ name })) : undefined;
    },
  },
};

/** Why an agent cannot be asked here; `undefined` when it can. */
export function obstacleTo({ program, needs = program }) {
  return existsSync(program) && existsSync(needs) ? undefined : `it is not installed for ${platform}`;
}

/**
 * What an agent says that it has found, when it is started by another command.
 *
 * @param command what comes before the agent's own command line; it passes signals on
 */
export async function skillsOf(agent, command, { cwd, env }) {
  const [program, ...args] = [...command, agent.program, ...agent.args];
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, ...agent.env, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: DEADLINE,
  });
  const ended = new Promise((done) => child.on('close', (code, signal) => done(code ?? signal)));
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
  child.stdin.on('error', () => {});
  if (agent.asked === undefined) child.stdin.end();
  else for (const message of agent.asked) child.stdin.write(`${JSON.stringify(message)}\n`);
  let text = '';
  let found;
  for await (const line of createInterface({ input: child.stdout })) {
    text += `${line}\n`;
    if (agent.whole || found !== undefined || !line.startsWith('{')) continue;
    found = agent.answer(JSON.parse(line));
    if (found !== undefined) child.kill('SIGTERM');
  }
  const code = await ended;
  if (agent.whole && code === 0) found = agent.answer(JSON.parse(text));
  if (found === undefined) throw new Error(`it ended with ${code} and did not tell its skills\n${stderr}${text}`);
  return found;
}
