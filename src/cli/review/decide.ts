import type { Command } from 'commander';
import type { Approvals, SkillIdentity } from '../../policy/approvals.ts';
import { EXIT, UsageError } from '../failures.ts';
import { note, noteError, out, outJson, printable } from '../output.ts';
import { withReview } from '../session.ts';
import { type SkillArgument, skillArgument } from '../skill-argument.ts';
import { approvalsOf, entryOf, type ReviewOptions, review } from './review.ts';

/** A decision that holds whatever is in a skill. */
export interface Decision {
  readonly name: string;
  readonly description: string;
  /** What was done, for people. */
  readonly done: string;
  decide(approvals: Approvals, skill: SkillIdentity): void;
}

/** Adds a command that decides about skills; a skill that is not known now can be decided about as well. */
export function decisionCommand(program: Command, decision: Decision): void {
  withReview(program.command(decision.name).description(decision.description).argument('<skill...>'))
    .option('--json', 'for programs')
    .action((skills: readonly string[], options: ReviewOptions) => run(decision, skills, options));
}

async function run({ decide, done }: Decision, given: readonly string[], options: ReviewOptions): Promise<void> {
  const skills = given.map((argument) => skillArgument(argument, options.mountPoint));
  const approvals = approvalsOf(options);
  for (const skill of skills) decide(approvals, skill);
  const unknown = await unknownAmong(skills, options);
  const results = skills.map((skill) => ({ server: skill.label, uri: skill.uri, done, known: !unknown.has(skill) }));
  if (options.json === true) outJson(results);
  else for (const { label, root } of skills) out(`${done} ${printable(`${label}/${root}`)}`);
  for (const { label, root } of unknown.keys())
    note(printable(`${label}/${root} is not known now; it was noted all the same`));
  if (unknown.size > 0) process.exitCode = EXIT.failed;
}

/** Skills that no server has, as far as it can be asked: a mistyped name would have no effect, silently. */
async function unknownAmong(
  skills: readonly SkillArgument[],
  options: ReviewOptions,
): Promise<ReadonlyMap<SkillArgument, unknown>> {
  const unknown = new Map<SkillArgument, unknown>();
  try {
    await review(options, [], async ({ mount }) => {
      for (const skill of skills) {
        try {
          await entryOf(mount, skill);
        } catch (error) {
          unknown.set(skill, error);
        }
      }
    });
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    noteError(error);
    for (const skill of skills) unknown.set(skill, error);
  }
  return unknown;
}
