import fs from 'node:fs';
import { afterAll, beforeAll } from 'vitest';
import { createNodeFs, type NodeFsOptions } from '../../src/node/index.ts';
import { driver, FetchingReadFs, MemoryReadFs } from './memory-read-fs.ts';
import { FILES, mirror, removeMirror } from './mirrored.ts';

/** A tree on the disk and the same tree through a facade, under the same absolute path. */
export interface Sides {
  root: string;
  ours: typeof fs;
}

/** Both sides, for the tests of a file; the working directory is the tree's root. */
export function bothSides(options: NodeFsOptions = {}): Sides {
  const sides: Sides = { root: '', ours: fs };
  const home = process.cwd();
  beforeAll(() => {
    sides.root = mirror(FILES);
    process.chdir(sides.root);
    sides.ours = createNodeFs(new MemoryReadFs(sides.root, FILES), driver, { mountPoint: sides.root, ...options });
  });
  afterAll(() => {
    process.chdir(home);
    removeMirror(sides.root);
  });
  return sides;
}

/** A facade over files of which none is here yet. */
export function fetching(): { ours: typeof fs; requests: string[] } {
  const core = new FetchingReadFs(new MemoryReadFs('/mcp/s', FILES));
  return { ours: createNodeFs(core, driver, { mountPoint: '/mcp' }), requests: core.requests };
}

/** What a call throws; a call that does not is a mistake of the test. */
export function thrown(call: () => unknown): NodeJS.ErrnoException & { cause?: unknown } {
  try {
    call();
  } catch (error) {
    return error as NodeJS.ErrnoException;
  }
  throw new Error('expected the call to throw');
}

export async function rejected(promise: Promise<unknown>): Promise<NodeJS.ErrnoException & { cause?: unknown }> {
  try {
    await promise;
  } catch (error) {
    return error as NodeJS.ErrnoException;
  }
  throw new Error('expected a rejection');
}
