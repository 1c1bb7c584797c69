import * as z from 'zod';
import { isUriProblem, skillRootOf } from '../catalog/uri.ts';
import type { ApprovedFile } from './approved-set.ts';

/** What a user decided about one skill. */
export interface SkillRecord {
  readonly label: string;
  /** Of the SKILL.md, as the server spelled it. */
  readonly uri: string;
  readonly approval?: Approval;
  /** The user said no: the skill is left out, whatever is in it. */
  readonly denied?: boolean;
  /** Left out for now; an approval stays what it is. */
  readonly disabled?: boolean;
}

export interface Approval {
  /** ISO 8601. */
  readonly at: string;
  /** In the order of their URIs. */
  readonly files: readonly ApprovedFile[];
  /** Whether what the skill grants or runs takes effect. */
  readonly granted?: boolean;
}

/** The version of the file that is written. */
const VERSION = 1;

const record = z.object({
  label: z.string(),
  uri: z.string(),
  approval: z
    .object({
      at: z.string(),
      files: z.array(
        z.object({ uri: z.string(), size: z.number(), digest: z.string().regex(/^sha256:[0-9a-f]{64}$/) }),
      ),
      granted: z.boolean().optional(),
    })
    .optional(),
  denied: z.boolean().optional(),
  disabled: z.boolean().optional(),
});

const file = z.object({ version: z.literal(VERSION), skills: z.array(record) });

/** By {@link keyOf}. */
export type Records = ReadonlyMap<string, SkillRecord>;

/**
 * What identifies a skill, whatever the spelling of its URI (MAP-5).
 *
 * @param root the skill's directory, as a path below the server's
 */
export function keyOf(label: string, root: string): string {
  return `${label}\n${root}`;
}

/** @throws Error, a part of a sentence that says what is wrong */
export function parseRecords(text: string): Records {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error('is not JSON', { cause: error });
  }
  const { version } = (value ?? {}) as { readonly version?: unknown };
  if (typeof version === 'number' && version > VERSION) {
    throw new Error(`has the format ${version}, and this version of skillfs knows ${VERSION} at most`);
  }
  const parsed = file.safeParse(value);
  if (!parsed.success) throw new Error(`is not a file of approvals (${parsed.error.issues[0]?.path.join('.')})`);
  const records = new Map<string, SkillRecord>();
  for (const one of parsed.data.skills) {
    const root = skillRootOf(one.uri);
    if (isUriProblem(root)) throw new Error(`has a record of no skill: ${root.problem}`);
    records.set(keyOf(one.label, root.treePath), one as SkillRecord);
  }
  return records;
}

export function formatRecords(records: Records): string {
  const skills = [...records].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
  return `${JSON.stringify({ version: VERSION, skills }, undefined, 1)}\n`;
}
