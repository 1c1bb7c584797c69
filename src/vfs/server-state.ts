import { Fault, isFault } from '../base/fault.ts';
import { INSTRUCTION_URIS, RETRY_AFTER_MOST } from '../base/limits.ts';
import type { Op } from '../base/op.ts';
import { type TreeDiff, treeDiff } from '../catalog/diff.ts';
import { checkEntry, type EntryOptions } from '../catalog/entry.ts';
import { skillUrisIn } from '../catalog/instructions.ts';
import { checkListing } from '../catalog/listing.ts';
import { type PathTemplate, parseTemplate } from '../catalog/template.ts';
import { type SkillNode, SkillTree, withoutConflicts } from '../catalog/tree.ts';
import type { Refusal, SkillEntry, SkillLimits } from '../catalog/types.ts';
import { fromTreePath, isUriProblem, skillRootOf } from '../catalog/uri.ts';
import type { KeptListing, ServerCache } from '../content/server-cache.ts';
import type { Negotiated, PageReply, PageRequest } from '../pager/port.ts';
import type { Diagnostic } from './diagnostics.ts';

export interface ServerOptions {
  readonly label: string;
  readonly limits: SkillLimits;
  /** Whether skills without manifest are shown at all (VER-5). */
  readonly dynamic: 'allow' | 'deny';
  /** Whether skills that the server's instructions name are confirmed with it (GET-3). */
  readonly instructions: boolean;
  /** Whether what a server has among its resources beside skills is mounted too. */
  readonly resources: boolean;
  /** Milliseconds a failed connection or listing is not tried again by an access; doubled with each failure in a row. */
  readonly retryAfter: number;
  /** Milliseconds `skills/get` is not asked again for what the server did not have. */
  readonly missTtl: number;
  /** What is kept of this server from one start to the next, where anything is. */
  readonly cache: ServerCache | undefined;
  /** Whether the first access waits for the server when the kept listing is no longer fresh, as long as there is an answer. */
  readonly waitWhenStale: boolean;
  readonly now: () => number;
  readonly report: (diagnostic: Omit<Diagnostic, 'label'>) => void;
  /** Called when an access finds the listing older than the server said it stays fresh (LST-3). */
  readonly expired: () => void;
  /** Called when another tree took the place of the last one. */
  readonly replaced: (before: SkillTree | undefined, after: SkillTree) => void;
}

/** The directory of resources that are no skills, below a server's own. */
export const RESOURCES = '@resources';

/** What is known of one server. Every field is replaced, never changed in place. */
export class ServerState {
  readonly options: ServerOptions;
  negotiated: Negotiated | undefined;
  /** The last good tree; absent until the first connection. */
  tree: SkillTree | undefined;
  #refusals: readonly Refusal[] = [];
  /** Why the listing is cut, where it is. */
  partial: string | undefined;
  /** Whether the tree is older than a refresh that failed, or was kept from an earlier start and is no longer fresh. */
  stale = false;
  /** The templates of the listing that stand for paths (DRAFT-3). */
  templates: readonly PathTemplate[] = [];
  /** All templates of the listing, as the server has them. */
  listedTemplates: PageReply['templates'] = [];
  lastError: Fault | undefined;
  /** When the listing was last asked for with success, milliseconds since the epoch. */
  listedAt: number | undefined;
  /** Milliseconds that the last listing took. */
  listMs: number | undefined;
  /** The listing failed and there is none from before: what it would have named is unknown, not absent (LST-2). */
  listFault: Fault | undefined;
  /** Milliseconds for which the server lets the listing count as fresh, and whom it lets share it (LST-3). */
  hints: Pick<PageReply['list'], 'ttlMs' | 'cacheScope'> = {};
  /** The server said that something changed: what was fetched without a digest is not believed any more. */
  #changed = false;
  #retryAt = 0;
  /** Connections or listings that failed in a row. */
  #failures = 0;
  /** When the listing stops being fresh; absent where the server does not say, or has nothing stay fresh. */
  #expiresAt: number | undefined;
  #applied: PageReply['list'] | undefined;
  #restored = false;
  /** Refusals by the directory of the skill, where it has one. */
  #refusedRoots: ReadonlyMap<string, Refusal> = new Map();
  /** Entries confirmed by `skills/get`, which outlive a listing that does not name them. */
  #unlisted = new Map<string, SkillEntry>();

