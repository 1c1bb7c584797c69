import type { SkillEntry } from '../catalog/types.ts';
import { type SkillRoot, skillRootOf } from '../catalog/uri.ts';
import type { Approvals } from './approvals.ts';
import { changesInWords, differenceOf, filesOf, type SetDifference } from './approved-set.ts';
import type { ApprovalRequest, ResolvedPolicy, Rule } from './options.ts';

/** Whether the files of a skill may be read. */
export type Verdict =
  /** No approval is needed, or there is one for just these files. */
  | { readonly may: true; readonly approved: boolean | undefined }
  /** Somebody can be asked. */
  | { readonly may: 'ask' }
  /** A sentence that says what is missing, and what changed since there was an approval. */
  | { readonly may: false; readonly why: string };

/** What users and hosts say of the skills of servers: rules, approvals, grants. Paths and roots are below a server's directory. */
export class Policy {
  readonly approvals: Approvals | undefined;
  readonly #options: ResolvedPolicy;
  readonly #report: (problem: Error) => void;
  readonly #now: () => number;
  readonly #rules = new Map<string, ReadonlyMap<string, Rule>>();
  readonly #grants = new Map<string, ReadonlySet<string>>();
  /** Answers of the host, which end with the process, by label and revision of the skill. */
  readonly #answers = new Map<string, boolean>();
  readonly #asking = new Map<string, Promise<void>>();
  readonly #listeners = new Set<() => void>();
  #verdicts = new WeakMap<SkillEntry, Map<string, Verdict>>();
  #denials = new Map<string, ReadonlyMap<string, string>>();
  #lookAt = 0;

  /**
   * @param approvals what users decided; absent where nothing is kept
   * @param report told when the approvals cannot be read again; what they said before stays in use
   */
  constructor(
    options: ResolvedPolicy,
    approvals: Approvals | undefined,
    { report, now }: { readonly report: (problem: Error) => void; readonly now: () => number },
  ) {
    this.#options = options;
    this.approvals = approvals;
    this.#report = report;
    this.#now = now;
    for (const [label, rules] of Object.entries(options.skills)) {
      this.#rules.set(label, new Map(Object.entries(rules).map(([uri, rule]) => [rootOf(uri), rule])));
    }
    for (const [label, uris] of Object.entries(options.grants)) this.#grants.set(label, new Set(uris.map(rootOf)));
  }

  /** To be called when what is denied, approved or granted may have changed. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Fields that are masked beside the usual ones. */
  get maskedFields(): readonly string[] {
    return this.#options.maskedFields;
  }

  /** Whether nothing of a server is shown, so that it need not be connected to. */
  deniesServer(label: string): boolean {
    return ruleOf(this.#options.servers, label) === 'deny';
  }

  hasDenials(label: string): boolean {
    this.#look();
    return this.#denialsOf(label).size > 0;
  }

  /** Why something is left out, as a skill or as a part of one. */
  denialAt(label: string, path: string): string | undefined {
    if (!this.hasDenials(label)) return undefined;
    const denials = this.#denialsOf(label);
    for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
      const why = denials.get(path.slice(0, end));
      if (why !== undefined) return why;
    }
    return undefined;
  }

  /** Whether what a skill grants or runs takes effect: what a user granted does for the files that were approved with it. */
  isGranted(label: string, entry: SkillEntry): boolean {
    if (this.#grants.get(label)?.has(entry.root) === true) return true;
    if (this.approvals === undefined) return false;
    this.#look();
    const { approval } = this.approvals.recordAt(label, entry.root) ?? {};
    return approval?.granted === true && this.#isSame(approval.files, entry);
  }

  verdict(label: string, entry: SkillEntry): Verdict {
    this.#look();
    const byLabel = this.#verdicts.get(entry);
    const known = byLabel?.get(label);
    if (known !== undefined) return known;
    const verdict = this.#judge(label, entry);
    if (byLabel === undefined) this.#verdicts.set(entry, new Map([[label, verdict]]));
    else byLabel.set(label, verdict);
    return verdict;
  }

  /**
   * Asks the host, once for each revision of a skill.
   *
   * @throws Error, a sentence that says why the skill may not be read
   */
  ask(label: string, entry: SkillEntry): Promise<void> {
    const key = revisionKey(label, entry);
    let asking = this.#asking.get(key);
    if (asking === undefined) {
      asking = this.#ask(label, entry).finally(() => this.#asking.delete(key));
      this.#asking.set(key, asking);
    }
    return asking;
  }

  /** What is different from what was approved. */
  changesOf(label: string, entry: SkillEntry): (SetDifference & { readonly approvedAt: string }) | undefined {
    const { approval } = this.approvals?.recordAt(label, entry.root) ?? {};
    const files = filesOf(entry);
    if (approval === undefined || files === undefined) return undefined;
    const difference = differenceOf(approval.files, files);
    return difference && { ...difference, approvedAt: approval.at };
  }

  async #ask(label: string, entry: SkillEntry): Promise<void> {
    const { approve } = this.#options;
    const changes = this.changesOf(label, entry);
    const request: ApprovalRequest = {
      label,
      uri: entry.uri,
      frontmatter: structuredClone(entry.frontmatter),
      files: filesOf(entry) ?? 'dynamic',
      ...(changes !== undefined && { changes }),
    };
    const answer = await approve?.(request);
    const yes = answer === true || answer === 'once';
    this.#answers.set(revisionKey(label, entry), yes);
    this.#changed();
    if (!yes) throw new Error(`${entry.uri} was not approved`);
    if (answer === true && entry.resources !== 'dynamic') this.approvals?.approve(label, entry);
  }

