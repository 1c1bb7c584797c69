import { resolve } from 'node:path';
import type { SkillEntry } from '../../catalog/types.ts';
import type { Mount } from '../../mount.ts';
import { mountInternalsOf } from '../../mounted.ts';
import { type MountOptions, resolveOptions } from '../../options.ts';
import { Approvals, ApprovalsError } from '../../policy/approvals.ts';
import type { Policy } from '../../policy/policy.ts';
import { trustOf } from '../../trust.ts';
import { UsageError } from '../failures.ts';
import { note, printable } from '../output.ts';
import { policyFrom, type SessionOptions, session } from '../session.ts';
import type { SkillArgument } from '../skill-argument.ts';

/** A mount in which everything can be looked at, whatever was decided, and what was decided. */
export interface Review {
  readonly mount: Mount;
  readonly options: MountOptions;
  readonly policy: Policy;
  readonly approvals: Approvals;
}

/** Options of commands that a user decides with. */
export interface ReviewOptions extends SessionOptions {
  readonly json?: boolean;
}

/** @throws UsageError when the file of approvals cannot be used */
export function approvalsOf({ approvals }: SessionOptions): Approvals {
  return usable(() => (approvals === undefined ? new Approvals() : new Approvals(resolve(approvals))));
}

/**
 * Runs with everything in view: nothing is left out or refused for what was decided before.
 *
 * @param whole skills in which nothing is masked
 */
export function review<T>(
  options: ReviewOptions,
  whole: readonly SkillArgument[],
  run: (review: Review) => Promise<T>,
): Promise<T> {
  const decided = resolveOptions({ servers: {}, policy: policyFrom(options) }).policy;
  const { policy } = usable(() => trustOf(decided, ({ message }) => note(printable(message))));
  const grants: Record<string, string[]> = {};
  for (const { label, uri } of whole) grants[label] = [...(grants[label] ?? []), uri];
  const approvals = policy.approvals ?? approvalsOf(options);
  return session(options, ({ mount, options: made }) => run({ mount, options: made, policy, approvals }), {
    approvals: false,
    grants,
  });
}

/** The entry of a skill as its server has it. @throws the error of looking for it */
export async function entryOf(mount: Mount, { label, root, uri }: SkillArgument): Promise<SkillEntry> {
  const server = mountInternalsOf(mount).servers.get(label);
  if (server === undefined) throw new UsageError(`there is no server ${JSON.stringify(label)}`);
  await mount.promises.stat(mount.pathOf(label, uri));
  const skill = server.state.tree?.skillAt(root);
  if (skill === undefined) throw new Error(`${label}/${root} is no skill`);
  return skill.entry;
}

function usable<T>(use: () => T): T {
  try {
    return use();
  } catch (error) {
    throw error instanceof ApprovalsError ? new UsageError(error.message) : error;
  }
}
