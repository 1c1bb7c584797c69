import type { Op } from '../base/op.ts';
import type { SkillTree } from '../catalog/tree.ts';
import type { PolicyFault } from './guard.ts';
import type { ReadFs } from './read-fs.ts';
import type { ServerState } from './server-state.ts';

/** The skills of one server, as views are made of them. Paths are below the server's directory, which is `''`. */
export interface SkillSource extends ReadFs {
  readonly state: ServerState;
  /** The tree there is to show; the first access connects and lists. Absent where the server has never been reached. */
  shown(): Op<SkillTree | undefined>;
  /** Whether the skill rooted at `root` is left out of listings for now. */
  hides(root: string): boolean;
  /** Why a path is denied or disabled by the user, and in no listing. */
  denialAt(path: string): PolicyFault | undefined;
}
