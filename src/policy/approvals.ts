import { statSync } from 'node:fs';
import { homedir } from 'node:os';
import type { SkillEntry } from '../catalog/types.ts';
import { isUriProblem, skillRootOf } from '../catalog/uri.ts';
import { formatRecords, keyOf, parseRecords, type Records, type SkillRecord } from './approvals-format.ts';
import { filesOf } from './approved-set.ts';
import { withLock } from './file-lock.ts';
import { approvalsFile } from './place.ts';
import { makePlace, readPrivate, writePrivate } from './private-file.ts';

/** A file of approvals that cannot be used, or written. The message names it. */
export class ApprovalsError extends Error {
  override readonly name = 'ApprovalsError';
  readonly code = 'ERR_SKILLFS_APPROVALS';
  readonly file: string;

  constructor(file: string, problem: string, cause?: unknown) {
    super(`the file of approvals ${file} ${problem}`, { cause });
    this.file = file;
  }
}

/** A skill, by its server's label and the URI of its SKILL.md (MAP-5). */
export interface SkillIdentity {
  readonly label: string;
  readonly uri: string;
}

/**
 * What a user decided about skills, in one file that only the user can write. Any number of processes may use it: it is changed by
 * one at a time, in one step, and read as a whole (SEC-6).
 */
export class Approvals {
  /** Absolute. */
  readonly file: string;
  #records: Records;
  #version: string;

  /**
   * @param file the user's own, unless given
   * @throws ApprovalsError when it is there and cannot be used: what users decided must not get lost silently
   */
  constructor(file: string = approvalsFile({ platform: process.platform, env: process.env, home: homedir() })) {
    this.file = file;
    this.#version = versionOf(file);
    this.#records = this.#read();
  }

  records(): readonly SkillRecord[] {
    return [...this.#records.values()];
  }

  /** @param root the skill's directory, as a path below the server's */
  recordAt(label: string, root: string): SkillRecord | undefined {
    return this.#records.get(keyOf(label, root));
  }

  /**
   * Reads the file again if another process has changed it.
   *
   * @returns whether anything may be different
   * @throws ApprovalsError, once for each change; what was read before stays in use
   */
  refresh(): boolean {
    const version = versionOf(this.file);
    if (version === this.#version) return false;
    this.#version = version;
    this.#records = this.#read();
    return true;
  }

  /**
   * Approves all files that an entry lists now, and nothing else; a no from before is taken back.
   *
   * @param granted whether what the skill grants or runs takes effect
   * @throws TypeError for a dynamic skill, whose files nothing identifies; ApprovalsError
   */
  approve(label: string, entry: Pick<SkillEntry, 'uri' | 'resources'>, granted = false): void {
    const files = filesOf(entry);
    if (files === undefined) throw new TypeError(`${entry.uri} is dynamic: nothing identifies what would be approved`);
    const at = new Date().toISOString();
    this.#change({ label, uri: entry.uri }, ({ denied: _, ...before }) => ({
      ...before,
      uri: entry.uri,
      approval: { at, files, ...(granted && { granted }) },
    }));
  }

  /** Takes an approval back, and leaves the skill out whatever is in it. @throws ApprovalsError */
  deny(skill: SkillIdentity): void {
    this.#change(skill, ({ approval: _, ...before }) => ({ ...before, denied: true }));
  }

  /** Leaves a skill out for now. @throws ApprovalsError */
  disable(skill: SkillIdentity): void {
    this.#change(skill, (before) => ({ ...before, disabled: true }));
  }

  /** @throws ApprovalsError */
  enable(skill: SkillIdentity): void {
    this.#change(skill, ({ disabled: _, ...before }) => before);
  }

  #change({ label, uri }: SkillIdentity, change: (before: SkillRecord) => SkillRecord): void {
    const root = skillRootOf(uri);
    if (isUriProblem(root)) throw new TypeError(root.problem);
    const key = keyOf(label, root.treePath);
    try {
      makePlace(this.file);
      withLock(this.file, (isHeld) => {
        const records = new Map(this.#read());
        const { label: _, uri: __, ...decided } = change(records.get(key) ?? { label, uri });
        if (Object.keys(decided).length === 0) records.delete(key);
        else records.set(key, { label, uri, ...decided });
        writePrivate(this.file, formatRecords(records), isHeld);
        this.#records = records;
        this.#version = versionOf(this.file);
      });
    } catch (error) {
      if (error instanceof ApprovalsError) throw error;
      throw new ApprovalsError(this.file, `was not changed: ${(error as Error).message}`, error);
    }
  }

  #read(): Records {
    try {
      const text = readPrivate(this.file);
      return text === undefined ? new Map() : parseRecords(text);
    } catch (error) {
      throw new ApprovalsError(this.file, `cannot be used: it ${(error as Error).message}`, error);
    }
  }
}

/** Differs when the file is another one: it is never changed in place. */
function versionOf(file: string): string {
  try {
    const { ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true });
    return `${ino} ${size} ${mtimeNs} ${ctimeNs}`;
  } catch {
    // What is wrong with it is told by whoever reads it.
    return 'none';
  }
}
