import { describe } from '../cli/failures.ts';
import { note, printable } from '../cli/output.ts';
import { mount } from '../mount.ts';
import { internalsOf } from '../mounted.ts';
import { arrange } from './arrange.ts';
import { detach } from './detach.ts';
import { provenanceOf } from './provenance.ts';
import { dropRecord, keepRecord } from './records.ts';
import { serveFuse } from './server.ts';
import { readSetup, tellParent } from './setup.ts';

// The process that answers the kernel for one mount: a program that used its own mount would wait for itself.

/** Where the mount is found (see `attach.ts`). */
const DEVICE = 4;

/** Milliseconds that open files may still be read after the mount was taken away. */
const GRACE = 5_000;

process.stdout.on('error', () => {});
process.stderr.on('error', () => {});

const { setup, parentEnded } = await readSetup();
const { dir, options, arrangement, verbose, detached, log } = setup;
const pid = process.pid;

// Nothing here waits synchronously, so that connections need no thread of their own.
// What the user decided counts for every program.
const mounted = mount({ ...options, thread: 'host', policy: { approvals: true, ...options.policy } });
const shown = arrange(mounted, arrangement);
shown.on('diagnostic', ({ severity, label, message }) => {
  if (verbose || severity !== 'info')
    note(`${severity}: ${label === undefined ? '' : `${printable(label)}: `}${printable(message)}`);
});

const { core, driver, changes, mountPoint } = internalsOf(shown);
let lastReported = '';
const server = serveFuse({
  fd: DEVICE,
  core,
  driver,
  changes,
  root: mountPoint,
  provenance: provenanceOf(mounted, shown),
  uid: process.getuid?.() ?? 0,
  gid: process.getgid?.() ?? 0,
  report(path, error) {
    const message = `${path}: ${describe(error).join('; ')}`;
    if (message !== lastReported) note(printable(message));
    lastReported = message;
  },
});

let ending = false;
const end = () => {
  if (ending) return;
  ending = true;
  detach(dir).catch((error) => note(printable((error as Error).message)));
  setTimeout(finish, GRACE).unref();
};
process.on('SIGINT', end);
process.on('SIGTERM', end);
process.on('SIGHUP', () => void mounted.refresh());
if (!detached) parentEnded.then(end);

let unmounted = false;
server.ended.then(
  () => {
    unmounted = true;
    return finish();
  },
  (error) => {
    note(printable(String(error)));
    return finish();
  },
);
await server.ready;
await keepRecord({
  dir,
  pid,
  servers: Object.keys(options.servers),
  since: new Date().toISOString(),
  ...(log !== undefined && { log }),
});
tellParent({ ready: true });

/** A thread that still waits for a request would keep `process.exit` waiting too: then only a signal ends the process. */
async function finish(): Promise<void> {
  await Promise.allSettled([dropRecord(dir, pid), mounted.close()]);
  if (unmounted) process.exit();
  process.kill(pid, 'SIGKILL');
}
