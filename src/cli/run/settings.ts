import { resolve } from 'node:path';
import { SETTINGS_FILE } from '../../config/files.ts';
import { type OverlayView, settingsOf } from '../../config/settings.ts';
import type { ServingOptions } from '../../fuse/setup.ts';
import type { ServerConfig } from '../../protocol/server-config.ts';
import { serversOf } from '../config/servers.ts';
import { UsageError } from '../failures.ts';
import { note, printable } from '../output.ts';
import { policyFrom, type SessionOptions, settingsFrom } from '../session.ts';

/** What a command is to see. */
export interface Shown {
  readonly mount: ServingOptions;
  /** By absolute path; absent where nothing says it. */
  readonly overlays: ReadonlyMap<string, OverlayView> | undefined;
  /** Whether options or a file of settings say where. */
  readonly given: boolean;
  readonly collisions: 'rename' | 'hide' | undefined;
}

/**
 * What the options and the files of the working directory say.
 *
 * @throws UsageError when there is no server
 */
export function shownBy(
  options: SessionOptions & { readonly overlay?: readonly string[]; readonly view: OverlayView },
): Shown {
  const directory = process.cwd();
  const explicit = options.server !== undefined || options.config !== undefined;
  const found = explicit ? undefined : settingsOf(directory, process.env);
  const { servers, remarks } = explicit
    ? serversOf(options, directory, process.env)
    : { servers: new Map<string, ServerConfig>(), remarks: [] };
  for (const { message } of [...remarks, ...(found?.remarks ?? [])]) note(printable(message));
  const mount = (found?.mount ?? { servers: Object.fromEntries(servers) }) as Shown['mount'];
  if (Object.keys(mount.servers).length === 0)
    throw new UsageError('no servers: give --server or --config, or have a skillfs.json or .mcp.json here');
  const given = options.overlay?.map((path) => [resolve(directory, path), options.view] as const);
  return {
    mount: { ...mount, ...settingsFrom(options), policy: policyFrom(options, found?.mount.policy) },
    given: given !== undefined || found?.source === SETTINGS_FILE,
    overlays: given === undefined ? found?.overlays : new Map(given),
    collisions: found?.collisions,
  };
}
