import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { Fault } from '../../base/fault.ts';

/**
 * Where the worker's code is: as told; beside this module, as it is published and as bundlers that follow
 * `new URL(…, import.meta.url)` lay it; else in the skillfs that the program's, or the working directory's, packages resolve to, which is how
 * a program bundled into one file finds it.
 *
 * @throws `Fault` EIO naming the two ways out, when it is nowhere
 */
export function workerFile(told: string | URL | undefined): URL {
  if (told !== undefined) {
    const file = told instanceof URL ? told : pathToFileURL(told);
    if (existsSync(file)) return file;
    throw new Fault('EIO', { detail: `mount({worker}): ${file.href} is not there` });
  }
  // Bundled into CommonJS, a module does not know where it is.
  const here = import.meta.url as string | undefined;
  const beside = here === undefined ? undefined : new URL('./worker.js', here);
  if (beside !== undefined && existsSync(beside)) return beside;
  const program = process.argv[1];
  for (const from of [here, program && pathToFileURL(program).href, pathToFileURL(`${process.cwd()}/`).href]) {
    if (!from) continue;
    try {
      return pathToFileURL(createRequire(from).resolve('skillfs/worker'));
    } catch {
      // Not resolvable from there.
    }
  }
  throw new Fault('EIO', {
    detail:
      'the code of the skillfs worker was not found: bundle the entry point skillfs/worker too and pass where it is as ' +
      'mount({worker: new URL(…)}), or keep servers in this thread with mount({thread: "host"})',
  });
}
