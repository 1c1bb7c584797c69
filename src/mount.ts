import { changedPaths, type TreeDiff } from './catalog/diff.ts';
import { parseTemplate, pathPatternOf } from './catalog/template.ts';
import type { SkillNode, SkillTree } from './catalog/tree.ts';
import type { Refusal, SkillFrontmatter } from './catalog/types.ts';
import { isUriProblem, parseSkillUri, toTreePath } from './catalog/uri.ts';
import { diskStore } from './content/disk/disk-store.ts';
import { CacheDirectoryError } from './content/disk/private-directory.ts';
import type { CacheProblem } from './content/disk/scope-files.ts';
import { memoryStore } from './content/memory-store.ts';
import type { ServerCache } from './content/server-cache.ts';
import { sharedScopes } from './content/shared/scopes.ts';
import type { SharedSetup } from './content/shared/shared-content.ts';
import { keepMountInternals } from './mounted.ts';
import { type ChangeSource, createNodeFs, type NodeFs } from './node/index.ts';
import { type MountOptions, OptionsError, type ResolvedOptions, resolveOptions, type ServerSource } from './options.ts';
import { workerPager } from './pager/bridge/worker-pager.ts';
import { hostPager } from './pager/host-pager.ts';
import { endWithHost } from './pager/host-processes.ts';
import type { PageRequest, Pager, PagerEvent } from './pager/port.ts';
import { routedPager } from './pager/routed-pager.ts';
import { ApprovalsError } from './policy/approvals.ts';
import { isMcpClient } from './protocol/client.ts';
import { dialectsTried } from './protocol/dialects/index.ts';
import { keptInHost, type ServerConfig } from './protocol/server-config.ts';
import { guardOf, shownOf, type Trust, trustOf } from './trust.ts';
import { type Diagnostic, Diagnostics } from './vfs/diagnostics.ts';
import { type DirectoryDifference, directoryDifference } from './vfs/directory-check.ts';
import { driverWithCalls } from './vfs/driver.ts';
import { InodeTable } from './vfs/inodes.ts';
import { MountTable } from './vfs/mount-table.ts';
import type { Provenance } from './vfs/provenance.ts';
import type { Driver } from './vfs/read-fs.ts';
import { type ServerOptions, ServerState, templatesOf } from './vfs/server-state.ts';
import { SkillFs } from './vfs/skill-fs.ts';

/** A skill of a mounted server. */
export interface SkillInfo {
  /** The host's label of the server: with `uri`, the skill's identity (MAP-5). */
  readonly label: string;
  /** The SKILL.md URI as the server spells it; of a server that spells none (`skill://name`), with `/SKILL.md` after it. */
  readonly uri: string;
  /** The skill's directory in the mount. */
  readonly path: string;
  readonly name: string;
  readonly description: string;
  /** Without the fields that are masked in the file (SEC-3). */
  readonly frontmatter: SkillFrontmatter;
  /** Names of the fields that are masked. */
  readonly masked?: readonly string[];
  /** Whether its files may be read; absent where no approval is needed (SEC-6). */
  readonly approved?: boolean;
  /** Number of files; absent for a dynamic skill. */
  readonly files?: number;
  /** Sum of the files' sizes in bytes; absent for a dynamic skill. */
  readonly bytes?: number;
  /** Whether content is checked against published digests (`verified`) or cannot be (`dynamic`) (VER-5). */
  readonly content: 'verified' | 'dynamic';
  /** Whether a listing named it, or it was confirmed by its URI alone. */
  readonly listed: boolean;
}

/** What is known of one server. */
export interface ServerStatus {
  readonly label: string;
  /**
   * `idle` until first needed; `failed` when it could not be reached or listed and there is no tree from before; `denied` when
   * a rule denies it: it is not connected to.
   */
  readonly state: 'idle' | 'ready' | 'failed' | 'denied';
  /** The negotiated protocol version; absent where the client does not tell (SDK 1.x). */
  readonly protocolVersion?: string;
  /** The server's name for itself. Not the label, and not to be trusted as an identity. */
  readonly serverInfo?: { readonly name: string; readonly version: string };
  /** How the server speaks of skills; absent when it does not. */
  readonly dialect?: string;
  readonly directoryRead: boolean;
  readonly skills: number;
  readonly files: number;
  readonly bytes: number;
  /** Why the listing is cut, where it is: skills may be missing from it. */
  readonly partial?: string;
  /** Whether the tree is older than a refresh that failed, or was kept from an earlier start and is no longer fresh. */
  readonly stale: boolean;
  /** Milliseconds for which the server lets its listing count as fresh; absent where it does not say (LST-3). */
  readonly ttlMs?: number;
  /** Whom the server lets share its listing; absent where it does not say (LST-3). */
  readonly cacheScope?: 'public' | 'private';
  readonly lastError?: Error;
  /** Entries that were not loaded, with their reasons. */
  readonly refused: readonly Refusal[];
  /** When the listing was fetched, milliseconds since the epoch. */
  readonly listedAt?: number;
  /** Milliseconds that connecting took. */
  readonly connectMs?: number;
  /** Milliseconds that the last listing took. */
  readonly listMs?: number;
}

