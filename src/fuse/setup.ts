import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { SharedConfig } from '../content/shared-store.ts';
import type { MountOptions } from '../options.ts';
import type { ServerConfig } from '../protocol/server-config.ts';

/** The options of a mount that another process can make. */
export interface ServingOptions extends Omit<MountOptions, 'servers' | 'thread' | 'worker' | 'shared'> {
  /** As config: a connected client cannot be handed to the process that serves. */
  readonly servers: Readonly<Record<string, ServerConfig>>;
  /** As config, likewise. */
  readonly shared?: SharedConfig;
}

/** How a directory shows skills. */
export interface Arrangement {
  /** `tree` (default): `<dir>/<label>/<skill-path>`; `flat`: every skill by its name, which is where most loaders look. */
  readonly view?: 'tree' | 'flat';
  /** Directories of the user's own skills, which come first; what they hold keeps its name (SEC-5). Not written to. */
  readonly local?: readonly string[];
  /** In a flat view, what becomes of a skill whose name another one has: as for `flat`. Default `rename`. */
  readonly collisions?: 'rename' | 'hide';
  /** In a flat view, names that skills elsewhere have, and that no server's skill gets (SEC-5). */
  readonly reserved?: readonly string[];
}

/** What the serving process is told, as one line of JSON on its standard input: servers may come with secrets. */
export interface Setup {
  /** Absolute, without symbolic links. */
  readonly dir: string;
  readonly options: ServingOptions;
  /** With absolute paths. */
  readonly arrangement: Arrangement;
  readonly verbose: boolean;
  /** Whether it goes on when the process that started it ends. */
  readonly detached: boolean;
  /** Where its messages go, if not to the standard error of who started it. */
  readonly log?: string;
}

/** What it answers with, as one line of JSON on its standard output. */
export type Outcome = { readonly ready: true } | { readonly failed: string };

/** @returns the setup, and a promise that ends with the process that gave it */
export async function readSetup(): Promise<{ setup: Setup; parentEnded: Promise<unknown> }> {
  const lines = createInterface({ input: process.stdin });
  const parentEnded = once(lines, 'close');
  const [line] = (await once(lines, 'line')) as [string];
  return { setup: JSON.parse(line) as Setup, parentEnded };
}

export function tellParent(outcome: Outcome): void {
  process.stdout.write(`${JSON.stringify(outcome)}\n`);
}

export function isOutcome(value: unknown): value is Outcome {
  return typeof value === 'object' && value !== null && ('ready' in value || 'failed' in value);
}
