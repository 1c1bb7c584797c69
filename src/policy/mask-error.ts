/** Why a SKILL.md cannot be masked. */
export type MaskProblem =
  /** The frontmatter cannot be read; the cause says why. */
  | 'frontmatter'
  /** A line end, document marker or directive that readers take differently, or two fields in one line. */
  | 'ambiguous-lines'
  /** A merge key, an alias for a key, or a key with an anchor or a tag. */
  | 'indirect-key'
  /** The key `__proto__`, which becomes every key of its value in some readers. */
  | 'prototype-key'
  /** A tag that readers resolve differently, or run. */
  | 'tag'
  /** Text inside another value that readers going by lines take for a masked field. */
  | 'hidden-field'
  /** A command directive inside a value of the frontmatter. */
  | 'directive-in-frontmatter'
  | 'too-many-directives'
  /** Nothing but masked fields. */
  | 'nothing-left'
  /** The masked file does not read as the original without the masked fields. */
  | 'not-exact';

/** A SKILL.md that cannot be masked with certainty, and so is not served. The message says where, why, and what to do. */
export class MaskError extends Error {
  override readonly name = 'MaskError';
  readonly problem: MaskProblem;
  /** Counted from 1 in the whole file. */
  readonly line: number | undefined;

  constructor(problem: MaskProblem, what: string, line?: number, cause?: unknown) {
    const where = line === undefined ? 'SKILL.md' : `SKILL.md line ${line}`;
    super(`${where} cannot be masked: ${what}`, cause === undefined ? undefined : { cause });
    this.problem = problem;
    this.line = line;
  }
}
