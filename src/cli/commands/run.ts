import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { type Command, Option } from 'commander';
import { AGENTS, type Agent, agentCalled } from '../../config/agents.ts';
import { EXIT, UsageError } from '../failures.ts';
import { note, printable } from '../output.ts';
import { runsOnNode } from '../run/runtime.ts';
import { shownBy } from '../run/settings.ts';
import { copied, mounted, mountedOrCopied, patched, type Setting, type Wanted } from '../run/ways.ts';
import { type SessionOptions, withServers } from '../session.ts';

interface RunOptions extends SessionOptions {
  readonly overlay?: readonly string[];
  readonly view: 'flat' | 'tree';
  readonly for?: string;
  readonly at?: string;
  readonly how: 'auto' | 'patch' | 'mount' | 'export';
}

export function register(program: Command): void {
  const collect = (value: string, before: readonly string[] | undefined) => [...(before ?? []), value];
  withServers(program.command('run').description('Run a program, an agent for one, that sees the skills of servers.'))
    .argument('<command...>', 'what to run, after --')
    .option('--for <agent>', `where that agent looks for skills: ${AGENTS.map(({ name }) => name).join(', ')}`)
    .option('--at <directory>', 'show them in this directory')
    .addOption(
      new Option('--how <how>', 'patch (Node.js programs), mount (Linux) or export (copies, while it runs)')
        .choices(['auto', 'patch', 'mount', 'export'])
        .default('auto'),
    )
    .option('--overlay <directory>', 'a skill directory that shows them beside its own (repeatable)', collect)
    .addOption(
      new Option('--view <how>', 'what is shown: every skill by its name, or a tree')
        .choices(['flat', 'tree'])
        .default('flat'),
    )
    .action(run);
}

async function run([command = '', ...args]: readonly string[], options: RunOptions): Promise<void> {
  const { view, at, verbose = false } = options;
  const agent = options.for === undefined ? agentCalled(command) : namedAgent(options.for);
  const wanted: Wanted = { shown: shownBy(options), agent, at, view, verbose };
  const signals = passing();
  try {
    const setting = await settingFor(command, wanted, options);
    try {
      process.exitCode = await signals.runUnlessEnded(command, [...setting.args, ...args], setting.env);
    } finally {
      await setting.end();
    }
  } finally {
    signals.end();
  }
}

function namedAgent(name: string): Agent {
  const agent = AGENTS.find((one) => one.name === name);
  if (agent !== undefined) return agent;
  throw new UsageError(`--for ${name}: expected ${AGENTS.map((one) => one.name).join(', ')}; or say where with --at`);
}

/** A Node.js program is set up in itself, everything else by the kernel, and where that cannot be, with copies. */
async function settingFor(command: string, wanted: Wanted, { how, overlay }: RunOptions): Promise<Setting> {
  const { agent, at } = wanted;
  if (how === 'patch') return patched(wanted);
  if (how === 'mount') return mounted(wanted);
  if (how === 'export') return copied(wanted);
  if (overlay !== undefined || (agent === undefined ? await runsOnNode(command) : agent.runtime === 'node')) {
    return patched(wanted);
  }
  if (agent !== undefined || at !== undefined) return mountedOrCopied(wanted);
  // Nobody has said where it looks. What it starts may be Node.js programs.
  return patched(wanted);
}

/** Signals that a terminal or a supervisor sends to end a program. A terminal sends the first two to all of its programs itself. */
const PASSED: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP'];

/** Passes signals on from now: before there is a program, one of them keeps it from being started. */
function passing() {
  let ended: NodeJS.Signals | undefined;
  let pass = (signal: NodeJS.Signals) => {
    ended ??= signal;
  };
  const received = (signal: NodeJS.Signals) => pass(signal);
  for (const signal of PASSED) process.on(signal, received);
  return {
    /** @returns the exit code, as a shell has it */
    runUnlessEnded(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
      if (ended !== undefined) return Promise.resolve(128 + constants.signals[ended]);
      const child = spawn(command, args, { stdio: 'inherit', env });
      pass = (signal) => {
        const fromTerminal = process.stdin.isTTY && (signal === 'SIGINT' || signal === 'SIGQUIT');
        if (!fromTerminal) child.kill(signal);
      };
      return new Promise((done) => {
        child.on('error', (error) => {
          note(printable(`${command}: cannot be run: ${error.message}`));
          done(EXIT.failed);
        });
        child.on('exit', (code, signal) => done(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
      });
    },
    end() {
      for (const signal of PASSED) process.off(signal, received);
    },
  };
}