/** Where a path comes from, and what is known of it. */
export interface Origin extends Provenance {
  /** The host's label of the server. */
  readonly label: string;
}

/** URIs, or paths, that a server makes content for when they are asked for. */
export interface TemplateInfo {
  readonly label: string;
  /** As the server has it (RFC 6570). */
  readonly uriTemplate: string;
  /** The same as a path of the mount, `{variables}` in braces; absent where it can stand for no path. */
  readonly path?: string;
  /** Names of the variables of the path, in order. */
  readonly variables: readonly string[];
  readonly description?: string;
}

/** A skill whose directories on the server are not what its held manifest lists. */
export interface ChangedDirectories extends DirectoryDifference {
  readonly label: string;
}

/** What a refresh of one server did. */
export interface RefreshReport extends TreeDiff {
  readonly label: string;
  /** Why it failed; the last good tree stays in use. */
  readonly error?: Error;
}

/** A mounted set of servers. */
export interface Mount {
  /**
   * Passes for `node:fs`, read-only: what is outside the mount point is not there, but as the place where `cp` and
   * `copyFile` may copy to.
   */
  readonly fs: NodeFs;
  readonly promises: NodeFs['promises'];
  readonly mountPoint: string;
  /**
   * Connects to and lists every server, and reports each; one that fails does not make this fail. A server whose kept listing is
   * still fresh is not asked.
   */
  ready(): Promise<readonly ServerStatus[]>;
  /** The skills known now, without those that are denied or disabled. */
  skills(): readonly SkillInfo[];
  status(): readonly ServerStatus[];
  /**
   * The URI templates of one server, or of all: those of its listing, and those it lists among its resources (DRAFT-3).
   *
   * @throws `Fault` when a server cannot be asked; TypeError when there is no such server
   */
  templates(label?: string): Promise<readonly TemplateInfo[]>;
  /**
   * Asks servers for the directories of their skills with manifests, and tells of those that show something else than the
   * manifest lists: they changed on the server, and a refresh shows how (DIR-2). Nothing of it changes the tree.
   *
   * @throws `Fault` when a server cannot be asked; TypeError when there is no such server
   */
  compareDirectories(label?: string): Promise<readonly ChangedDirectories[]>;
  /**
   * Where a path comes from, and whether its content is verified, masked and approved; `undefined` when it is no server's. The
   * inverse of {@link pathOf}. Asks no server (SEC-2).
   */
  originOf(path: string): Origin | undefined;
  /**
   * The path of a URI of a server. The inverse of {@link originOf}.
   *
   * @throws TypeError when the URI can have no path, or there is no such server
   */
  pathOf(label: string, uri: string): string;
  /**
   * Fetches and verifies files, so that synchronous calls find them in memory. A directory stands for all files below it;
   * without paths, everything.
   *
   * @throws the first error of a read, as `promises.readFile` gives it, after all reads ended
   */
  preload(paths?: string | readonly string[]): Promise<void>;
  /** Lists one server, or all, again. A failure keeps the last good tree. */
  refresh(label?: string): Promise<readonly RefreshReport[]>;
  /** @returns a function that ends the subscription */
  on(event: 'diagnostic', listener: (diagnostic: Diagnostic) => void): () => void;
  /** Ends the connections the mount opened; clients given by the host stay open. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Mounts the skills of MCP servers. Returns at once: a server is connected to when it is first looked into, or by
 * `ready()`.
 *
 * @throws OptionsError naming the key that cannot be used
 */
export function mount(options: MountOptions): Mount {
  const resolved = resolveOptions(options);
  return new SkillMount(resolved, pagerFor(resolved));
}

/**
 * Servers given as config are asked from a worker, so that synchronous calls can wait; clients are the host's, and what
 * cannot cross a thread keeps its server here, too.
 */
function pagerFor(options: ResolvedOptions): Pager {
  const { deadlines, concurrency, listen, thread, worker, probe } = options;
  const hosted = new Map<string, ServerSource>();
  const configured = new Map<string, ServerConfig>();
  for (const [label, source] of options.servers) {
    if (thread === 'host' || isMcpClient(source) || keptInHost(source) !== undefined) hosted.set(label, source);
    else configured.set(label, source);
  }
  const dialects = dialectsTried(probe);
  const shared = sharedSetup(options, [...configured.keys()]);
  const common = { deadlines, concurrency, listen, shared };
  const inHost = hostPager({ ...common, servers: hosted, dialects, processes: endWithHost() });
  if (configured.size === 0) return inHost;
  const inWorker = workerPager({ setup: { ...common, servers: configured, probe }, file: worker });
  return routedPager((label) => (configured.has(label) ? inWorker : inHost), [inHost, inWorker]);
}

/** @throws OptionsError when the store is an object, and there are servers that another thread talks to */
function sharedSetup(options: ResolvedOptions, inWorker: readonly string[]): SharedSetup | undefined {
  if (options.shared === undefined) return undefined;
  const { keys, ...source } = options.shared;
  if ('store' in source && inWorker.length > 0) {
    const why = `the server "${inWorker[0]}" is talked to from a thread of its own, to which an object cannot be handed`;
    const ways = 'give {redis} or {module}, which any thread can open, or keep servers in this one with thread: "host"';
    throw new OptionsError(`shared.store: ${why}; ${ways}`);
  }
  return { source, scopes: sharedScopes(options.servers, keys), deadline: options.deadlines.shared };
}

/** Where content is kept from one start to the next: by label, without the servers that do not tell who they are. */
function cachesFor(
  { cache, servers }: ResolvedOptions,
  report: (problem: CacheProblem) => void,
): ReadonlyMap<string, ServerCache> {
  const caches = new Map<string, ServerCache>();
  if (cache === undefined) return caches;
  try {
    const store = diskStore({ ...cache, report });
    const keys = new Map(Object.entries(cache.keys ?? {}));
    for (const [label, source] of servers) {
      const server = store.server(label, source, keys.get(label));
      if (server !== undefined) caches.set(label, server);
    }
  } catch (error) {
    throw error instanceof CacheDirectoryError ? new OptionsError(`cache: ${error.message}`, { cause: error }) : error;
  }
  return caches;
}

function trustFor({ policy }: ResolvedOptions, report: (problem: Error) => void): Trust {
  try {
    return trustOf(policy, report);
  } catch (error) {
    throw error instanceof ApprovalsError
      ? new OptionsError(`policy.approvals: ${error.message}`, { cause: error })
      : error;
  }
}

class SkillMount implements Mount {
  readonly fs: NodeFs;
  readonly mountPoint: string;
  readonly #table: MountTable<SkillFs>;
  readonly #pager: Pager;
  readonly #driver: Driver;
  readonly #diagnostics = new Diagnostics();
  readonly #watchers = new Set<(path: string) => void>();
  readonly #replaced = new Set<() => void>();
  readonly #trust: Trust;
  /** Labels of servers that are not connected to. */
  readonly #denied: ReadonlySet<string>;

