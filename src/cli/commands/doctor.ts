import type { Command } from 'commander';
import type { ServerStatus } from '../../mount.ts';
import { EXIT } from '../failures.ts';
import { out, outJson, plural, printable } from '../output.ts';
import { type SessionOptions, session, withLiveServers } from '../session.ts';

interface DoctorOptions extends SessionOptions {
  readonly json?: boolean;
}

export function register(program: Command): void {
  withLiveServers(
    program.command('doctor').description('Say what was negotiated with each server, what was refused, and why.'),
  )
    .option('--json', 'for programs')
    .action(run);
}

async function run(options: DoctorOptions): Promise<void> {
  await session(options, async ({ mount, problems }) => {
    const started = performance.now();
    const status = await mount.ready();
    const readyMs = Math.round(performance.now() - started);
    if (problems.length > 0 || status.some(({ state }) => state === 'failed')) process.exitCode = EXIT.failed;
    if (options.json === true) {
      const plain = status.map(({ lastError, ...rest }) => ({
        ...rest,
        ...(lastError && { lastError: errorOf(lastError) }),
      }));
      return outJson({ readyMs, servers: plain, configuration: problems });
    }
    for (const server of status) report(server);
    out(`all servers answered or gave up within ${readyMs} ms`);
  });
}

function report(server: ServerStatus): void {
  const { label, state, lastError, serverInfo, protocolVersion, dialect, partial, stale, refused } = server;
  out(`${printable(label)}: ${state}`);
  const row = (name: string, value: string) => out(`  ${name.padEnd(14)}${printable(value)}`);
  if (serverInfo !== undefined) row('calls itself', `${serverInfo.name} ${serverInfo.version}`);
  if (protocolVersion !== undefined) row('protocol', protocolVersion);
  if (server.connectMs !== undefined) {
    row(
      'skills',
      dialect === undefined
        ? 'none: it does not declare the Skills extension, nor serves skills in another way known here'
        : `dialect "${dialect}", directory reads ${server.directoryRead ? 'declared' : 'not declared'}`,
    );
    row(
      'took',
      `${Math.round(server.connectMs)} ms to connect${server.listMs === undefined ? '' : `, ${Math.round(server.listMs)} ms to list`}`,
    );
  }
  if (dialect !== undefined)
    row('found', `${plural(server.skills, 'skill')}, ${plural(server.files, 'file')}, ${server.bytes} bytes`);
  if (partial !== undefined) row('partial', `${partial}; skills may be missing`);
  if (stale) row('stale', 'the last refresh failed');
  for (const { uri, reason, message } of refused) row('refused', `${uri ?? '(no uri)'}: ${reason}: ${message}`);
  if (lastError !== undefined) {
    row('error', lastError.message);
    const advice = ADVICE[(lastError as NodeJS.ErrnoException).code ?? ''];
    if (advice !== undefined) row('try', advice);
  }
  out('');
}

const ADVICE: Readonly<Record<string, string>> = {
  EACCES: 'give the server its credentials: "headers" in its configuration, or --header',
  EHOSTUNREACH: 'run the command, or open the URL, by hand; --verbose shows what the server says',
  ETIMEDOUT: 'a longer --timeout; --verbose shows what the server says',
  EIO: 'this is the server’s fault; its maintainers will want the message above',
};

function errorOf(error: Error): object {
  return { code: (error as NodeJS.ErrnoException).code, message: error.message };
}