  constructor(options: ServerOptions) {
    this.options = options;
  }

  /** The entries that were not loaded, with their reasons. */
  get refusals(): readonly Refusal[] {
    return this.#refusals;
  }

  set refusals(refusals: readonly Refusal[]) {
    const roots = new Map<string, Refusal>();
    for (const refusal of refusals) {
      const root = refusal.uri === undefined ? undefined : skillRootOf(refusal.uri);
      if (root !== undefined && !isUriProblem(root)) roots.set(root.treePath, refusal);
    }
    this.#refusals = refusals;
    this.#refusedRoots = roots;
  }

  get label(): string {
    return this.options.label;
  }

  /** The current tree, where nothing has to be asked or looked at first. */
  get settled(): SkillTree | undefined {
    return this.listFault === undefined && !this.stale && this.#expiresAt === undefined ? this.tree : undefined;
  }

  /** The current tree; the first access takes the kept listing, or connects and lists. */
  *current(): Op<SkillTree> {
    this.restore();
    if (this.tree !== undefined && (this.listFault === undefined || this.options.now() < this.#retryAt)) {
      if (this.#expiresAt !== undefined && this.options.now() >= this.#expiresAt) yield* this.#revalidate();
      return this.tree;
    }
    if (this.lastError !== undefined && this.options.now() < this.#retryAt) throw this.#again(this.lastError);
    yield* this.load();
    return this.tree as SkillTree;
  }

  /** The server says that something changed: the next listing renews what no digest speaks for. */
  changed(): void {
    this.#changed = true;
  }

  /** Nobody will tell of changes any more: the next access asks, but never again and again. */
  disconnected(): void {
    if (this.tree === undefined || this.stale) return;
    const soonest = Math.max(this.options.now(), (this.listedAt ?? 0) + this.options.retryAfter);
    this.#expiresAt = Math.min(this.#expiresAt ?? soonest, soonest);
  }

  /**
   * The tree as a view shows it: the first access connects and lists; after that, what there is. A server that failed is
   * asked again in the background.
   *
   * @throws `Fault` EAGAIN when a synchronous caller is the first, and cannot wait
   */
  *shown(): Op<SkillTree | undefined> {
    this.restore();
    if (this.tree === undefined && this.lastError === undefined) {
      try {
        yield* this.load();
      } catch (error) {
        if (!isFault(error) || error.code === 'EAGAIN') throw error;
      }
      return this.tree;
    }
    const failed = this.tree === undefined || this.listFault !== undefined;
    if (!failed) return yield* this.current();
    if (this.options.now() >= this.#retryAt) {
      this.#retryAt = this.options.now() + this.options.retryAfter;
      this.options.expired();
    }
    return this.tree;
  }

  /**
   * Takes the listing kept from an earlier start, where there is one and nothing newer is known. One that is no longer fresh, or
   * never was, is stale, and asked for again by the next access; one that is fresh is not (LST-3).
   */
  restore(): void {
    if (this.#restored || this.tree !== undefined) return;
    this.#restored = true;
    const kept = this.options.cache?.getListing();
    if (kept === undefined) return;
    const { listing, negotiated, fetchedAt } = kept;
    this.negotiated = negotiated as unknown as Negotiated;
    this.#apply(listing as unknown as PageReply['list']);
    for (const value of kept.confirmed) {
      const root = skillRootOf((value as { readonly uri: string }).uri);
      const entry = isUriProblem(root) ? undefined : this.examine(value, root.treePath);
      if (entry !== undefined && 'root' in entry) this.graft(entry);
    }
    this.listedAt = fetchedAt;
    this.stale = !isFresh(kept, this.options.now());
    this.#expiresAt = this.stale ? 0 : fetchedAt + Math.min(listing.ttlMs ?? 0, KEPT_FRESH);
  }

  /** Asks again for a listing that is no longer fresh. The tree at hand stays in use, whatever comes of it. */
  *#revalidate(): Op<void> {
    if (!this.stale || !this.options.waitWhenStale) {
      this.#expiresAt = undefined;
      this.options.expired();
      return;
    }
    try {
      yield* this.load();
    } catch (error) {
      if (!isFault(error)) throw error;
      if (error.code !== 'EAGAIN') return;
      this.#expiresAt = undefined;
      this.options.expired();
    }
  }

  /**
   * Connects, lists, and replaces the tree in one assignment. A failure keeps the last good tree and marks it stale.
   *
   * @throws `Fault` when the server cannot be reached and there is no tree from before
   */
  *load(): Op<TreeDiff> {
    const before = this.tree;
    try {
      this.negotiated = yield* ask({ kind: 'connect', label: this.label });
    } catch (error) {
      this.#failed(error, 'unreachable');
      throw error;
    }
    const asked = this.options.now();
    let applied = false;
    try {
      const listing = yield* ask({ kind: 'list', label: this.label });
      this.listMs = this.options.now() - asked;
      if (listing !== this.#applied) {
        this.#applied = listing;
        this.#apply(listing);
        applied = true;
      }
    } catch (error) {
      this.#failed(error, 'list-failed');
      if (before === undefined || this.listFault !== undefined) this.listFault = error as Fault;
      this.tree ??= SkillTree.of([], this.options.now());
      return treeDiff(before, this.tree);
    }
    yield* this.#confirmInstructions();
    if (applied) this.#keep(asked);
    return treeDiff(before, this.tree as SkillTree);
  }

  /**
   * Checks the entry that `skills/get` gave for the skill at `root` (GET-2).
   *
   * @returns the refusal, where the entry cannot be used
   */
  examine(value: unknown, root: string): SkillEntry | Refusal {
    const { limits } = this.options;
    const checked = checkEntry(value, limits, this.#checks());
    if ('refusal' in checked) return this.#refuse(checked.refusal);
    const { entry } = checked;
    if (entry.root === root) return entry;
    const uri = `${fromTreePath(root)}/SKILL.md`;
    return this.#refuse({ uri, reason: 'uri', message: `${entry.uri} came as the answer for ${uri}` });
  }

  /**
   * Adds a skill, or replaces the one at its path.
   *
   * @returns the refusal, where it contradicts a skill that is there (ENT-7)
   */
  graft(entry: SkillEntry): SkillNode | Refusal {
    const { now } = this.options;
    const { root } = entry;
    const tree = this.tree ?? SkillTree.of([], now());
    const held = tree.skillAt(root);
    // Whoever waited for the same answer finds it in place.
    if (held !== undefined && sameEntry(held.entry, entry)) return held;
    const skill = { entry, since: Math.trunc(now()), listed: held?.listed ?? false };
    const conflict = tree.conflictOf(entry);
    if (conflict !== undefined) return this.#refuse({ uri: entry.uri, ...conflict });
    if (!skill.listed) this.#unlisted.set(root, entry);
    this.tree = tree.with(skill, now());
    this.options.replaced(tree, this.tree);
    if (held === undefined) {
      const message = `${entry.uri} is not in the listing, and was confirmed by the server`;
      this.options.report({ severity: 'info', code: 'unlisted-skill', message, uri: entry.uri });
    }
    return skill;
  }

  /** The refusal of the skill at `path`, or of one whose directory holds it. */
  refusalAt(path: string): Refusal | undefined {
    if (this.#refusedRoots.size === 0) return undefined;
    for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
      const refusal = this.#refusedRoots.get(path.slice(0, end));
      if (refusal !== undefined) return refusal;
    }
    return undefined;
  }

  #apply(listing: PageReply['list']): void {
    const { now, limits, report } = this.options;
    const previous = this.tree;
    if (listing.spoken !== undefined && this.negotiated !== undefined) {
      this.negotiated = { ...this.negotiated, ...listing.spoken };
    }
    const { entries, refusals, warnings } = checkListing(listing.entries, limits, this.#checks());
    const listed = new Set(entries.map((entry) => entry.root));
    const renew = this.#changed;
    this.#changed = false;
    const unlisted = [...this.#unlisted.values()].filter((entry) => !listed.has(entry.root));
    this.#unlisted = new Map(unlisted.map((entry) => [entry.root, entry]));
    const nodes = [
      ...entries.map((entry) => nodeFor(entry, { listed: true, renew, previous, now: now() })),
      ...unlisted.map((entry) => nodeFor(entry, { listed: false, renew, previous, now: now() })),
    ];
    const consistent = withoutConflicts(nodes);
    this.refusals = [...refusals, ...consistent.refusals];
    this.partial = listing.partial;
    this.hints = hintsOf(listing);
    this.#failures = 0;
    this.templates = (listing.templates ?? []).flatMap(({ uriTemplate }) => parseTemplate(uriTemplate) ?? []);
    this.listedTemplates = listing.templates ?? [];
    this.#expiresAt = listing.ttlMs !== undefined && listing.ttlMs > 0 ? now() + listing.ttlMs : undefined;
    this.listedAt = now();
    this.stale = false;
    this.lastError = undefined;
    this.listFault = undefined;
    this.tree = SkillTree.of(consistent.skills, now(), previous);
    this.options.replaced(previous, this.tree);
    for (const { uri, reason, message } of this.refusals) {
      report({
        severity: 'error',
        code: 'refused',
        message: `${reason}: ${message}`,
        ...(uri !== undefined && { uri }),
      });
    }
    for (const message of warnings) report({ severity: 'warning', code: 'warning', message });
    for (const message of listing.notes ?? []) report({ severity: 'warning', code: 'dialect', message });
    if (listing.partial !== undefined) {
      report({ severity: 'warning', code: 'partial', message: `the listing is partial: ${listing.partial}` });
    }
    if (this.negotiated?.dialect === undefined) {
      const message = 'the server does not declare the Skills extension, nor serves skills in another way known here';
      report({ severity: 'warning', code: 'no-skills', message });
    }
  }

  #checks(): EntryOptions {
    const { dynamic, resources } = this.options;
    return { dynamic, verbatim: this.negotiated?.verbatim ?? true, ...(resources && { taken: RESOURCES }) };
  }

  /** Keeps the listing for the next start; of a server that does not speak of skills there is nothing to keep. */
  #keep(fetchedAt: number): void {
    const { negotiated } = this;
    const listing = this.#applied;
    if (negotiated?.dialect === undefined || listing === undefined) return;
    const confirmed = [...this.#unlisted.values()];
    this.options.cache?.putListing({ listing: { ...listing }, confirmed, negotiated: { ...negotiated }, fetchedAt });
  }

  #refuse(refusal: Refusal): Refusal {
    if (!this.refusals.some((one) => one.uri === refusal.uri && one.message === refusal.message)) {
      this.refusals = [...this.refusals, refusal];
      const { uri, reason, message } = refusal;
      this.options.report({
        severity: 'error',
        code: 'refused',
        message: `${reason}: ${message}`,
        ...(uri !== undefined && { uri }),
      });
    }
    return refusal;
  }

  #failed(error: unknown, code: 'unreachable' | 'list-failed'): void {
    // Only what the server did counts: a synchronous caller that may not wait, or one that gave up, says nothing of it.
    if (!isFault(error) || error.code === 'EAGAIN') throw error;
    // Whoever waited for the same answer says nothing new.
    if (error === this.lastError) return;
    const { now, retryAfter } = this.options;
    this.lastError = error;
    this.#retryAt = now() + Math.min(retryAfter * 2 ** this.#failures++, Math.max(retryAfter, RETRY_AFTER_MOST));
    this.stale = this.tree !== undefined;
    // The tree that stays in use is asked for again by an access, in the background.
    if (this.stale) this.#expiresAt = this.#retryAt;
    this.options.report({ severity: 'error', code, message: error.detail ?? error.code, cause: error });
  }

  #again({ code, detail = code, cause }: Fault): Fault {
    const seconds = Math.ceil((this.#retryAt - this.options.now()) / 1_000);
    return new Fault(code, { detail: `${detail}; it is tried again in ${seconds} s`, cause });
  }

  /** SKILL.md URIs that the server's instructions name are confirmed with the server (GET-3). */
  *#confirmInstructions(): Op<void> {
    const { instructions, dialect } = this.negotiated ?? {};
    if (!this.options.instructions || instructions === undefined || dialect === undefined) return;
    for (const uri of skillUrisIn(instructions, INSTRUCTION_URIS)) {
      const root = skillRootOf(uri);
      if (isUriProblem(root) || this.tree?.skillAt(root.treePath) !== undefined) continue;
      if (this.refusalAt(root.treePath) !== undefined) continue;
      try {
        const value = yield* ask({ kind: 'get', label: this.label, uri });
        if (value === undefined) continue;
        const entry = this.examine(value, root.treePath);
        if ('root' in entry) this.graft(entry);
      } catch (error) {
        if (!isFault(error) || error.code === 'EAGAIN') throw error;
        this.options.report({ severity: 'warning', code: 'warning', message: error.message, uri, cause: error });
        // Whoever does not answer is not asked for the others: each would be waited for as long.
        if (error.code === 'ETIMEDOUT' || error.code === 'EHOSTUNREACH') return;
      }
    }
  }
}

function hintsOf({ ttlMs, cacheScope }: PageReply['list']): ServerState['hints'] {
  return { ...(ttlMs !== undefined && { ttlMs }), ...(cacheScope !== undefined && { cacheScope }) };
}

/** Every template that a server tells of: in its listing, and among its resources. Each once. */
export function* templatesOf(state: ServerState): Op<PageReply['templates']> {
  yield* state.current();
  const others = yield* ask({ kind: 'templates', label: state.label });
  const known = new Set(state.listedTemplates.map(({ uriTemplate }) => uriTemplate));
  return [...state.listedTemplates, ...others.filter(({ uriTemplate }) => !known.has(uriTemplate))];
}

/** How long, in milliseconds, a kept listing counts as fresh at most, whatever its server said. */
const KEPT_FRESH = 24 * 60 * 60 * 1000;

/** LST-3; a listing that was cut when it was fetched is asked for again. */
function isFresh({ listing, fetchedAt }: KeptListing, now: number): boolean {
  const ttl = Math.min(listing.ttlMs ?? 0, KEPT_FRESH);
  return listing.partial === undefined && fetchedAt <= now && now < fetchedAt + ttl;
}

/** Yields one request and gives its answer the type it has. */
export function* ask<K extends PageRequest['kind']>(request: Extract<PageRequest, { kind: K }>): Op<PageReply[K]> {
  return (yield request) as PageReply[K];
}

/** An entry equal to the one held keeps its node, and with it everything that hangs on it. */
function nodeFor(
  entry: SkillEntry,
  { listed, renew, previous, now }: { listed: boolean; renew: boolean; previous: SkillTree | undefined; now: number },
): SkillNode {
  const held = previous?.skillAt(entry.root);
  const keeps = !(renew && entry.resources === 'dynamic');
  if (keeps && held !== undefined && sameEntry(held.entry, entry))
    return held.listed === listed ? held : { ...held, listed };
  return { entry, since: Math.trunc(now), listed };
}

/** Whether two entries say the same; the order of the files does not matter to anybody, but servers keep it. */
export function sameEntry(a: SkillEntry, b: SkillEntry): boolean {
  if (a.uri !== b.uri || a.source !== b.source) return false;
  if (JSON.stringify(a.compared) !== JSON.stringify(b.compared)) return false;
  if (JSON.stringify(a.frontmatter) !== JSON.stringify(b.frontmatter)) return false;
  if (a.resources === 'dynamic' || b.resources === 'dynamic') return a.resources === b.resources;
  const files = b.resources;
  return (
    a.resources.length === files.length &&
    a.resources.every((file, index) => {
      const other = files[index];
      return file.uri === other?.uri && file.digest === other.digest && file.size === other.size;
    })
  );
}
