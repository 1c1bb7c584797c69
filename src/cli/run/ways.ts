import { join, resolve } from 'node:path';
import type { Agent, Told } from '../../config/agents.ts';
import { atHome } from '../../config/settings.ts';
import { exportTree } from '../../export/export-tree.ts';
import { removeExport } from '../../export/remove.ts';
import { AttachError } from '../../fuse/attach.ts';
import { launch, withdraw } from '../../fuse/launch.ts';
import { mount } from '../../mount.ts';
import type { ServerConfig } from '../../protocol/server-config.ts';
import { describe, UsageError } from '../failures.ts';
import { note, printable } from '../output.ts';
import { freePlace, namesIn, type Place, scratchPlace } from './place.ts';
import type { Shown } from './settings.ts';

/** A command that sees the skills of servers, and what is to be done when it has ended. */
export interface Setting {
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  end(): Promise<void>;
}

export interface Wanted {
  readonly shown: Shown;
  readonly agent: Agent | undefined;
  /** Where skills are to be shown, when that is said. */
  readonly at: string | undefined;
  readonly view: 'flat' | 'tree';
  readonly verbose: boolean;
}

/** Every Node.js process below is set up before its program is loaded. */
export async function patched(wanted: Wanted): Promise<Setting> {
  const { shown, agent, at, view, verbose } = wanted;
  const directory = at ?? (shown.given ? undefined : agent?.project[0]);
  const overlays = directory === undefined ? shown.overlays : new Map([[resolve(directory), view]]);
  const reserved = await namesElsewhere(agent, [...(overlays?.keys() ?? [])]);
  const { servers, ...rest } = shown.mount;
  const config = {
    ...rest,
    mcpServers: servers,
    reserved,
    ...(reserved.length > 0 && { collisions: 'hide' }),
    ...(shown.collisions !== undefined && { collisions: shown.collisions }),
    ...(overlays !== undefined && { overlays: Object.fromEntries(overlays) }),
  };
  const preload = `--import=${new URL('./register.js', import.meta.url).href}`;
  const env = {
    ...process.env,
    NODE_OPTIONS: [process.env['NODE_OPTIONS'], preload].filter(Boolean).join(' '),
    SKILLFS_CONFIG: JSON.stringify(config),
    ...(verbose && { SKILLFS_VERBOSE: '1' }),
  };
  return { args: [], env, end: () => Promise.resolve() };
}

/**
 * The kernel shows the skills in a directory of their own, to every program. It is one that nobody had anything in, so that
 * nothing is hidden, and skills that are there beside keep their names.
 *
 * @throws UsageError when there is no such directory; AttachError when it cannot be mounted on
 */
export async function mounted(wanted: Wanted): Promise<Setting> {
  const { shown, view, verbose } = wanted;
  const { place, told, reserved } = await chosen(wanted);
  try {
    const launched = await launch(place.dir, {
      options: { ...shown.mount, servers: withStderr(shown.mount.servers, verbose) },
      arrangement: { view, collisions: 'hide', reserved },
      verbose,
      nonempty: false,
      allowOther: false,
      lifetime: verbose ? 'program' : 'command',
    });
    return setting(told, async () => {
      await withdraw(launched);
      await place.leave();
    });
  } catch (error) {
    await place.leave();
    throw error;
  }
}

/**
 * The skills are copied into such a directory, and the copy is removed again.
 *
 * @throws UsageError when there is no such directory; what `exportTree` throws
 */
export async function copied(wanted: Wanted): Promise<Setting> {
  const { shown, view, verbose } = wanted;
  const { place, told, reserved } = await chosen(wanted);
  const servers = mount({ ...shown.mount, servers: withStderr(shown.mount.servers, verbose) });
  const end = async () => {
    removeExport(place.dir);
    await place.leave();
  };
  try {
    const layout = { layout: view, collisions: 'hide', reserved, discoverable: true } as const;
    const { failures } = await exportTree(servers, place.dir, layout);
    for (const { label, uri, error } of failures) {
      note(printable(`${label}: ${uri ?? 'the server'} is not shown: ${describe(error)[0]}`));
    }
  } catch (error) {
    await end();
    throw error;
  } finally {
    await servers.close();
  }
  return setting(told, end);
}

/** What a command is set up with where the kernel can do it, and otherwise with copies. */
export async function mountedOrCopied(wanted: Wanted): Promise<Setting> {
  try {
    return await mounted(wanted);
  } catch (error) {
    if (!(error instanceof AttachError)) throw error;
    if (wanted.verbose) note(printable(error.message));
    return copied(wanted);
  }
}

interface Chosen {
  readonly place: Place;
  readonly told: Told | undefined;
  readonly reserved: readonly string[];
}

/** A directory that the agent is told of comes before one of those it looks into by itself: nothing of the project changes then. */
async function chosen({ shown, agent, at }: Wanted): Promise<Chosen> {
  const reserved = await namesElsewhere(agent, at === undefined ? [] : [resolve(at)]);
  if (at === undefined && agent?.tell !== undefined && !overridden(agent.tell(''))) {
    const { below } = agent.tell('');
    const { root, ...place } = await scratchPlace(below);
    return { place, told: agent.tell(root), reserved };
  }
  const directories = at !== undefined ? [at] : (agent?.project ?? [...(shown.overlays?.keys() ?? USUAL)]);
  const place = await freePlace(directories);
  if (place !== undefined) return { place, told: undefined, reserved };
  const names = directories.join(', ');
  throw new UsageError(
    `there is something in ${names} already, which would be hidden; give an empty or new directory with --at, where ` +
      `${agent?.name ?? 'the program'} finds skills`,
  );
}

/** What the user has in an agent's directories, but for those in which it is shown anyway, keeps its names (SEC-5). */
async function namesElsewhere(agent: Agent | undefined, shownAnyway: readonly string[]): Promise<readonly string[]> {
  const own = [...(agent?.project ?? []), ...(agent?.user ?? [])].map((path) => resolve(atHome(path)));
  return namesIn(own.filter((path) => !shownAnyway.includes(path)));
}

const USUAL = [join('.agents', 'skills')];

/** Whether the user has set the agent up in a way that ours would undo. */
function overridden({ env = {} }: Told): boolean {
  return Object.keys(env).some((name) => process.env[name] !== undefined);
}

function setting(told: Told | undefined, end: () => Promise<void>): Setting {
  return { args: told?.args ?? [], env: { ...process.env, ...told?.env }, end };
}

/** A terminal belongs to the program, not to servers. */
function withStderr(servers: Shown['mount']['servers'], verbose: boolean): Record<string, ServerConfig> {
  const stderr = verbose ? ('inherit' as const) : ('ignore' as const);
  return Object.fromEntries(
    Object.entries(servers).map(([label, server]) => [label, 'command' in server ? { ...server, stderr } : server]),
  );
}
