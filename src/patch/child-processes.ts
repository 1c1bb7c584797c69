import childProcess, { ChildProcess } from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';

type Spawn = (this: unknown, options: { file?: string; args?: unknown; cwd?: unknown }) => unknown;
type SyncSpawn = (this: unknown, command: unknown, ...rest: unknown[]) => unknown;

/** Words of a command, by which it may name a path. */
const WORDS = /[^\s'"`;|&<>()=]+/g;

/**
 * Tells when a program is started with a path that only this process can see: other programs are not reached, and would say
 * no more than that nothing is there.
 *
 * @param isVirtual whether a path is what servers publish
 * @param tell called with the program and the first such path
 * @returns a function that undoes it
 */
export function watchChildProcesses(
  isVirtual: (path: string) => boolean,
  tell: (program: string, path: string) => void,
): () => void {
  const look = (program: unknown, given: readonly unknown[]) => {
    const words = given.flat().filter((word): word is string => typeof word === 'string');
    const path = words.flatMap((word) => [word, ...(word.match(WORDS) ?? [])]).find(isVirtual);
    if (path !== undefined) tell(String(program), path);
  };
  const prototype = ChildProcess.prototype as unknown as { spawn: Spawn };
  const { spawn } = prototype;
  prototype.spawn = function (options) {
    look(options?.file, [options?.args, options?.cwd]);
    return spawn.call(this, options);
  };
  const functions = childProcess as unknown as Record<string, SyncSpawn>;
  const originals = (['spawnSync', 'execSync', 'execFileSync'] as const).map((name) => {
    const original = functions[name] as SyncSpawn;
    functions[name] = function (command, ...rest) {
      const options = rest.find((one) => typeof one === 'object' && one !== null && !Array.isArray(one));
      look(command, [command, ...rest, (options as { cwd?: unknown } | undefined)?.cwd]);
      return original.call(this, command, ...rest);
    };
    Object.defineProperty(functions[name], 'name', { value: name, configurable: true });
    return [name, original] as const;
  });
  syncBuiltinESMExports();
  return () => {
    prototype.spawn = spawn;
    for (const [name, original] of originals) functions[name] = original;
    syncBuiltinESMExports();
  };
}
