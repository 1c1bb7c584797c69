import { Fault } from '../base/fault.ts';
import type { Op } from '../base/op.ts';
import { quoted } from '../base/quote.ts';
import { frontmatterDifferences } from '../catalog/equivalence.ts';
import { FrontmatterError, readFrontmatter } from '../catalog/frontmatter.ts';
import type { FileNode, SkillNode } from '../catalog/tree.ts';
import type { SkillEntry } from '../catalog/types.ts';
import type { BlobStore } from '../content/blob-store.ts';
import { digestOf, VerificationError, type VerificationReason } from '../content/verify.ts';
import { ask, type ServerState } from './server-state.ts';

/** What is known of a file of a dynamic skill once it was fetched. */
interface Fetched {
  /** Bytes. */
  readonly size: number;
  readonly digest: string;
}

/**
 * The contents of one server's files: fetched when read, checked before they are given out, and kept in memory and, where
 * there is a cache, for the next start. Content without digest is never kept longer than the mount.
 */
export class SkillContents {
  readonly #state: ServerState;
  readonly #store: BlobStore;
  /** Entries whose SKILL.md was found to say the same. */
  readonly #matching = new WeakSet<SkillEntry>();
  readonly #fetched = new WeakMap<SkillNode, Map<string, Fetched>>();

  constructor(state: ServerState, store: BlobStore) {
    this.#state = state;
    this.#store = store;
  }

  /**
   * A file's content, as its entry has it.
   *
   * @throws `Fault` EIO with a `VerificationError` as its cause when it is something else (VER-1, VER-4)
   */
  *read(file: FileNode): Op<Uint8Array> {
    const { skill, listed } = file;
    const key = this.#keyOf(file);
    let bytes = this.#store.get(key);
    // Another entry may list these bytes with another size.
    if (listed !== undefined && bytes?.byteLength !== listed.size) bytes = undefined;
    const cache = listed && this.#state.options.cache;
    bytes ??= listed && cache?.get(listed);
    const fetched = bytes === undefined;
    bytes ??= yield* this.#fetch(file);
    try {
      if (isSkillMd(file)) this.#matchFrontmatter(skill.entry, bytes);
    } catch (error) {
      this.#store.delete(key);
      if (listed !== undefined) cache?.delete(listed.digest);
      throw error;
    }
    this.#store.put(key, bytes);
    if (fetched && listed !== undefined) cache?.put(listed.digest, bytes);
    return bytes;
  }

  /** What was fetched of a file without manifest. */
  fetched({ skill, uri }: FileNode): Fetched | undefined {
    return this.#fetched.get(skill)?.get(uri);
  }

  /**
   * Keeps what was fetched of a dynamic skill.
   *
   * @throws `Fault` EFBIG when it is more than the limits allow: they count what was really fetched (LIM-1)
   */
  keep(skill: SkillNode, uri: string, bytes: Uint8Array): void {
    const files = this.#fetched.get(skill) ?? new Map<string, Fetched>();
    this.#fetched.set(skill, files);
    files.set(uri, { size: bytes.byteLength, digest: digestOf(bytes) });
    const { limits, label } = this.#state.options;
    const total = [...files.values()].reduce((sum, { size }) => sum + size, 0);
    if (limits.over === 'refuse' && (total > limits.bytes || files.size > limits.files)) {
      const detail =
        `server "${label}": the dynamic skill ${skill.entry.uri} is over the limits with ${uri} ` +
        `(${files.size} files of ${limits.files}, ${total} bytes of ${limits.bytes})`;
      files.delete(uri);
      throw new Fault('EFBIG', { detail });
    }
    this.#store.put(dynamicKey(label, skill, uri), bytes);
  }

  *#fetch(file: FileNode): Op<Uint8Array> {
    const { skill, listed, uri } = file;
    const expected = listed && { expected: { size: listed.size, digest: listed.digest } };
    const bytes = yield* ask({ kind: 'blob', label: this.#state.label, uri, ...expected });
    if (bytes === undefined) {
      // Of what was never promised, the server may say at any time that it is not there.
      if (listed === undefined && !isSkillMd(file)) throw new Fault('ENOENT');
      throw this.#unverified('gone', uri, `${uri} is listed, but the server does not have it`);
    }
    if (listed === undefined) this.keep(skill, uri, bytes);
    return bytes;
  }

  #keyOf({ skill, listed, uri }: FileNode): string {
    const { label } = this.#state;
    return listed === undefined ? dynamicKey(label, skill, uri) : `${label}\n${listed.digest}`;
  }

  /** VER-4: what SKILL.md says of itself is what its entry says, field by field. */
  #matchFrontmatter(entry: SkillEntry, bytes: Uint8Array): void {
    if (this.#matching.has(entry)) return;
    try {
      const differences = frontmatterDifferences(entry.frontmatter, readFrontmatter(bytes));
      const difference = differences.find(({ field }) => entry.compared?.includes(field) ?? true);
      if (difference !== undefined) {
        const { field, entry: listed, file } = difference;
        const message = `${entry.uri}: frontmatter field ${field} is ${show(file)} in the file and ${show(listed)} in the entry`;
        throw this.#unverified('frontmatter', entry.uri, message);
      }
    } catch (error: unknown) {
      if (!(error instanceof FrontmatterError)) throw error;
      throw this.#unverified('frontmatter', entry.uri, `${entry.uri}: ${error.message}`, error);
    }
    if (entry.resources !== 'dynamic') this.#matching.add(entry);
  }

  #unverified(reason: VerificationReason, uri: string, message: string, cause?: unknown): Fault {
    const error = new VerificationError(reason, uri, message, cause === undefined ? undefined : { cause });
    return new Fault('EIO', { detail: `server "${this.#state.label}": ${message}`, cause: error });
  }
}

function dynamicKey(label: string, skill: SkillNode, uri: string): string {
  return `${label}\ndynamic ${skill.since}\n${uri}`;
}

/** Whether a file is the SKILL.md that its skill is known by. */
function isSkillMd({ skill, path }: FileNode): boolean {
  return path === `${skill.entry.root}/SKILL.md`;
}

function show(value: unknown): string {
  return value === undefined ? 'missing' : quoted(value);
}
