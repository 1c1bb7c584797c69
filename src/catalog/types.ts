import type { SkillFrontmatter } from '@modelcontextprotocol/core/ext/skills';

export type { SkillFrontmatter };

/** One file of an array skill, as the server's manifest lists it (ENT-3). */
export interface ManifestFile {
  /** As the server spells it; the server is always asked with exactly this. */
  readonly uri: string;
  /** Bytes. */
  readonly size: number;
  /** `sha256:` and 64 lowercase hexadecimal digits. */
  readonly digest: string;
}

/** A skill entry that passed every check of {@link checkEntry}. */
export interface SkillEntry {
  /** The SKILL.md URI as the server spells it; where `source` is there, what it would be. */
  readonly uri: string;
  /** The skill's directory, as a path below the server's directory: `acme/billing/refunds`, `@repo/x/y`. */
  readonly root: string;
  /** Verbatim; where `compared` is there, only what the server's listing told of it. */
  readonly frontmatter: SkillFrontmatter;
  /** The fields of `frontmatter` that SKILL.md is held against, where they are not all of its own (DRAFT-2). */
  readonly compared?: readonly string[];
  /** What SKILL.md is read by, where the server has it under another URI than `uri` (DRAFT-4). */
  readonly source?: string;
  /** Complete (`array`), or not known ahead of reading (`dynamic`) (ENT-2). */
  readonly resources: readonly ManifestFile[] | 'dynamic';
  /** Sum of the listed sizes in bytes; 0 for a dynamic skill. */
  readonly bytes: number;
}

/** Why an entry was refused. Stable names, for programs; the message beside one is for people. */
export type RefusalReason =
  | 'not-an-object'
  | 'uri'
  | 'frontmatter'
  | 'name'
  | 'description'
  | 'resources'
  | 'digest'
  | 'size'
  | 'outside-root'
  | 'duplicate-file'
  | 'missing-skill-md'
  | 'file-and-directory'
  | 'same-path'
  | 'duplicate-entry'
  | 'conflicting-digest'
  | 'over-limit'
  | 'too-deep'
  | 'dynamic-denied';

/** An entry that was not loaded, and why (ENT-5). */
export interface Refusal {
  /** The entry's URI, where it had one. */
  readonly uri?: string;
  readonly reason: RefusalReason;
  /** A sentence that names what is wrong. */
  readonly message: string;
}

/** Bounds on what is accepted (LIM-1). */
export interface SkillLimits {
  /** Files per skill. Default 512. */
  readonly files: number;
  /** Bytes per skill. Default 16 MiB. */
  readonly bytes: number;
  /** `refuse` (default) leaves an over-limit skill out; `allow` loads it. Either way it is reported. */
  readonly over: 'refuse' | 'allow';
}
