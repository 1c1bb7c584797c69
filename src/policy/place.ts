import { posix, win32 } from 'node:path';

/** The facts about a machine and a user that say where decisions are kept. */
export interface Surroundings {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The user's home directory. */
  readonly home: string;
}

/**
 * The file of this user's approvals, as the operating system has such things: below `$XDG_STATE_HOME` or `~/.local/state`,
 * `~/Library/Application Support` on macOS, `%LOCALAPPDATA%` on Windows. A variable that is no absolute path counts as not
 * set.
 */
export function approvalsFile({ platform, env, home }: Surroundings): string {
  if (platform === 'win32') {
    const local = env['LOCALAPPDATA'];
    const base = local !== undefined && win32.isAbsolute(local) ? local : win32.join(home, 'AppData', 'Local');
    return win32.join(base, 'skillfs', 'approvals.json');
  }
  if (platform === 'darwin') return posix.join(home, 'Library', 'Application Support', 'skillfs', 'approvals.json');
  const state = env['XDG_STATE_HOME'];
  const base = state !== undefined && posix.isAbsolute(state) ? state : posix.join(home, '.local', 'state');
  return posix.join(base, 'skillfs', 'approvals.json');
}
