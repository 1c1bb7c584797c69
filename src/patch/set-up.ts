import type { OverlayView, Settings } from '../config/settings.ts';
import { type Mount, mount } from '../mount.ts';
import { native } from '../node/native.ts';
import type { ServerSource } from '../options.ts';
import { flat } from '../views/flat.ts';
import { union } from '../views/union.ts';
import type { View } from '../views/view.ts';

/** What a process is to see: the servers' own tree, and the directories that show their skills. */
export interface SetUp {
  readonly mount: Mount;
  readonly overlays: readonly View[];
}

/**
 * Makes the mount and the views that settings ask for.
 *
 * @param verbose whether the standard error of servers is shown
 * @throws OptionsError naming what cannot be used
 */
export function setUp(settings: Settings, verbose: boolean): SetUp {
  const { mount: options, overlays } = settings;
  const servers = Object.fromEntries(
    Object.entries(options.servers).map(([label, server]) => [label, verbose ? server : quiet(server)]),
  );
  // What the user decided counts for every program.
  const mounted = mount({ ...options, servers, policy: { approvals: true, ...options.policy } });
  return {
    mount: mounted,
    overlays: [...overlays].flatMap(([directory, view]) =>
      spellingsOf(directory).map((path) => overlay(mounted, path, view, settings)),
    ),
  };
}

/** A terminal belongs to the program, not to the servers it knows nothing of. */
function quiet(server: ServerSource): ServerSource {
  return 'command' in server && server.stderr === undefined ? { ...server, stderr: 'ignore' } : server;
}

function overlay(mounted: Mount, path: string, view: OverlayView, { collisions, reserved }: Settings): View {
  const servers = view === 'tree' ? mounted : flat(mounted, { collisions, reserved });
  return union([{ path }, servers], { mountPoint: path });
}

/** Loaders may look a directory's real path up first, and go on with that. */
function spellingsOf(directory: string): readonly string[] {
  try {
    return [...new Set([directory, native.realpathSync(directory)])];
  } catch {
    return [directory];
  }
}
