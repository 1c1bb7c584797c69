import { shortened } from '../base/quote.ts';

/** What happened, by a stable name for programs. */
export type DiagnosticCode =
  /** An entry was not loaded; the message says why. */
  | 'refused'
  /** An entry was loaded although something about it is off. */
  | 'warning'
  /** A listing is cut, and skills may be missing from it. */
  | 'partial'
  /** A listing failed; the last good one, if any, stays in use and is stale. */
  | 'list-failed'
  | 'unreachable'
  /** How a server speaks of skills is not what it declares, or not all of it is understood. */
  | 'dialect'
  /** The server does not speak of skills. */
  | 'no-skills'
  /** An entry changed on the server since it was listed. */
  | 'changed'
  /** Content was not what its entry says, and was not used. */
  | 'verification'
  /** A skill that no listing names was confirmed by the server. */
  | 'unlisted-skill'
  /** The file of approvals changed, and cannot be used; what it said before stays in use. */
  | 'approvals'
  /** Views leave a skill out, because its SKILL.md cannot be served. */
  | 'hidden'
  /** Skills of one name, or layers that have one path; the message says which of them is shown where. */
  | 'collision'
  /** Something about a local directory is off; it is used as far as it can be. */
  | 'local'
  /** The cache on disk held something that was not put there, which was dropped, or cannot be used. */
  | 'cache'
  /** The shared store had something that was not put there, which was dropped, or cannot be used at the moment. */
  | 'shared';

/** Something a person who runs the mount should be able to see. Nothing is reported only here: a failing call fails too. */
export interface Diagnostic {
  readonly severity: 'info' | 'warning' | 'error';
  readonly code: DiagnosticCode;
  /** The server's label; absent where it is not about a server. */
  readonly label?: string;
  readonly message: string;
  readonly uri?: string;
  readonly cause?: unknown;
}

/** Hands each diagnostic to everybody who listens. */
export class Diagnostics {
  readonly #listeners = new Set<(diagnostic: Diagnostic) => void>();

  /** @returns a function that ends the subscription */
  on(listener: (diagnostic: Diagnostic) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  emit(diagnostic: Diagnostic): void {
    const told = { ...diagnostic, message: shortened(diagnostic.message, 2_000) };
    for (const listener of this.#listeners) listener(told);
  }
}
