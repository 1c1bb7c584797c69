import type { Command } from 'commander';
import { rootUriOf } from '../../catalog/tree.ts';
import type { SkillEntry } from '../../catalog/types.ts';
import { isUriProblem, skillRootOf } from '../../catalog/uri.ts';
import { diskStore } from '../../content/disk/disk-store.ts';
import { changesInWords } from '../../policy/approved-set.ts';
import { EXIT } from '../failures.ts';
import { note, out, outJson, plural, printable } from '../output.ts';
import { isScript, type Requests, requestsOf, shown, type Unseen, unseenIn } from '../review/findings.ts';
import { lineDiff } from '../review/line-diff.ts';
import { entryOf, type Review, type ReviewOptions, review } from '../review/review.ts';
import { withReview } from '../session.ts';
import { type SkillArgument, skillArgument } from '../skill-argument.ts';

interface InspectOptions extends ReviewOptions {
  readonly diff?: boolean;
}

export function register(program: Command): void {
  const description =
    'Show a skill before it is loaded: its SKILL.md with what is not seen made visible, what it asks for, where it is from.';
  withReview(program.command('inspect').description(description).argument('<skill>'))
    .option('--diff', 'show what is different from what was approved')
    .option('--json', 'for programs')
    .action(run);
}

/** What is to be known of a skill before it is used. */
interface Inspected {
  readonly server: string;
  readonly uri: string;
  readonly path: string;
  readonly content: 'verified' | 'dynamic';
  readonly files: readonly { readonly path: string; readonly size: number; readonly digest: string }[];
  readonly bytes: number;
  readonly scripts: readonly string[];
  readonly asked: Requests['asked'];
  readonly unseen: readonly Unseen[];
  readonly approval: 'approved' | 'changed' | 'denied' | 'disabled' | 'none';
  readonly granted: boolean;
  /** What is different from what was approved, in words. */
  readonly changes?: string;
  /** What a user should know before approving it. */
  readonly attention: readonly string[];
  readonly text: string;
}

async function run(given: string, options: InspectOptions): Promise<void> {
  const argument = skillArgument(given, options.mountPoint);
  await review(options, [argument], async (reviewed) => {
    const entry = await entryOf(reviewed.mount, argument);
    const inspected = await inspect(reviewed, argument, entry);
    const diff = options.diff === true ? diffOf(reviewed, argument, inspected.text) : undefined;
    if (options.json === true) outJson({ ...inspected, ...(diff !== undefined && { diff }) });
    else tell(inspected, diff);
    if (inspected.attention.length > 0) process.exitCode = EXIT.failed;
  });
}

async function inspect(
  { mount, policy, approvals }: Review,
  argument: SkillArgument,
  entry: SkillEntry,
): Promise<Inspected> {
  const { label, root } = argument;
  const path = mount.pathOf(label, entry.uri);
  const bytes = await mount.promises.readFile(path);
  const text = bytes.toString('utf8');
  const rootUri = rootUriOf(entry);
  const listed = entry.resources === 'dynamic' ? [] : entry.resources;
  const files = listed.map(({ uri, size, digest }) => ({ path: uri.slice(rootUri.length + 1), size, digest }));
  const { asked, unmaskable } = requestsOf(bytes, policy.maskedFields);
  const unseen = unseenIn(text);
  const record = approvals.recordAt(label, root);
  const changes = policy.changesOf(label, entry);
  const isApproved = record?.approval !== undefined && changes === undefined && entry.resources !== 'dynamic';
  const state = record?.denied ? 'denied' : record?.disabled ? 'disabled' : undefined;
  const approval = state ?? (isApproved ? 'approved' : changes === undefined ? 'none' : 'changed');
  const verdict = policy.verdict(label, entry);
  const granted = policy.isGranted(label, entry);
  // What was approved was looked at.
  const noticed = isApproved
    ? []
    : noticedIn({ asked, unmaskable, unseen, dynamic: entry.resources === 'dynamic', granted });
  const words = changes && changesInWords(changes, rootUri);
  const attention = [
    ...(words === undefined ? [] : [`it changed since it was approved, and that approval no longer holds: ${words}`]),
    ...(verdict.may === true || words !== undefined ? [] : ['it needs an approval, and has none']),
    ...noticed,
  ];
  return {
    server: label,
    uri: entry.uri,
    path: path.slice(0, -'/SKILL.md'.length),
    content: entry.resources === 'dynamic' ? 'dynamic' : 'verified',
    files,
    bytes: entry.bytes,
    scripts: files.map((file) => file.path).filter(isScript),
    asked,
    unseen,
    approval,
    granted,
    ...(words !== undefined && { changes: words }),
    attention,
    text,
  };
}

