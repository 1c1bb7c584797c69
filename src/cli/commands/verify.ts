import type { Command } from 'commander';
import type { Mount } from '../../mount.ts';
import { contentOf } from '../content-of.ts';
import { EXIT } from '../failures.ts';
import { out, outJson, plural, printable, progressBar } from '../output.ts';
import { type SessionOptions, session, withLiveServers } from '../session.ts';

interface VerifyOptions extends SessionOptions {
  readonly json?: boolean;
  readonly directories?: boolean;
}

interface Failure {
  readonly path: string;
  readonly code: string;
  readonly reason?: string;
  readonly message: string;
}

export function register(program: Command): void {
  withLiveServers(
    program
      .command('verify')
      .description('Read everything below servers or paths, and check it against the manifests.')
      .argument('[label-or-path...]'),
  )
    .option('--directories', 'compare the directories of servers that show them with the manifests, too')
    .option('--json', 'for programs')
    .action(run);
}

async function run(wanted: readonly string[], options: VerifyOptions): Promise<void> {
  await session(options, async ({ mount, pathOf, problems }) => {
    const failures: Failure[] = [];
    const files: string[] = [];
    for (const argument of wanted.length === 0 ? [''] : wanted) await collect(mount, pathOf(argument), files, failures);
    const bar = progressBar();
    let done = 0;
    const checked = { verified: 0, unverified: 0 };
    const contentAt = contentOf(mount);
    await Promise.all(
      files.map(async (path) => {
        try {
          await mount.promises.readFile(path);
          checked[contentAt(path) === 'verified' ? 'verified' : 'unverified']++;
        } catch (error) {
          failures.push(failureOf(path, error));
        }
        bar.show(++done, files.length);
      }),
    );
    bar.end();
    const refused = mount.status().flatMap(({ label, refused }) => refused.map((refusal) => ({ label, ...refusal })));
    const changed = options.directories === true ? await mount.compareDirectories() : [];
    if (failures.length + refused.length + problems.length + changed.length > 0) process.exitCode = EXIT.failed;
    if (options.json === true) return outJson({ ...checked, failures, refused, changed, configuration: problems });
    for (const failure of failures)
      out(
        `FAILED  ${printable(failure.path)}  ${failure.code}${failure.reason ? ` (${failure.reason})` : ''}\n        ${printable(failure.message)}`,
      );
    for (const { label, uri, reason, message } of refused) {
      out(`REFUSED ${printable(label)}  ${printable(uri ?? '(no uri)')}  ${reason}\n        ${printable(message)}`);
    }
    for (const { label, uri, unlisted, missing } of changed) {
      const what = [...unlisted.map((path) => `+${path}`), ...missing.map((path) => `-${path}`)].join(' ');
      out(`CHANGED ${printable(label)}  ${printable(uri)}  on the server; refresh\n        ${printable(what)}`);
    }
    const unverified =
      checked.unverified > 0 ? `, ${checked.unverified} of dynamic skills read but not verifiable` : '';
    out(
      `${plural(checked.verified, 'file')} verified${unverified}, ${failures.length} failed, ${plural(refused.length, 'entry', 'entries')} refused`,
    );
  });
}

async function collect(mount: Mount, path: string, files: string[], failures: Failure[]): Promise<void> {
  try {
    if (!(await mount.promises.stat(path)).isDirectory()) {
      files.push(path);
      return;
    }
    for (const entry of await mount.promises.readdir(path, { withFileTypes: true })) {
      const child = path === '/' ? `/${entry.name}` : `${path}/${entry.name}`;
      if (entry.isDirectory()) await collect(mount, child, files, failures);
      else files.push(child);
    }
  } catch (error) {
    failures.push(failureOf(path, error));
  }
}

function failureOf(path: string, error: unknown): Failure {
  const { code = 'failed', message, cause } = error as NodeJS.ErrnoException & { cause?: { reason?: string } };
  return { path, code, message, ...(cause?.reason !== undefined && { reason: cause.reason }) };
}
