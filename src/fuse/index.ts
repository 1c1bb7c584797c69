import type { Socket } from 'node:net';
import { OptionsError, resolveOptions } from '../options.ts';
import { isMcpClient } from '../protocol/client.ts';
import { AttachError } from './attach.ts';
import { launch, withdraw } from './launch.ts';
import type { Arrangement, ServingOptions } from './setup.ts';

export { AttachError };

/** What {@link mountKernel} takes: the options of `mount`, with servers as config only, and how the directory is used. */
export interface KernelMountOptions extends ServingOptions, Arrangement {
  /** Whether the directory may hold something, which is hidden while it is mounted on. Default `false`. */
  readonly nonempty?: boolean;
  /** Whether other users may look into the mount. As root only. Default `false`. */
  readonly allowOther?: boolean;
  /** Whether the serving process writes more than warnings and errors to standard error. Default `false`. */
  readonly verbose?: boolean;
}

/** A directory at which the kernel shows servers' skills. */
export interface KernelMount {
  /** The directory, absolute and without symbolic links; below it is what the view shows. */
  readonly dir: string;
  /** The process that serves the mount. SIGHUP has it list its servers again, SIGTERM ends it. */
  readonly pid: number;
  /** Takes the mount away. Files that are open stay readable for some seconds. @returns when its process has ended */
  unmount(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Mounts the skills of MCP servers on a directory, for every program: read-only, nothing in it runs (SEC-1), whatever a view
 * of it could write. A process of its
 * own serves the mount, so that synchronous calls of this one may use it, and ends with this one. Linux only; without root it
 * needs fusermount3 and Python or Perl.
 *
 * @throws OptionsError when a server is a connected client: what lives in this process could not answer while a synchronous
 * call of this process waits for the kernel
 * @throws AttachError when the directory cannot be mounted on; the message names what works instead
 */
export async function mountKernel(options: KernelMountOptions, directory: string): Promise<KernelMount> {
  const { view, local, collisions, reserved, nonempty = false, allowOther = false, verbose = false, ...rest } = options;
  resolveOptions(rest);
  if (rest.policy?.approve !== undefined) throw new OptionsError(CALLBACK_REFUSED);
  for (const [label, source] of Object.entries(rest.servers)) {
    if (isMcpClient(source)) throw new OptionsError(clientRefused(label));
  }
  const { dir, child } = await launch(directory, {
    options: rest,
    arrangement: checkArrangement({
      ...(view !== undefined && { view }),
      ...(local !== undefined && { local }),
      ...(collisions !== undefined && { collisions }),
      ...(reserved !== undefined && { reserved }),
    }),
    verbose,
    nonempty,
    allowOther,
    lifetime: 'program',
  });
  child.unref();
  (child.stdin as Socket).unref();
  const unmount = () => withdraw({ dir, child });
  return { dir, pid: child.pid as number, unmount, [Symbol.asyncDispose]: unmount };
}

const CALLBACK_REFUSED =
  'policy.approve: a kernel mount is served by a process of its own, which cannot call back; approve skills beforehand (skillfs approve)';

/** @throws OptionsError */
function checkArrangement(arrangement: Arrangement): Arrangement {
  const { view = 'tree', local = [], collisions = 'rename', reserved = [] } = arrangement;
  if (!['tree', 'flat'].includes(view)) throw new OptionsError('view: expected "tree" or "flat"');
  if (!['rename', 'hide'].includes(collisions)) throw new OptionsError('collisions: expected "rename" or "hide"');
  if (!Array.isArray(local) || local.some((path) => typeof path !== 'string' || path === ''))
    throw new OptionsError('local: expected paths of directories');
  if (!Array.isArray(reserved)) throw new OptionsError('reserved: expected names');
  return arrangement;
}

function clientRefused(label: string): string {
  return (
    `servers[${JSON.stringify(label)}]: a kernel mount takes servers as config only: a connected client lives in this ` +
    'process, and could not answer while a synchronous call of this process waits for the kernel'
  );
}
