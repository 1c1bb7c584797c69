import type { Mount } from '../mount.ts';
import { flat } from '../views/flat.ts';
import { union } from '../views/union.ts';
import type { View } from '../views/view.ts';
import type { Arrangement } from './setup.ts';

/**
 * A mount as a directory is to show it: its own tree, or a view.
 *
 * @throws OptionsError naming what cannot be used
 */
export function arrange(mount: Mount, arrangement: Arrangement): Mount | View {
  const { view = 'tree', local = [], collisions = 'rename', reserved = [] } = arrangement;
  const servers = view === 'flat' ? flat(mount, { collisions, reserved }) : mount;
  if (local.length === 0) return servers;
  return union([...local.map((path) => ({ path, writable: false })), servers]);
}
