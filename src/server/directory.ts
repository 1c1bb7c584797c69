import { readFile } from 'node:fs/promises';
import { DIRECTORY_MIME_TYPE, type Skill } from '@modelcontextprotocol/core/ext/skills';
import { type McpServer, ProtocolError, ProtocolErrorCode, type Resource } from '@modelcontextprotocol/server';
import { type SkillReadResult, type SkillSource, SkillsExtension } from '@modelcontextprotocol/server/ext/skills';
import { mimeTypeOf, textOf } from '../base/mime-types.ts';
import type { SkillLimits } from '../catalog/types.ts';
import { isUriProblem, skillRootOf } from '../catalog/uri.ts';
import { publishIndex } from './draft-index.ts';
import { digestOf, distrust, isCurrent, type ScanOptions, type Snapshot, scan } from './scan.ts';
import { reasonOf, type ScanWarning } from './walk.ts';

export interface ServeOptions {
  /** Organisational prefix: `acme` serves `skill://acme/<path>/…`. Default none. */
  readonly prefix?: string;
  /** Skills over these are left out. Default 512 files, 16 MiB (LIM-1). */
  readonly limits?: Partial<Pick<SkillLimits, 'files' | 'bytes'>>;
  /** Entries per page. Default 100. */
  readonly pageSize?: number;
  /** Milliseconds for which clients need not ask again (LST-3). Default 0. */
  readonly ttlMs?: number;
  /**
   * Whether hosts of the specification's earlier draft find the skills, too: by `skill://index.json`, and every file among
   * the resources (SRV-4). Default `false`.
   */
  readonly draft?: boolean;
  /** Told of every skill that is left out, and of what is odd. Default: standard error. */
  readonly onWarning?: (warning: ScanWarning) => void;
}

/** Times a file that changes while it is read is tried again. */
const ATTEMPTS = 5;

/** Milliseconds between two looks at a watched directory. */
const LOOK_EVERY = 2000;

/**
 * A directory of skills as a source for the SDK's Skills extension. What is served is always one snapshot: bytes that are
 * no longer those of the published entry are not sent for it, but lead to a new snapshot (SRV-3). Errors are the
 * protocol's: -32602 for what is not there, -32603 for what cannot be read.
 */
export class SkillDirectory {
  /** The SDK's view of the directory. */
  readonly source: SkillSource;
  readonly #extension: SkillsExtension;
  readonly #options: ScanOptions;
  readonly #pageSize: number;
  readonly #draft: boolean;
  readonly #warn: (warning: ScanWarning) => void;
  readonly #listeners = new Set<() => void>();
  #snapshot: Snapshot;
  #idle: Promise<void> = Promise.resolve();
  #next: Promise<Snapshot> | undefined;

