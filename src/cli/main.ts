#!/usr/bin/env node
import { Command, CommanderError } from 'commander';
import { VERSION } from '../base/version.ts';
import { OptionsError } from '../options.ts';
import { register as approvals } from './commands/approvals.ts';
import { register as approve } from './commands/approve.ts';
import { register as cache } from './commands/cache.ts';
import { register as cat } from './commands/cat.ts';
import { register as demo } from './commands/demo.ts';
import { register as deny } from './commands/deny.ts';
import { register as disable } from './commands/disable.ts';
import { register as doctor } from './commands/doctor.ts';
import { register as enable } from './commands/enable.ts';
import { register as exportSkills } from './commands/export.ts';
import { register as inspect } from './commands/inspect.ts';
import { register as ls } from './commands/ls.ts';
import { register as mount } from './commands/mount.ts';
import { register as mounts } from './commands/mounts.ts';
import { register as run } from './commands/run.ts';
import { register as serve } from './commands/serve.ts';
import { register as skills } from './commands/skills.ts';
import { register as stat } from './commands/stat.ts';
import { register as tree } from './commands/tree.ts';
import { register as unmount } from './commands/unmount.ts';
import { register as verify } from './commands/verify.ts';
import { EXIT, UsageError } from './failures.ts';
import { noteError, printable } from './output.ts';

const program = new Command('skillfs')
  .description('The Agent Skills of MCP servers, as files.')
  .version(VERSION)
  .exitOverride()
  .addHelpText(
    'after',
    `
Paths are absolute (/mcp/<server>/…) or start with the server's label. Servers are given with --server or --config, or found
in .mcp.json, .vscode/mcp.json and .cursor/mcp.json of the working directory.`,
  )
  .addHelpText(
    'afterAll',
    `
Data goes to standard output, everything else to standard error.
Exit codes: 0 all went well, 1 something failed, 2 the call or the configuration cannot be used.`,
  );
const commands = [
  ...[ls, tree, cat, stat, skills, inspect, verify, doctor],
  ...[approve, deny, enable, disable, approvals],
  ...[run, serve, mount, unmount, mounts, exportSkills, cache, demo],
];
for (const register of commands) register(program);

// A reader that has seen enough, like head, ends the program quietly.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.failed);
});

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = exitCodeOf(error);
  if (!(error instanceof CommanderError)) {
    noteError(error);
    if (process.argv.includes('--verbose') && error instanceof Error) noteStack(error);
  }
}

function noteStack({ stack = '' }: Error): void {
  for (const line of stack.split('\n')) process.stderr.write(`${printable(line)}\n`);
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  return error instanceof UsageError || error instanceof OptionsError ? EXIT.usage : EXIT.failed;
}