interface Noticed {
  readonly asked: Requests['asked'];
  readonly unmaskable: string | undefined;
  readonly unseen: readonly Unseen[];
  readonly dynamic: boolean;
  readonly granted: boolean;
}

function noticedIn({ asked, unmaskable, unseen, dynamic, granted }: Noticed): string[] {
  const names = [...new Set(asked.map(({ what }) => what))].join(', ');
  const count = unseen.reduce((sum, one) => sum + one.count, 0);
  return [
    ...(dynamic ? ['its server publishes no digests: what it says can change with each read'] : []),
    ...(names === ''
      ? []
      : [`it asks for ${names}, which ${granted ? 'you granted' : 'has no effect unless you grant it'}`]),
    ...(unmaskable === undefined ? [] : [`${unmaskable}; it is not served`]),
    ...(count === 0 ? [] : [`it holds ${plural(count, 'character')} that cannot be seen`]),
  ];
}

/** What is different from what was approved; of the text, where what was approved is still kept on this disk. */
function diffOf({ approvals, options }: Review, { label, root }: SkillArgument, text: string): readonly string[] {
  const { approval } = approvals.recordAt(label, root) ?? {};
  const before = approval?.files.find(({ uri }) => isSkillMdOf(root, uri));
  if (before === undefined) return ['nothing was approved before'];
  const { cache, servers } = options;
  const source = servers[label];
  const store = typeof cache === 'object' && source !== undefined ? diskStore(cache).server(label, source) : undefined;
  const kept = store?.get(before);
  if (kept === undefined) return ['the SKILL.md that was approved is not kept on this disk'];
  const lines = lineDiff(Buffer.from(kept).toString('utf8'), text);
  return lines.length === 0 ? ['SKILL.md is as it was approved'] : lines;
}

function isSkillMdOf(root: string, uri: string): boolean {
  const found = skillRootOf(uri);
  return !isUriProblem(found) && found.treePath === root;
}

function tell(inspected: Inspected, diff: readonly string[] | undefined): void {
  const { server, uri, path, content, files, bytes, scripts, asked, unseen, approval, granted, attention } = inspected;
  const size =
    content === 'dynamic' ? 'dynamic, unverified' : `${plural(files.length, 'file')}, ${bytes} bytes, verified`;
  const rows: readonly (readonly [string, string])[] = [
    ['server', server],
    ['uri', uri],
    ['path', path],
    ['content', size],
    ['approval', granted ? `${approval}, granted` : approval],
    ...files.map((file) => ['file', `${file.path}  ${file.size} bytes  ${file.digest}`] as const),
    ...scripts.map((script) => ['script', script] as const),
    ...asked.map(({ what, line, reason }) => ['asks for', `${what} (line ${line}): ${reason}`] as const),
    ...unseen.map(({ kind, line, first, count }) => ['unseen', `line ${line}: ${kind}, ${count} × ${first}`] as const),
  ];
  for (const [name, value] of rows) out(`${name.padEnd(9)} ${printable(value)}`);
  out('');
  for (const line of diff ?? [inspected.text]) out(shown(line));
  for (const sentence of attention) note(printable(`attention: ${sentence}`));
}
