import { readFile } from 'node:fs/promises';
import { DIRECTORY_MIME_TYPE, type Skill } from '@modelcontextprotocol/core/ext/skills';
import { type McpServer, ProtocolError, ProtocolErrorCode, type Resource } from '@modelcontextprotocol/server';
import { type SkillReadResult, type SkillSource, SkillsExtension } from '@modelcontextprotocol/server/ext/skills';
import type { SkillLimits } from '../catalog/types.ts';
import { mimeTypeOf } from './mime-types.ts';
import { digestOf, type ScanOptions, type ScanWarning, type Snapshot, scan } from './scan.ts';

export interface ServeOptions {
  /** Organisational prefix: `acme` serves `skill://acme/<path>/…`. Default none. */
  readonly prefix?: string;
  /** Skills over these are left out. Default 512 files, 16 MiB (LIM-1). */
  readonly limits?: Partial<Pick<SkillLimits, 'files' | 'bytes'>>;
  /** Entries per page. Default 100. */
  readonly pageSize?: number;
  /** Milliseconds for which clients need not ask again (LST-3). Default 0. */
  readonly ttlMs?: number;
  /** Told of every skill that is left out, and of what is odd. Default: standard error. */
  readonly onWarning?: (warning: ScanWarning) => void;
}

/** Snapshots whose pages can still be asked for. */
const GENERATIONS = 8;

/** Times a file that changes while it is read is tried again. */
const ATTEMPTS = 5;

/**
 * A directory of skills as a source for the SDK's Skills extension. What is served is always one snapshot: bytes that are
 * no longer those of the published entry are not sent for it, but lead to a new snapshot (SRV-3).
 */
export class SkillDirectory {
  /** The SDK's view of the directory. */
  readonly source: SkillSource;
  readonly #extension: SkillsExtension;
  readonly #options: ScanOptions;
  readonly #pageSize: number;
  readonly #warn: (warning: ScanWarning) => void;
  readonly #servers = new Set<McpServer>();
  readonly #generations = new Map<number, Snapshot>();
  #generation = 0;
  #scanning: Promise<Snapshot> | undefined;

