import { type Command, Option } from 'commander';
import { checkExport } from '../../export/check.ts';
import { type ExportReport, exportTree } from '../../export/export-tree.ts';
import { describe, EXIT } from '../failures.ts';
import { note, out, outJson, plural, printable, progressBar } from '../output.ts';
import { type SessionOptions, session, withServers } from '../session.ts';

interface ExportCommandOptions extends SessionOptions {
  readonly flat?: boolean;
  readonly collisions: 'rename' | 'hide';
  readonly yes?: boolean;
  readonly check?: boolean;
  readonly json?: boolean;
}

export function register(program: Command): void {
  withServers(
    program
      .command('export')
      .description('Copy skills into a directory, verified and read-only, or check such a copy.')
      .argument('<dir>'),
  )
    .option('--flat', 'every skill by its name, instead of <label>/<skill-path>')
    .addOption(
      new Option('--collisions <how>', 'with --flat, skills whose name another one has')
        .choices(['rename', 'hide'])
        .default('rename'),
    )
    .option('--yes', 'into a directory in which agents look for skills, too')
    .option('--check', 'compare a copy with its lock; no server is asked')
    .option('--json', 'for programs')
    .action(run);
}

async function run(directory: string, options: ExportCommandOptions): Promise<void> {
  if (options.check === true) {
    check(directory, options.json === true);
    return;
  }
  await session(options, async ({ mount, problems }) => {
    const bar = progressBar();
    const report = await exportTree(mount, directory, {
      layout: options.flat === true ? 'flat' : 'tree',
      collisions: options.collisions,
      discoverable: options.yes === true,
      progress: (done, total) => bar.show(done, total),
    }).finally(() => bar.end());
    if (problems.length + report.failures.length > 0) process.exitCode = EXIT.failed;
    if (options.json === true) outJson({ ...report, failures: plainFailures(report), configuration: problems });
    else tell(report, options.verbose === true);
  });
}

function tell({ dir, written, removed, kept, failures, unchanged }: ExportReport, verbose: boolean): void {
  if (verbose) {
    for (const path of written) note(`written ${printable(path)}`);
    for (const path of removed) note(`removed ${printable(path)}`);
  }
  for (const { path, reason } of kept) out(`KEPT    ${printable(path)}\n        ${printable(reason)}`);
  for (const { label, uri, error } of failures) {
    out(`REFUSED ${printable(label)}  ${printable(uri ?? '(the server)')}`);
    for (const message of describe(error)) out(`        ${printable(message)}`);
  }
  const counts = [plural(written.length, 'file'), 'written', `${unchanged} unchanged`, `${removed.length} removed`];
  out(`${printable(dir)}: ${counts[0]} ${counts.slice(1).join(', ')}, ${kept.length} kept, ${failures.length} refused`);
}

function plainFailures({ failures }: ExportReport): readonly object[] {
  return failures.map(({ label, uri, error }) => {
    const { code, message } = error as NodeJS.ErrnoException;
    return { label, ...(uri !== undefined && { uri }), ...(code !== undefined && { code }), message };
  });
}

function check(directory: string, json: boolean): void {
  const report = checkExport(directory);
  const { dir, intact, changed, missing, extra } = report;
  if (changed.length + missing.length + extra.length > 0) process.exitCode = EXIT.failed;
  if (json) {
    outJson(report);
    return;
  }
  for (const [word, paths] of Object.entries({ CHANGED: changed, MISSING: missing, EXTRA: extra })) {
    for (const path of paths) out(`${word.padEnd(8)}${printable(path)}`);
  }
  out(
    `${printable(dir)}: ${plural(intact, 'file')} intact, ${changed.length} changed, ${missing.length} missing, ${extra.length} extra`,
  );
}
