import { homedir } from 'node:os';
import { isAbsolute, resolve } from 'node:path';
import type { SkillEntry, SkillFrontmatter } from './catalog/types.ts';
import { Approvals, ApprovalsError } from './policy/approvals.ts';
import { MaskError } from './policy/mask.ts';
import { isSkillMdName, Masks } from './policy/masks.ts';
import type { ResolvedPolicy } from './policy/options.ts';
import { Policy } from './policy/policy.ts';
import { Call } from './vfs/driver.ts';
import { DIRECTIVE, type Guard, type GuardedFile, type Masked, PolicyFault } from './vfs/guard.ts';

/** What users and hosts trust, for all servers of a mount. */
export interface Trust {
  readonly policy: Policy;
  readonly masks: Masks;
}

/** @throws ApprovalsError */
export function trustOf(options: ResolvedPolicy, report: (problem: Error) => void): Trust {
  const policy = new Policy(options, approvalsFor(options), { report, now: Date.now });
  return { policy, masks: new Masks(options.maskedFields) };
}

/** What is shown of a skill's entry: nothing that is masked in its SKILL.md (SEC-3), and whether it may be read (SEC-6). */
export function shownOf(
  { policy, masks }: Trust,
  label: string,
  entry: SkillEntry,
): { readonly frontmatter: SkillFrontmatter; readonly masked?: readonly string[]; readonly approved?: boolean } {
  const verdict = policy.verdict(label, entry);
  const approved = verdict.may === true ? verdict.approved : false;
  const masked = policy.isGranted(label, entry) ? [] : masks.fieldsIn(entry.frontmatter);
  const kept = Object.entries(entry.frontmatter).filter(([name]) => !masked.includes(name));
  return {
    frontmatter: masked.length === 0 ? entry.frontmatter : (Object.fromEntries(kept) as SkillFrontmatter),
    ...(masked.length > 0 && { masked }),
    ...(approved !== undefined && { approved }),
  };
}

/** What a policy says, as the core asks for it. */
export function guardOf({ policy, masks }: Trust, label: string): Guard {
  const isMasked = ({ path, skill }: GuardedFile) =>
    isSkillMdName(path) && (skill === undefined || !policy.isGranted(label, skill.entry));
  return {
    hasDenials: () => policy.hasDenials(label),
    denialAt(path) {
      const why = policy.denialAt(label, path);
      return why === undefined ? undefined : new PolicyFault('denied', { detail: `server "${label}": ${path} ${why}` });
    },
    admission({ entry }) {
      const verdict = policy.verdict(label, entry);
      if (verdict.may === true) return undefined;
      if (verdict.may === false) {
        throw new PolicyFault('unapproved', { detail: `server "${label}": ${verdict.why}` });
      }
      return asking(label, entry.uri, () => policy.ask(label, entry));
    },
    isApproved({ entry }) {
      const verdict = policy.verdict(label, entry);
      return verdict.may === true ? verdict.approved : false;
    },
    masks: isMasked,
    mask: (file, bytes) => (isMasked(file) ? maskedBy(masks, label, file.uri, bytes) : undefined),
  };
}

function* asking(label: string, uri: string, ask: () => Promise<void>): Generator<Call, void> {
  const blocked = () => {
    const detail = `server "${label}": ${uri} is not approved, and a synchronous call cannot wait for the answer; read it asynchronously first`;
    throw new PolicyFault('unasked', { detail });
  };
  const asked = async () => {
    try {
      await ask();
    } catch (cause) {
      throw new PolicyFault('unapproved', { detail: `server "${label}": ${(cause as Error).message}`, cause });
    }
  };
  yield new Call(false, blocked, asked);
}

function maskedBy(masks: Masks, label: string, uri: string, bytes: Uint8Array): Masked | undefined {
  try {
    const made = masks.of(bytes);
    if (made === undefined) return undefined;
    const fields = [...new Set(made.masked.map(({ field }) => field ?? DIRECTIVE))];
    return { bytes: made.bytes, digest: made.digest, fields };
  } catch (error) {
    if (!(error instanceof MaskError)) throw error;
    throw new PolicyFault('unmaskable', { detail: `server "${label}": ${uri}: ${error.message}`, cause: error });
  }
}

/** The approvals that a policy goes by; none where nothing needs one, and none are asked for. */
function approvalsFor({ approvals, approval, servers, skills }: ResolvedPolicy): Approvals | undefined {
  const rules = [servers, ...Object.values(skills)].flatMap((some) => Object.values(some));
  const wanted = approvals ?? (approval === 'required' || rules.includes('ask'));
  if (wanted === false) return undefined;
  if (wanted === true) return new Approvals();
  const file = wanted.startsWith('~/') ? resolve(homedir(), wanted.slice(2)) : wanted;
  if (!isAbsolute(file)) throw new ApprovalsError(wanted, 'cannot be used: it is no absolute path');
  return new Approvals(file);
}