  private constructor(options: ScanOptions, { pageSize, ttlMs, onWarning }: ServeOptions) {
    this.#options = options;
    this.#pageSize = pageSize ?? 100;
    this.#warn = onWarning ?? (({ path, message }) => void process.stderr.write(`skillfs: ${path}: ${message}\n`));
    this.source = this.#source();
    this.#extension = new SkillsExtension({
      source: this.source,
      cacheHint: { ttlMs: ttlMs ?? 0, cacheScope: 'private' },
      onWarning: this.#warn,
    });
  }

  /** @throws what the file system gives when the directory cannot be read */
  static async open(directory: string, single: boolean, options: ServeOptions): Promise<SkillDirectory> {
    const { prefix = '', limits } = options;
    const opened = new SkillDirectory(
      {
        directory,
        prefix: prefix.replace(/^\/+|\/+$/g, ''),
        single,
        limits: { files: limits?.files ?? 512, bytes: limits?.bytes ?? 16 * 1024 * 1024, over: 'refuse' },
      },
      options,
    );
    await opened.#scan();
    return opened;
  }

  /** The entries that are published now. */
  get skills(): readonly Skill[] {
    return this.#current.skills;
  }

  attach(server: McpServer): void {
    this.#extension.attach(server);
    this.#servers.add(server);
    const closed = server.server.onclose;
    server.server.onclose = () => {
      this.#servers.delete(server);
      closed?.();
    };
  }

  get #current(): Snapshot {
    return this.#generations.get(this.#generation) as Snapshot;
  }

  #source(): SkillSource {
    return {
      list: async ({ cursor }) => {
        const [generation, start] = cursor === undefined ? await this.#firstPage() : this.#page(cursor);
        const skills = (this.#generations.get(generation) as Snapshot).skills;
        const end = start + this.#pageSize;
        return {
          skills: skills.slice(start, end),
          ...(end < skills.length && { nextCursor: `${generation}.${end}` }),
        };
      },
      get: async (uri) => (await this.#scan()).skills.find((skill) => skill.uri === uri),
      read: (uri) => this.#read(uri),
      readDirectory: async (uri) => childrenOf(await this.#scan(), uri),
      listResources: async () => (await this.#scan()).skills.map(resourceOf),
    };
  }

  async #firstPage(): Promise<readonly [number, number]> {
    await this.#scan();
    return [this.#generation, 0];
  }

  #page(cursor: string): readonly [number, number] {
    const [generation = Number.NaN, start = Number.NaN] = cursor.split('.').map(Number);
    if (!this.#generations.has(generation) || !Number.isSafeInteger(start) || start < 0) {
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `the cursor ${JSON.stringify(cursor)} is not valid any more`,
      );
    }
    return [generation, start];
  }

  async #read(uri: string): Promise<SkillReadResult | undefined> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const file = this.#current.files.get(uri) ?? (await this.#scan()).files.get(uri);
      if (file === undefined) return undefined;
      const bytes = await readFile(file.path).catch(() => undefined);
      if (bytes !== undefined && bytes.byteLength === file.size && digestOf(bytes) === file.digest) {
        return resultOf(uri, bytes);
      }
      await this.#scan();
    }
    throw new ProtocolError(ProtocolErrorCode.InternalError, `${uri} keeps changing while it is read; ask again`);
  }

  /** Looks at the directory again; whoever asks meanwhile shares the look. */
  #scan(): Promise<Snapshot> {
    this.#scanning ??= this.#rescan().finally(() => {
      this.#scanning = undefined;
    });
    return this.#scanning;
  }

  async #rescan(): Promise<Snapshot> {
    const before = this.#generations.get(this.#generation);
    let snapshot: Snapshot;
    try {
      snapshot = await scan(this.#options, before);
    } catch (error) {
      if (before === undefined) throw error;
      const message = error instanceof Error ? error.message : String(error);
      throw new ProtocolError(ProtocolErrorCode.InternalError, `the served directory cannot be read: ${message}`);
    }
    if (snapshot === before) return snapshot;
    this.#generations.set(++this.#generation, snapshot);
    this.#generations.delete(this.#generation - GENERATIONS);
    const told = new Set(before?.warnings.map(({ path, message }) => `${path}\n${message}`));
    for (const warning of snapshot.warnings) {
      if (!told.has(`${warning.path}\n${warning.message}`)) this.#warn(warning);
    }
    if (before !== undefined)
      for (const server of this.#servers) if (server.isConnected()) server.sendResourceListChanged();
    return snapshot;
  }
}

/** SKILL.md as text, and whatever else is UTF-8 without loss; all other bytes as they are. */
function resultOf(uri: string, bytes: Uint8Array): SkillReadResult {
  const mimeType = mimeTypeOf(uri);
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    if (!text.includes('\0')) return { text, mimeType: mimeType ?? 'text/plain' };
  } catch {
    // Not text.
  }
  return { bytes, mimeType: mimeType ?? 'application/octet-stream' };
}

/** SRV-2 */
function resourceOf({ uri, frontmatter }: Skill): Resource {
  return { uri, name: frontmatter.name, description: frontmatter.description, mimeType: 'text/markdown' };
}

function childrenOf(snapshot: Snapshot, uri: string): { resources: Resource[] } | undefined {
  const prefix = uri.endsWith('/') ? uri : `${uri}/`;
  const children = new Map<string, Resource>();
  for (const file of snapshot.files.values()) {
    if (!file.uri.startsWith(prefix)) continue;
    const [segment = '', ...deeper] = file.uri.slice(prefix.length).split('/');
    const child = prefix + segment;
    const name = decodeURIComponent(segment);
    if (deeper.length > 0) children.set(child, { uri: child, name, mimeType: DIRECTORY_MIME_TYPE });
    else
      children.set(child, {
        uri: child,
        name,
        size: file.size,
        mimeType: mimeTypeOf(child) ?? 'application/octet-stream',
      });
  }
  return children.size === 0 ? undefined : { resources: [...children.values()] };
}