  #judge(label: string, entry: SkillEntry): Verdict {
    if (this.#ruleOf(label, entry.root) !== 'ask') return { may: true, approved: undefined };
    const { approval } = this.approvals?.recordAt(label, entry.root) ?? {};
    if (approval !== undefined && this.#isSame(approval.files, entry)) return { may: true, approved: true };
    const answer = this.#answers.get(revisionKey(label, entry));
    if (answer === true) return { may: true, approved: true };
    if (answer === undefined && this.#options.approve !== undefined) return { may: 'ask' };
    return { may: false, why: answer === false ? `${entry.uri} was not approved` : this.#whyNot(label, entry) };
  }

  #whyNot(label: string, entry: SkillEntry): string {
    const { uri, resources } = entry;
    const rootUri = uri.slice(0, -'/SKILL.md'.length);
    const changes = this.changesOf(label, entry);
    const how = `(skillfs inspect ${label}/${entry.root}, skillfs approve ${label}/${entry.root})`;
    if (changes !== undefined) {
      const { approvedAt } = changes;
      const what = changesInWords(changes, rootUri);
      return `${uri} changed since it was approved at ${approvedAt}, and that approval no longer holds: ${what}; look at it and approve it anew ${how}`;
    }
    if (resources === 'dynamic') {
      return `${uri} is not approved; it is dynamic, and can only be approved by the host, or by the rule "allow"`;
    }
    return `${uri} is not approved; look at it and approve it ${how}`;
  }

  #ruleOf(label: string, root: string): Rule {
    const usual = this.#options.approval === 'required' ? 'ask' : 'allow';
    return this.#rules.get(label)?.get(root) ?? ruleOf(this.#options.servers, label) ?? usual;
  }

  #isSame(approved: Parameters<typeof differenceOf>[0], entry: SkillEntry): boolean {
    const files = filesOf(entry);
    return files !== undefined && differenceOf(approved, files) === undefined;
  }

  #denialsOf(label: string): ReadonlyMap<string, string> {
    let denials = this.#denials.get(label);
    if (denials === undefined) {
      denials = new Map(this.#findDenials(label));
      this.#denials.set(label, denials);
    }
    return denials;
  }

  *#findDenials(label: string): Generator<[root: string, why: string]> {
    for (const [root, rule] of this.#rules.get(label) ?? []) if (rule === 'deny') yield [root, 'is denied by a rule'];
    for (const record of this.approvals?.records() ?? []) {
      if (record.label !== label) continue;
      const { denied, disabled, uri } = record;
      const root = rootOf(uri);
      if (disabled === true) yield [root, `is disabled (skillfs enable ${label}/${root})`];
      if (denied === true) yield [root, `is denied (skillfs approve ${label}/${root})`];
    }
  }

  /** Looks whether another process changed the approvals, now and then. */
  #look(): void {
    if (this.approvals === undefined) return;
    const now = this.#now();
    if (now < this.#lookAt) return;
    this.#lookAt = now + LOOK_AGAIN;
    try {
      if (this.approvals.refresh()) this.#changed();
    } catch (error) {
      this.#report(error as Error);
    }
  }

  #changed(): void {
    this.#verdicts = new WeakMap();
    this.#denials = new Map();
    for (const listener of this.#listeners) listener();
  }
}

/** Milliseconds after which the approvals are looked at again. */
const LOOK_AGAIN = 500;

function ruleOf(rules: Readonly<Record<string, Rule>>, label: string): Rule | undefined {
  return Object.hasOwn(rules, label) ? rules[label] : undefined;
}

function rootOf(uri: string): string {
  return (skillRootOf(uri) as SkillRoot).treePath;
}

/** A revision of a skill: of a dynamic one, what its listing says of it. */
function revisionKey(label: string, entry: SkillEntry): string {
  return JSON.stringify([label, entry.uri, filesOf(entry) ?? entry.frontmatter]);
}
