import { Fault, type FaultOptions } from '../base/fault.ts';
import type { Op } from '../base/op.ts';
import type { SkillNode } from '../catalog/tree.ts';

/** Why the user's policy does not let something be read. */
export type PolicyReason =
  /** Denied or disabled: it is in no listing either. */
  | 'denied'
  /** Not approved, or changed since it was. */
  | 'unapproved'
  /** To be asked for by a callback, for which a synchronous call cannot wait; an asynchronous one would. */
  | 'unasked'
  /** What grants or runs something in it cannot be masked with certainty. */
  | 'unmaskable';

/** EACCES by the user's policy, not by a server or a disk. */
export class PolicyFault extends Fault {
  readonly reason: PolicyReason;

  constructor(reason: PolicyReason, options: FaultOptions) {
    super('EACCES', options);
    this.reason = reason;
  }
}

/** A file whose content is about to be given out. */
export interface GuardedFile {
  /** Below the server's directory. */
  readonly path: string;
  readonly uri: string;
  /** The innermost skill that holds it; absent for what is no skill's. */
  readonly skill?: SkillNode;
}

/** What was changed in a file on its way out. */
export interface Masked {
  /** As many as there were. */
  readonly bytes: Uint8Array;
  /** Of `bytes`: `sha256:` and hexadecimal digits. */
  readonly digest: string;
  /** Names of the fields that were masked, and {@link DIRECTIVE} where a command directive was. */
  readonly fields: readonly string[];
}

/** Stands for masked command directives among the names of masked fields. */
export const DIRECTIVE = '!`command`';

/** What the user's policy says of one server's skills. Paths are below the server's directory. */
export interface Guard {
  /** Whether there is anything that {@link denialAt} tells of. */
  hasDenials(): boolean;
  /** Why a path is denied or disabled: as a skill, or as something in one. */
  denialAt(path: string): PolicyFault | undefined;
  /**
   * What has to happen before files of a skill are read; `undefined` where nothing has to. The operation throws a
   * {@link PolicyFault} when the answer is no.
   */
  admission(skill: SkillNode): Op<void> | undefined;
  /** Whether a skill is approved; `undefined` where it needs no approval. */
  isApproved(skill: SkillNode): boolean | undefined;
  /**
   * What is given out instead of verified content; `undefined` where that is given out as it is (SEC-3).
   *
   * @throws PolicyFault `unmaskable`
   */
  mask(file: GuardedFile, bytes: Uint8Array): Masked | undefined;
  /** Whether what a file grants or runs is masked, as far as its name and the user's grants tell. */
  masks(file: GuardedFile): boolean;
}
