/** What is known of a path of one server, without asking it. */
export interface Provenance {
  /** The URI as the server spells it where the mount knows it, else the canonical one; absent for the server's own directory. */
  readonly uri?: string;
  /** The SKILL.md URI of the innermost skill that holds the path. */
  readonly skill?: string;
  /** Of a file: what its manifest lists; absent for what publishes none (VER-5). */
  readonly digest?: string;
  /** Of a file: of what a read gives, where that is known before one. It differs from `digest` where something is masked. */
  readonly servedDigest?: string;
  /** Of a file: whether what a read gives was checked against its manifest, before anything was masked. */
  readonly verified?: boolean;
  /**
   * Of a file: the frontmatter fields that a read does not show, and `` !`command` `` where command directives of the text do
   * not run (SEC-3); empty where all is shown. Absent where only a read will tell.
   */
  readonly masked?: readonly string[];
  /** Whether it may be read, as far as approvals go; absent where none is needed (SEC-6). */
  readonly approved?: boolean;
  /** When the listing that says so was fetched, milliseconds since the epoch. */
  readonly listedAt?: number;
}