  constructor(options: ResolvedOptions, pager: Pager) {
    const inodes = new InodeTable();
    const store = memoryStore(options.memoryBytes);
    const now = Date.now;
    const servers = new Map<string, SkillFs>();
    const waitWhenStale = options.cache?.whenStale === 'wait';
    const caches = cachesFor(options, (problem) =>
      this.#diagnostics.emit({ severity: 'warning', code: 'cache', ...problem }),
    );
    this.#trust = trustFor(options, ({ message }) =>
      this.#diagnostics.emit({ severity: 'error', code: 'approvals', message }),
    );
    const { policy } = this.#trust;
    this.#denied = new Set([...options.servers.keys()].filter((label) => policy.deniesServer(label)));
    for (const label of options.servers.keys()) {
      if (this.#denied.has(label)) continue;
      const report = (diagnostic: Omit<Diagnostic, 'label'>) => this.#diagnostics.emit({ label, ...diagnostic });
      const expired = () => void this.refresh(label);
      const replaced: ServerOptions['replaced'] = (before, after) => this.#tellChanges(label, before, after);
      const cache = caches.get(label);
      const state = new ServerState({ ...options, label, cache, waitWhenStale, now, report, expired, replaced });
      servers.set(label, new SkillFs(state, store, inodes, guardOf(this.#trust, label)));
    }
    this.#pager = pager;
    pager.onEvent((event) => this.#happened(event));
    this.#table = new MountTable(options.mountPoint, servers, inodes, now(), this.#denied);
    this.#driver = driverWithCalls<PageRequest>(
      (asked, signal) => pager.request(asked, signal),
      (asked) => pager.requestSync(asked),
    );
    policy.onChange(() => this.#policyChanged());
    this.mountPoint = options.mountPoint;
    const changes: ChangeSource = {
      subscribe: (listener) => {
        this.#watchers.add(listener);
        return () => this.#watchers.delete(listener);
      },
    };
    const { mountPoint } = options;
    this.fs = createNodeFs(this.#table, this.#driver, { mountPoint, changes });
    keepMountInternals(this, {
      core: this.#table,
      driver: this.#driver,
      changes,
      mountPoint,
      servers,
      denied: this.#denied,
      policy,
      skillInfo: (label, skill, path) => this.#skillInfo(label, skill, path),
      onReplaced: (listener) => this.#replaced.add(listener),
      report: (diagnostic) => this.#diagnostics.emit(diagnostic),
    });
  }

  get promises(): NodeFs['promises'] {
    return this.fs.promises;
  }

  async ready(): Promise<readonly ServerStatus[]> {
    const waiting = [...this.#table.servers.values()].map(async ({ state }) => {
      state.restore();
      if (state.tree === undefined || state.listFault !== undefined || state.stale) await this.#load(state);
    });
    await Promise.all(waiting);
    return this.status();
  }

  skills(): readonly SkillInfo[] {
    return [...this.#table.servers].flatMap(([label, server]) =>
      (server.state.tree?.skills ?? [])
        .filter(({ entry }) => server.denialAt(entry.root) === undefined)
        .map((skill) => this.#skillInfo(label, skill, this.#table.pathFor(label, skill.entry.root))),
    );
  }

  status(): readonly ServerStatus[] {
    const denied = [...this.#denied].map((label): ServerStatus => ({ ...NOTHING_OF, label }));
    return [...[...this.#table.servers.values()].map(({ state }) => statusOf(state)), ...denied];
  }

  async templates(label?: string): Promise<readonly TemplateInfo[]> {
    const found = this.#serversOf(label).map(async ({ state }) => {
      const listed = await this.#driver.async(templatesOf(state));
      return listed.map(({ uriTemplate, description }): TemplateInfo => {
        const parsed = parseTemplate(uriTemplate);
        return {
          label: state.label,
          uriTemplate,
          variables: parsed?.variables ?? [],
          ...(parsed !== undefined && { path: this.#table.pathFor(state.label, pathPatternOf(parsed)) }),
          ...(description !== undefined && { description }),
        };
      });
    });
    return (await Promise.all(found)).flat();
  }

  async compareDirectories(label?: string): Promise<readonly ChangedDirectories[]> {
    const compared = this.#serversOf(label).map(async ({ state }) => {
      const { skills } = await this.#driver.async(state.current());
      const asked = skills.map((skill) => this.#driver.async(directoryDifference(state, skill)));
      const found = await Promise.all(asked);
      return found.flatMap((difference) => (difference ? [{ label: state.label, ...difference }] : []));
    });
    return (await Promise.all(compared)).flat();
  }

  originOf(path: string): Origin | undefined {
    const located = this.#table.locate(path);
    if (located === undefined) return undefined;
    const { label, server, below } = located;
    return { label, ...server.provenanceAt(below) };
  }

  pathOf(label: string, uri: string): string {
    if (!this.#table.servers.has(label) && !this.#denied.has(label))
      throw new TypeError(`there is no server ${JSON.stringify(label)}`);
    const parsed = parseSkillUri(uri);
    if (isUriProblem(parsed)) throw new TypeError(`${JSON.stringify(uri)} has no path: ${parsed.problem}`);
    return this.#table.pathFor(label, toTreePath(parsed));
  }

  async preload(paths: string | readonly string[] = this.mountPoint): Promise<void> {
    const files = [...new Set(typeof paths === 'string' ? [paths] : paths)].map((path) => this.#filesBelow(path));
    const reads = (await Promise.all(files)).flat().map((path) => this.promises.readFile(path));
    const failed = (await Promise.allSettled(reads)).find((read) => read.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }

  async refresh(label?: string): Promise<readonly RefreshReport[]> {
    return Promise.all(this.#serversOf(label).map(({ state }) => this.#load(state)));
  }

  on(_event: 'diagnostic', listener: (diagnostic: Diagnostic) => void): () => void {
    return this.#diagnostics.on(listener);
  }

  close(): Promise<void> {
    return this.#pager.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** @throws TypeError when there is no such server */
  #serversOf(label: string | undefined): readonly SkillFs[] {
    if (label === undefined) return [...this.#table.servers.values()];
    const server = this.#table.servers.get(label);
    if (server === undefined) throw new TypeError(`there is no server ${JSON.stringify(label)}`);
    return [server];
  }

  async #load(state: ServerState): Promise<RefreshReport> {
    const failed = (error: Error) => ({ label: state.label, added: [], removed: [], changed: [], error });
    try {
      const diff = await this.#driver.async(state.load());
      return state.lastError === undefined ? { label: state.label, ...diff } : failed(state.lastError);
    } catch (error) {
      return failed(error as Error);
    }
  }

  #happened(event: PagerEvent): void {
    if (event.what === 'shared') {
      const { what: code, ...problem } = event;
      this.#diagnostics.emit({ severity: 'warning', code, ...problem });
      return;
    }
    const state = this.#table.servers.get(event.label)?.state;
    if (state?.tree === undefined) return;
    if (event.what === 'lost') state.disconnected();
    else {
      state.changed();
      void this.#load(state);
    }
  }

  #skillInfo(label: string, { entry, listed }: SkillNode, path: string): SkillInfo {
    const { uri, resources, bytes } = entry;
    const { name, description } = entry.frontmatter;
    const shown = shownOf(this.#trust, label, entry);
    const known = { label, uri, path, name, description, ...shown, listed };
    if (resources === 'dynamic') return { ...known, content: 'dynamic' };
    return { ...known, content: 'verified', files: resources.length, bytes };
  }

  /** Other skills are shown, or may be read, than before: whoever keeps what it saw looks again. */
  #policyChanged(): void {
    for (const listener of this.#replaced) listener();
    for (const [label, { state }] of this.#table.servers) {
      for (const { entry } of state.tree?.skills ?? []) {
        for (const watcher of this.#watchers) watcher(this.#table.pathFor(label, entry.root));
      }
    }
  }

  #tellChanges(label: string, before: SkillTree | undefined, after: SkillTree): void {
    for (const listener of this.#replaced) listener();
    if (this.#watchers.size === 0 || before === undefined) return;
    for (const below of changedPaths(before, after)) {
      for (const watcher of this.#watchers) watcher(this.#table.pathFor(label, below));
    }
  }

  async #filesBelow(path: string): Promise<readonly string[]> {
    const stat = await this.promises.stat(path);
    if (!stat.isDirectory()) return [path];
    const entries = await this.promises.readdir(path, { withFileTypes: true });
    const below = entries.map((entry) => {
      const child = path === '/' ? `/${entry.name}` : `${path}/${entry.name}`;
      return entry.isDirectory() ? this.#filesBelow(child) : [child];
    });
    return (await Promise.all(below)).flat();
  }
}

const NOTHING_OF: Omit<ServerStatus, 'label'> = {
  state: 'denied',
  directoryRead: false,
  skills: 0,
  files: 0,
  bytes: 0,
  stale: false,
  refused: [],
};

function statusOf(state: ServerState): ServerStatus {
  const { label, tree, negotiated, partial, stale, hints, lastError, refusals, listedAt, listMs, listFault } = state;
  const skills = tree?.skills ?? [];
  const failed = tree === undefined ? lastError !== undefined : listFault !== undefined;
  return {
    label,
    state: failed ? 'failed' : tree === undefined ? 'idle' : 'ready',
    ...(negotiated?.protocolVersion !== undefined && { protocolVersion: negotiated.protocolVersion }),
    ...(negotiated?.serverInfo !== undefined && { serverInfo: negotiated.serverInfo }),
    ...(negotiated?.dialect !== undefined && { dialect: negotiated.dialect }),
    directoryRead: negotiated?.directoryRead ?? false,
    skills: skills.length,
    files: skills.reduce((sum, { entry }) => sum + (entry.resources === 'dynamic' ? 0 : entry.resources.length), 0),
    bytes: skills.reduce((sum, { entry }) => sum + entry.bytes, 0),
    ...(partial !== undefined && { partial }),
    stale,
    ...hints,
    ...(lastError !== undefined && { lastError }),
    refused: refusals,
    ...(listedAt !== undefined && { listedAt }),
    ...(negotiated !== undefined && { connectMs: negotiated.tookMs }),
    ...(listMs !== undefined && { listMs }),
  };
}
