import { resolve } from 'node:path';
import { settingsOf } from '../config/settings.ts';
import { watchChildProcesses } from './child-processes.ts';
import { patchFs } from './patch-fs.ts';
import { setUp } from './set-up.ts';

// Sets a process up before its program is loaded: `node --import skillfs/register`, or `--require`. A program that works
// without skills of servers works when they cannot be had, too: what is wrong is said, and nothing is thrown.

const WAYS_OUT =
  'other programs see skills of servers in a kernel mount (skillfs mount), or as copies (skillfs export)';

const said = new Set<string>();

function say(message: string): void {
  if (said.has(message)) return;
  said.add(message);
  process.stderr.write(`skillfs: ${message.replace(/[\p{Cc}\p{Cf}]/gu, '\ufffd')}\n`);
}

try {
  const settings = settingsOf(process.cwd(), process.env);
  if (settings === undefined) {
    say('no servers: set SKILLFS_CONFIG, or have a skillfs.json or .mcp.json in the working directory');
  } else {
    for (const { kind, message } of settings.remarks) if (kind === 'unusable') say(message);
    const verbose = Boolean(process.env['SKILLFS_VERBOSE']);
    const { mount, overlays } = setUp(settings, verbose);
    mount.on('diagnostic', ({ severity, code, label, message }) => {
      const hint = code === 'unreachable' && !verbose ? ' (SKILLFS_VERBOSE=1 shows what servers say)' : '';
      if (severity === 'error' || verbose) say(`${label === undefined ? '' : `${label}: `}${message}${hint}`);
    });
    for (const view of overlays) {
      view.on('diagnostic', ({ code, message }) => {
        if (code === 'collision' || code === 'local') say(message);
      });
    }
    patchFs([mount, ...overlays]);
    const shown = [mount, ...overlays];
    watchChildProcesses(
      (path) => shown.some((view) => view.originOf(resolve(path))?.label !== undefined),
      (program, path) => say(`${program} was started with ${path}, which is there in this process alone: ${WAYS_OUT}`),
    );
  }
} catch (error) {
  say(`skills of servers are not shown: ${error instanceof Error ? error.message : String(error)}`);
}
