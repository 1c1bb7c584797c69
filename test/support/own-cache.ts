import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Programs that the tests start keep nothing in the cache of the user who runs them, and know nothing of what that one decided. */
export default function setup(): () => void {
  const directory = mkdtempSync(join(tmpdir(), 'skillfs-own-cache-'));
  process.env['XDG_CACHE_HOME'] = directory;
  process.env['XDG_STATE_HOME'] = join(directory, 'state');
  return () => rmSync(directory, { recursive: true, force: true });
}
