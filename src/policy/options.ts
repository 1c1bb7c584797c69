import * as z from 'zod';
import type { SkillFrontmatter } from '../catalog/types.ts';
import { isUriProblem, skillRootOf } from '../catalog/uri.ts';
import type { ApprovedFile, SetDifference } from './approved-set.ts';

/** `allow` needs no approval, `ask` needs one, `deny` leaves out. */
export type Rule = 'allow' | 'deny' | 'ask';

/** What a host is asked before the files of a skill are read for the first time. Nothing of it was fetched for that. */
export interface ApprovalRequest {
  readonly label: string;
  /** Of the SKILL.md: with `label`, the skill's identity (MAP-5). */
  readonly uri: string;
  /** As the server's listing has it, with what is masked in the file. */
  readonly frontmatter: SkillFrontmatter;
  /** All files, or `dynamic` when the server publishes no digests: then an approval ends with the process (SEC-6). */
  readonly files: readonly ApprovedFile[] | 'dynamic';
  /** What is different from what was approved before; absent when nothing was. */
  readonly changes?: SetDifference & { readonly approvedAt: string };
}

/** `true` is kept where approvals are kept; `once` ends with the process; `false` holds until the skill changes. */
export type ApprovalAnswer = boolean | 'once';

export interface PolicyOptions {
  /** Whether skills that no rule is about need an approval. Default `none`: to be mounted is the host's decision. */
  readonly approval?: 'none' | 'required';
  /** Rules by the label of a server. A server that is denied is not connected to. */
  readonly servers?: Readonly<Record<string, Rule>>;
  /** Rules by the label of a server and the URI of a SKILL.md; they come before those of servers. */
  readonly skills?: Readonly<Record<string, Readonly<Record<string, Rule>>>>;
  /** By the label of a server, URIs of the SKILL.md of skills in which nothing is masked (SEC-3). */
  readonly grants?: Readonly<Record<string, readonly string[]>>;
  /** Names of frontmatter fields to mask beside the usual ones. */
  readonly maskedFields?: readonly string[];
  /**
   * Whether approvals, and what users denied, disabled or granted, are taken from a file: the user's own (`true`), or the one at
   * this absolute path. It is read again when it changes. Default: `true` where something needs approval, else `false`.
   */
  readonly approvals?: boolean | string;
  /** Asked once for each revision of a skill that needs an approval and has none. Without it, such a skill is refused. */
  readonly approve?: (request: ApprovalRequest) => ApprovalAnswer | Promise<ApprovalAnswer>;
}

const rule = z.enum(['allow', 'deny', 'ask']);
const isSkillMdUri = (uri: string) => !isUriProblem(skillRootOf(uri));
const EXPECTED = { error: 'expected URIs of SKILL.md files, such as skill://acme/refunds/SKILL.md' };

/** A record that would lose the name `__proto__` on its way is not taken: a rule must not get lost. */
function recordOf<V extends z.core.SomeType>(value: V) {
  const isLossless = (given: unknown) =>
    typeof given !== 'object' || given === null || !Object.hasOwn(given, '__proto__');
  const whole = z.unknown().refine(isLossless, { error: 'has the name "__proto__", for which there can be no rule' });
  return whole.pipe(z.record(z.string(), value));
}

const ruleByUri = recordOf(rule).refine((rules) => Object.keys(rules).every(isSkillMdUri), EXPECTED);
const uris = z.array(z.string().refine(isSkillMdUri, EXPECTED));

export const policySchema = z.strictObject({
  approval: z.enum(['none', 'required']).default('none'),
  servers: recordOf(rule).prefault({}),
  skills: recordOf(ruleByUri).prefault({}),
  grants: recordOf(uris).prefault({}),
  maskedFields: z.array(z.string().min(1)).default([]),
  approvals: z.union([z.boolean(), z.string().min(1)]).optional(),
  approve: z
    .custom<NonNullable<PolicyOptions['approve']>>((value) => typeof value === 'function', {
      error: 'expected a function',
    })
    .optional(),
});

export type ResolvedPolicy = z.output<typeof policySchema>;
