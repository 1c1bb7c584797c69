import { LISTING_LIMITS } from '../base/limits.ts';
import { shortened } from '../base/quote.ts';
import { checkEntry, type EntryOptions } from './entry.ts';
import type { Refusal, SkillEntry, SkillLimits } from './types.ts';

export interface CheckedListing {
  readonly entries: readonly SkillEntry[];
  readonly refusals: readonly Refusal[];
  readonly warnings: readonly string[];
}

/**
 * Checks the entries of a listing one by one: one bad entry never costs another (ENT-5). A URI that is listed twice with
 * different entries is refused; the same entry twice, as pages of a changing catalog bring it, counts once.
 */
export function checkListing(values: readonly unknown[], limits: SkillLimits, options: EntryOptions): CheckedListing {
  const entries = new Map<string, SkillEntry>();
  const raw = new Map<string, unknown>();
  const twice = new Set<string>();
  const refusals: Refusal[] = [];
  const warnings: string[] = [];
  let segments = 0;
  for (const value of values) {
    const checked = checkEntry(value, limits, options);
    if ('refusal' in checked) {
      refusals.push(checked.refusal);
      continue;
    }
    const { entry } = checked;
    if (entries.has(entry.uri)) {
      if (JSON.stringify(raw.get(entry.uri)) === JSON.stringify(value)) {
        warnings.push(`${entry.uri} is listed more than once, each time the same`);
      } else twice.add(entry.uri);
      continue;
    }
    segments += entry.root.split('/').length;
    if (segments > LISTING_LIMITS.segments) {
      const message = `${shortened(entry.uri)} is beyond the ${LISTING_LIMITS.segments} path segments that are taken from one listing`;
      refusals.push({ uri: entry.uri, reason: 'over-limit', message });
      continue;
    }
    entries.set(entry.uri, entry);
    raw.set(entry.uri, value);
    warnings.push(...checked.warnings);
  }
  for (const uri of twice) {
    entries.delete(uri);
    refusals.push({
      uri,
      reason: 'duplicate-entry',
      message: `${uri} is listed more than once, with different entries`,
    });
  }
  return { entries: [...entries.values()], refusals, warnings };
}
