import type { Command } from 'commander';
import { skillRootOf } from '../../catalog/uri.ts';
import type { SkillRecord } from '../../policy/approvals-format.ts';
import { EXIT } from '../failures.ts';
import { note, noteError, out, outJson, plural, printable, table } from '../output.ts';
import { approvalsOf, entryOf, type Review, type ReviewOptions, review } from '../review/review.ts';
import { withReview } from '../session.ts';
import { skillArgument } from '../skill-argument.ts';

interface ListOptions extends ReviewOptions {
  readonly check?: boolean;
}

interface Listed {
  readonly server: string;
  readonly uri: string;
  readonly state: string;
  readonly approvedAt?: string;
  readonly files?: number;
  readonly granted?: boolean;
}

export function register(program: Command): void {
  withReview(program.command('approvals').description('List what was approved, denied and disabled.'))
    .option('--check', 'ask the servers whether what was approved is still what they have')
    .option('--json', 'for programs')
    .action(run);
}

async function run(options: ListOptions): Promise<void> {
  const approvals = approvalsOf(options);
  const records = approvals.records();
  const states =
    options.check === true
      ? await review(options, [], (reviewed) => Promise.all(records.map((record) => checked(reviewed, record))))
      : records.map(stateOf);
  const listed = records.map(({ label, uri, approval }, index): Listed => {
    const state = states[index] as string;
    if (approval === undefined) return { server: label, uri, state };
    const { at, files, granted = false } = approval;
    return { server: label, uri, state, approvedAt: at, files: files.length, granted };
  });
  if (options.json === true) outJson({ file: approvals.file, skills: listed });
  else tell(listed, approvals.file);
  if (listed.some(({ state }) => ATTENTION.has(state))) process.exitCode = EXIT.failed;
}

/** States that a user has to do something about. */
const ATTENTION = new Set(['changed', 'not found', 'dynamic']);

function stateOf({ approval, denied, disabled }: SkillRecord): string {
  if (denied === true) return 'denied';
  if (disabled === true) return 'disabled';
  return approval === undefined ? 'nothing' : 'approved';
}

async function checked({ mount, policy }: Review, record: SkillRecord): Promise<string> {
  const state = stateOf(record);
  if (state !== 'approved') return state;
  const { label, uri } = record;
  const root = skillRootOf(uri) as { readonly treePath: string };
  try {
    const entry = await entryOf(mount, skillArgument(`${label}/${root.treePath}`));
    if (entry.resources === 'dynamic') return 'dynamic';
    return policy.changesOf(label, entry) === undefined ? state : 'changed';
  } catch (error) {
    noteError(error);
    return 'not found';
  }
}

function tell(listed: readonly Listed[], file: string): void {
  const rows = listed.map(({ server, uri, state, approvedAt = '', files, granted }) => [
    state,
    printable(server),
    approvedAt.slice(0, 16).replace('T', ' '),
    files === undefined ? '' : plural(files, 'file') + (granted === true ? ', granted' : ''),
    printable(uri),
  ]);
  for (const line of table(rows)) out(line);
  note(printable(`${plural(listed.length, 'skill')} in ${file}`));
  for (const { state, uri, server } of listed) {
    if (state === 'changed')
      note(printable(`${uri} of "${server}" changed since it was approved; that approval no longer holds`));
    if (state === 'dynamic')
      note(printable(`${uri} of "${server}" publishes no digests any more; its approval no longer holds`));
  }
}
