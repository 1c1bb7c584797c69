import { posix, win32 } from 'node:path';

/** The facts about a machine and a user that say where caches go. */
export interface Surroundings {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The user's home directory. */
  readonly home: string;
}

/**
 * Where this user's caches go, as the operating system has it: `$XDG_CACHE_HOME` or `~/.cache`, `~/Library/Caches` on macOS,
 * `%LOCALAPPDATA%` on Windows; below it, `skillfs`. A variable that is no absolute path counts as not set.
 */
export function cacheDirectory({ platform, env, home }: Surroundings): string {
  if (platform === 'win32') {
    const local = env['LOCALAPPDATA'];
    const base = local !== undefined && win32.isAbsolute(local) ? local : win32.join(home, 'AppData', 'Local');
    return win32.join(base, 'skillfs', 'Cache');
  }
  if (platform === 'darwin') return posix.join(home, 'Library', 'Caches', 'skillfs');
  const xdg = env['XDG_CACHE_HOME'];
  return posix.join(xdg !== undefined && posix.isAbsolute(xdg) ? xdg : posix.join(home, '.cache'), 'skillfs');
}

/** Directories in which agents look for skills, or that they take as a whole for their own. */
const DISCOVERED = new Set([
  '.agent',
  '.agents',
  '.claude',
  '.claude-plugin',
  '.clinerules',
  '.codex',
  '.cursor',
  '.gemini',
  '.goose',
  '.opencode',
  '.pi',
  '.qwen',
  '.roo',
  'skills',
]);

/**
 * The part of a path because of which agents may look for skills in it; a cache must not lie there (CACHE-1). Case does not
 * matter, as it does not on the file systems of many.
 */
export function discoveredPart(path: string): string | undefined {
  return path.split(/[/\\]/).find((segment) => DISCOVERED.has(segment.toLowerCase()));
}
