import type { SkillFrontmatter } from '../catalog/types.ts';
import type { Origin, SkillInfo } from '../mount.ts';
import type { ChangeSource } from '../node/index.ts';
import type { Diagnostic } from '../vfs/diagnostics.ts';
import type { LocalLayer, ServerLayer } from '../vfs/union-fs.ts';

/** Where something local comes from. */
export interface LocalOrigin {
  readonly label?: undefined;
  /** Its path in the file system of its layer. */
  readonly local: string;
}

/** Where a path of a view comes from. */
export type ViewOrigin = Origin | LocalOrigin;

/** A skill of a local layer. */
export interface LocalSkill {
  readonly label?: undefined;
  /** The skill's directory in the view. */
  readonly path: string;
  /** The skill's directory in the file system of its layer. */
  readonly local: string;
  readonly name: string;
  readonly description: string;
  readonly frontmatter: SkillFrontmatter;
  readonly content: 'local';
}

/** A skill of a view. */
export type ViewSkill = SkillInfo | LocalSkill;

/** One of several that would have one name or path. */
export interface Claimant {
  readonly origin: ViewOrigin;
  /** Where the view shows it; absent where it is left out. */
  readonly path?: string;
}

/** What became of skills, or layers, that would have one name or path (SEC-5). */
export interface Collision {
  /** The name in a flat view; in a union, the path. */
  readonly name: string;
  /** Who has it; absent where whoever had it first is gone, because a name never passes to another origin. */
  readonly kept?: Claimant;
  readonly others: readonly Claimant[];
}

/** A layer of a union, and what it can tell. Paths are below its root; those of skills and collisions as if that were `/`. */
export type SourceLayer = (LocalLayer | ServerLayer) & {
  readonly changes: ChangeSource;
  originOf(path: string): ViewOrigin | undefined;
  skills(): readonly ViewSkill[];
  collisions(): readonly Collision[];
  onReplaced(listener: () => void): void;
  onDiagnostic(listener: (diagnostic: Diagnostic) => void): () => void;
};
