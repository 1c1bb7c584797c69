import type { Command } from 'commander';
import type { SkillEntry } from '../../catalog/types.ts';
import { Masks } from '../../policy/masks.ts';
import { EXIT, UsageError } from '../failures.ts';
import { note, noteError, out, outJson, plural, printable } from '../output.ts';
import { entryOf, type Review, type ReviewOptions, review } from '../review/review.ts';
import { withReview } from '../session.ts';
import { type SkillArgument, skillArgument } from '../skill-argument.ts';

export function register(program: Command): void {
  const command = program
    .command('approve')
    .description('Approve skills as they are now; with --grant, so that what they grant or run takes effect.')
    .argument('<skill...>');
  withReview(command)
    .option('--grant', 'let what the skills grant or run take effect, as long as they stay as they are')
    .option('--json', 'for programs')
    .action(run);
}

interface ApproveOptions extends Omit<ReviewOptions, 'grant'> {
  readonly grant?: boolean;
}

async function run(given: readonly string[], { grant = false, ...options }: ApproveOptions): Promise<void> {
  const skills = given.map((argument) => skillArgument(argument, options.mountPoint));
  await review(options, [], async (reviewed) => {
    const approved: object[] = [];
    for (const skill of skills) {
      try {
        const entry = await entryOf(reviewed.mount, skill);
        if (entry.resources === 'dynamic') throw new Error(whyNot(skill));
        const changes = reviewed.policy.changesOf(skill.label, entry);
        reviewed.approvals.approve(skill.label, entry, grant);
        const { resources, bytes, uri } = entry;
        approved.push({ server: skill.label, uri, files: resources.length, bytes, granted: grant, changes });
        if (options.json !== true) tell(reviewed, skill, entry, grant);
      } catch (error) {
        if (error instanceof UsageError) throw error;
        process.exitCode = EXIT.failed;
        noteError(error);
      }
    }
    if (options.json === true) outJson(approved);
  });
}

function whyNot({ label, root }: SkillArgument): string {
  return `${label}/${root} is dynamic: its server publishes no digests, so that nothing would tell what was approved; the rule "allow" shows it, whatever is in it`;
}

function tell(
  { mount }: Review,
  { label, root }: SkillArgument,
  { frontmatter, resources, bytes }: SkillEntry,
  grant: boolean,
): void {
  const files = resources.length;
  out(`approved ${printable(`${label}/${root}`)}: ${plural(files, 'file')}, ${bytes} bytes`);
  const asked = new Masks().fieldsIn(frontmatter);
  if (asked.length > 0) {
    const effect = grant ? 'takes effect, as long as it stays as it is' : 'has no effect (--grant)';
    out(`  what it asks for ${effect}: ${printable(asked.join(', '))}`);
  }
  const nested = mount
    .skills()
    .filter(
      (other) =>
        other.label === label &&
        other.path.startsWith(`${mount.mountPoint === '/' ? '' : mount.mountPoint}/${label}/${root}/`),
    );
  for (const { path } of nested) note(printable(`${path} is a skill of its own, and was not approved with it`));
}