  private constructor(options: ScanOptions, snapshot: Snapshot, { pageSize, ttlMs, draft, onWarning }: ServeOptions) {
    this.#options = options;
    this.#snapshot = snapshot;
    this.#pageSize = pageSize ?? 100;
    this.#draft = draft ?? false;
    this.#warn = onWarning ?? (({ path, message }) => void process.stderr.write(`skillfs: ${path}: ${message}\n`));
    for (const warning of snapshot.warnings) this.#warn(warning);
    this.source = {
      list: ({ cursor }) => this.#list(cursor),
      get: (uri) => this.#get(uri),
      read: (uri) => this.#read(uri),
      readDirectory: async (uri) => childrenOf(await this.#scan(), uri),
      listResources: async () => {
        const current = await this.#scan();
        return this.#draft ? filesOf(current) : current.skills.map(resourceOf);
      },
    };
    this.#extension = new SkillsExtension({
      source: this.source,
      cacheHint: { ttlMs: ttlMs ?? 0, cacheScope: 'private' },
      onWarning: this.#warn,
    });
  }

  /**
   * @param single whether only the skill at `directory` itself is published, and those nested in it
   * @throws what the file system gives when the directory cannot be read
   */
  static async open(directory: string, single: boolean, options: ServeOptions): Promise<SkillDirectory> {
    const { prefix = '', limits } = options;
    const { files = 512, bytes = 16 * 1024 * 1024 } = limits ?? {};
    const scanned: ScanOptions = { directory, prefix, single, limits: { files, bytes, over: 'refuse' } };
    return new SkillDirectory(scanned, await scan(scanned), options);
  }

  /** The entries that are published now, sorted by URI. */
  get skills(): readonly Skill[] {
    return this.#snapshot.skills;
  }

  /**
   * Publishes the skills on a server that is not connected yet. While it is, it is told of changes
   * (`resources/list_changed`).
   */
  attach(server: McpServer): void {
    this.#extension.attach(server);
    if (this.#draft) publishIndex(server, async () => (await this.#scan()).skills);
    const off = this.onChange(() => {
      if (server.isConnected()) server.server.sendResourceListChanged().catch(ignore);
    });
    const closed = server.server.onclose;
    server.server.onclose = () => {
      off();
      closed?.();
    };
  }

  /**
   * Calls `listener` whenever the published entries have changed. Changes are found when a client asks, and by
   * {@link watch}.
   *
   * @returns a function that ends it
   */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /**
   * Looks for changes every two seconds, so that clients hear of them before they ask. Keeps no process alive.
   *
   * @returns a function that ends it
   */
  watch(): () => void {
    const timer = setInterval(() => {
      // A directory that cannot be read is reported to whoever asks for it.
      if (this.#listeners.size > 0) this.#scan().catch(ignore);
    }, LOOK_EVERY).unref();
    return () => clearInterval(timer);
  }

  /** A cursor is the last URI of the page before, so that a change between two pages neither ends nor repeats a listing. */
  async #list(cursor: string | undefined): Promise<{ skills: Skill[]; nextCursor?: string }> {
    if (cursor !== undefined && isUriProblem(skillRootOf(cursor))) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `${JSON.stringify(cursor)} is no cursor of this server`);
    }
    const { skills } = cursor === undefined ? await this.#scan() : this.#snapshot;
    const rest = cursor === undefined ? skills : skills.filter(({ uri }) => uri > cursor);
    const page = rest.slice(0, this.#pageSize);
    const last = page.at(-1);
    return { skills: page, ...(last !== undefined && page.length < rest.length && { nextCursor: last.uri }) };
  }

  async #get(uri: string): Promise<Skill | undefined> {
    const snapshot = this.#snapshot;
    const root = snapshot.files.get(uri)?.below.replace(/SKILL\.md$/, '');
    const current = root !== undefined && (await isCurrent(this.#options, snapshot, root));
    return (current ? snapshot : await this.#scan()).skills.find((skill) => skill.uri === uri);
  }

  async #read(uri: string): Promise<SkillReadResult | undefined> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const file = this.#snapshot.files.get(uri) ?? (await this.#scan()).files.get(uri);
      if (file === undefined) return undefined;
      const bytes = await readFile(file.path).catch(() => undefined);
      if (bytes !== undefined && bytes.byteLength === file.size && digestOf(bytes) === file.digest) {
        return resultOf(uri, bytes);
      }
      // Its signature may be the same all the same: not every file system counts time in small steps.
      this.#snapshot = distrust(this.#snapshot, file);
      await this.#scan();
    }
    throw new ProtocolError(ProtocolErrorCode.InternalError, `${uri} keeps changing while it is read; ask again`);
  }

  /** Looks at the directory again. Whoever asks before the look has begun shares it; later ones share the next. */
  #scan(): Promise<Snapshot> {
    this.#next ??= this.#idle.then(() => {
      this.#next = undefined;
      const look = this.#rescan();
      this.#idle = look.then(ignore, ignore);
      return look;
    });
    return this.#next;
  }

  async #rescan(): Promise<Snapshot> {
    const before = this.#snapshot;
    const snapshot = await scan(this.#options, before).catch((error: unknown) => {
      const message = `the served directory cannot be read: ${reasonOf(error)}`;
      throw new ProtocolError(ProtocolErrorCode.InternalError, message);
    });
    if (snapshot === before) return snapshot;
    this.#snapshot = snapshot;
    const told = new Set(before.warnings.map(({ path, message }) => `${path}\n${message}`));
    for (const warning of snapshot.warnings) if (!told.has(`${warning.path}\n${warning.message}`)) this.#warn(warning);
    if (JSON.stringify(snapshot.skills) !== JSON.stringify(before.skills))
      for (const listener of this.#listeners) listener();
    return snapshot;
  }
}

/** SKILL.md as text, and whatever else is UTF-8 without loss; all other bytes as they are. */
function resultOf(uri: string, bytes: Uint8Array): SkillReadResult {
  const mimeType = mimeTypeOf(uri);
  const text = textOf(bytes);
  if (text !== undefined) return { text, mimeType: mimeType ?? 'text/plain' };
  return { bytes, mimeType: mimeType ?? 'application/octet-stream' };
}

/** SRV-2 */
function resourceOf({ uri, frontmatter }: Skill): Resource {
  return { uri, name: frontmatter.name, description: frontmatter.description, mimeType: 'text/markdown' };
}

/** Every file that is served, for hosts that look for them among the resources. */
function filesOf({ skills, files }: Snapshot): Resource[] {
  const skillMds = skills.map(resourceOf);
  const known = new Set(skillMds.map(({ uri }) => uri));
  const others = [...files.values()].filter(({ uri }) => !known.has(uri));
  return [
    ...skillMds,
    ...others.map(({ uri, size }): Resource => {
      const mimeType = mimeTypeOf(uri);
      const name = decodeURIComponent(uri.slice(uri.lastIndexOf('/') + 1));
      return { uri, name, size, ...(mimeType !== undefined && { mimeType }) };
    }),
  ];
}

function childrenOf({ files }: Snapshot, uri: string): { resources: Resource[] } | undefined {
  const prefix = uri.endsWith('/') ? uri : `${uri}/`;
  const children = new Map<string, Resource>();
  for (const file of files.values()) {
    if (!file.uri.startsWith(prefix)) continue;
    const [segment = '', ...deeper] = file.uri.slice(prefix.length).split('/');
    const child = { uri: prefix + segment, name: decodeURIComponent(segment) };
    const mimeType = deeper.length > 0 ? DIRECTORY_MIME_TYPE : mimeTypeOf(child.uri);
    const size = deeper.length > 0 ? undefined : file.size;
    children.set(child.uri, { ...child, ...(mimeType && { mimeType }), ...(size !== undefined && { size }) });
  }
  return children.size === 0 ? undefined : { resources: [...children.values()] };
}

function ignore(): void {}
