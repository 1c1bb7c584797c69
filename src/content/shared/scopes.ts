import { homedir } from 'node:os';
import { scopeOf } from '../disk/scope.ts';

/**
 * By label, what the keys of a server's files in a shared store begin with: those of {@link scopeOf}. A command serves whom it
 * runs as, so that it is another one for another user (CACHE-2).
 *
 * @param keys by label, names given in place of what the source tells
 * @returns without the servers that do not tell who they are
 */
export function sharedScopes(
  servers: ReadonlyMap<string, object>,
  keys: Readonly<Record<string, string>> = {},
): ReadonlyMap<string, string> {
  const user = { uid: process.getuid?.() ?? null, home: homedir() };
  const names = new Map(Object.entries(keys));
  const scopes = new Map<string, string>();
  for (const [label, source] of servers) {
    const scope = scopeOf(label, 'command' in source ? { ...source, user } : source, names.get(label));
    if (scope !== undefined) scopes.set(label, scope.id);
  }
  return scopes;
}
