import { Fault, isFault } from '../base/fault.ts';
import type { Op } from '../base/op.ts';
import type { SkillNode, SkillTree } from '../catalog/tree.ts';
import { PolicyFault } from './guard.ts';
import type { Content, DirEntry, Stat } from './read-fs.ts';
import type { ServerState } from './server-state.ts';
import type { SkillFs } from './skill-fs.ts';
import type { SkillSource } from './skill-source.ts';

/** Something that is there but cannot be served, and reads as not there. No other layer's takes its place. */
export class HiddenFault extends Fault {
  constructor(cause: Fault) {
    super('ENOENT', { cause });
  }
}

interface Hidden {
  /** The revision that could not be served; another one may be. */
  readonly skill: SkillNode;
  readonly fault: Fault;
  /** Milliseconds since the epoch. */
  readonly until: number;
}

/**
 * One server as views show it: harmless to a loader that scans. Most loaders lose all skills, local ones too, on any error
 * but ENOENT. So a server that cannot be reached shows its last good tree or nothing, and a skill whose SKILL.md cannot be
 * served reads as ENOENT with the true error as its cause, and is left out of listings until it may have recovered.
 */
export class HarmlessFs implements SkillSource {
  readonly state: ServerState;
  readonly #server: SkillFs;
  readonly #hidden = new Map<string, Hidden>();
  /** Set when a request found the server hanging or gone: until then, nobody waits for it again. */
  #down: { readonly fault: Fault; readonly until: number } | undefined;

  constructor(server: SkillFs) {
    this.#server = server;
    this.state = server.state;
  }

  shown(): Op<SkillTree | undefined> {
    return this.state.shown();
  }

  hides(root: string): boolean {
    return this.#hidden.size > 0 && this.#hiddenBy(root) !== undefined;
  }

  denialAt(path: string): PolicyFault | undefined {
    return this.#server.denialAt(path);
  }

  *stat(path: string): Op<Stat> {
    yield* this.#expectShown(path);
    try {
      return yield* this.#patiently(this.#server.stat(path));
    } catch (error) {
      throw harmless(error);
    }
  }

  *readdir(path: string): Op<readonly DirEntry[]> {
    yield* this.#expectShown(path);
    try {
      const entries = yield* this.#patiently(this.#server.readdir(path));
      if (this.#hidden.size === 0) return entries;
      const prefix = path === '' ? '' : `${path}/`;
      return entries.filter(({ name }) => !this.hides(prefix + name));
    } catch (error) {
      const shown = harmless(error);
      // The server's own directory is there, whatever is the matter with the server.
      if (path === '' && isFault(shown) && shown.code === 'ENOENT') return [];
      throw shown;
    }
  }

  *read(path: string): Op<Content> {
    yield* this.#expectShown(path);
    try {
      return yield* this.#patiently(this.#server.read(path));
    } catch (error) {
      const node = this.#server.peek(path);
      if (node === undefined) throw harmless(error);
      if (node.kind === 'directory' || !isFailure(error)) throw error;
      const isSkillMd = path === `${node.skill.entry.root}/SKILL.md`;
      // What a scan takes for a SKILL.md, or what only a synchronous call may not read, costs nothing else.
      if (isSkillMd ? reasonOf(error) === 'unasked' : reasonOf(error) === 'unmaskable') throw new HiddenFault(error);
      if (!isSkillMd) throw error;
      throw this.#hide(node.skill, error);
    }
  }

  /** @throws `Fault` ENOENT with its cause for what is not shown now */
  *#expectShown(path: string): Op<void> {
    const tree = this.state.settled ?? (yield* this.state.shown());
    if (tree === undefined && path !== '') throw new Fault('ENOENT', { cause: this.state.lastError });
    const hidden = this.#hidden.size === 0 ? undefined : this.#hiddenBy(path);
    if (hidden !== undefined) throw new HiddenFault(hidden.fault);
  }

  #hiddenBy(path: string): Hidden | undefined {
    for (const [root, hidden] of this.#hidden) {
      const over =
        this.state.options.now() >= hidden.until ||
        this.state.tree?.skillAt(root) !== hidden.skill ||
        (reasonOf(hidden.fault) === 'unapproved' && this.#server.isReadable(hidden.skill));
      if (over) this.#hidden.delete(root);
      else if (path === root || path.startsWith(`${root}/`)) return hidden;
    }
    return undefined;
  }

  #hide(skill: SkillNode, fault: Fault): Fault {
    const { now, retryAfter, report } = this.state.options;
    const { root, uri } = skill.entry;
    this.#hidden.set(root, { skill, fault, until: now() + retryAfter });
    const message = `${uri} is left out of views, because it cannot be served: ${fault.detail ?? fault.code}`;
    report({ severity: 'error', code: 'hidden', message, uri, cause: fault });
    return new HiddenFault(fault);
  }

  /** Runs an operation; a server that was found hanging or gone a moment ago is not asked. */
  *#patiently<T>(op: Op<T>): Op<T> {
    let step = op.next();
    while (!step.done) {
      const { now, retryAfter } = this.state.options;
      if (this.#down !== undefined && now() < this.#down.until) {
        step = op.throw(this.#down.fault);
        continue;
      }
      let answer: unknown;
      try {
        answer = yield step.value;
        this.#down = undefined;
      } catch (error) {
        if (isFault(error) && (error.code === 'ETIMEDOUT' || error.code === 'EHOSTUNREACH')) {
          this.#down = { fault: error, until: now() + retryAfter };
        }
        step = op.throw(error);
        continue;
      }
      step = op.next(answer);
    }
    return step.value;
  }
}

/** Whether an error tells of something other than what the tree looks like, the user denied, or this thread may do. */
function isFailure(error: unknown): error is Fault {
  return (
    isFault(error) && !['ENOENT', 'ENOTDIR', 'EISDIR', 'EAGAIN'].includes(error.code) && reasonOf(error) !== 'denied'
  );
}

function reasonOf(error: Fault): PolicyFault['reason'] | undefined {
  return error instanceof PolicyFault ? error.reason : undefined;
}

/** A failure as absence, with the failure as its cause. */
function harmless(error: unknown): unknown {
  return isFailure(error) ? new Fault('ENOENT', { cause: error }) : error;
}
