import { isFault } from '../base/fault.ts';
import type { Op } from '../base/op.ts';
import {
  expandTemplate,
  matchAbove,
  matchTemplate,
  type PathTemplate,
  type TemplateSegment,
  type Values,
} from '../catalog/template.ts';
import type { DirNode, SkillTree } from '../catalog/tree.ts';
import { fromTreePath, isUriProblem, type ParsedUri, parseSkillUri } from '../catalog/uri.ts';
import { ask, type ServerState } from './server-state.ts';

const SKILL_MD = 'SKILL.md';

/**
 * Skills that a server makes when they are asked for, by the templates of its listing (DRAFT-3). What stands for a variable
 * is a directory whose entries are the choices that the server offers; each is confirmed when it is looked into.
 */
export class TemplateChoices {
  readonly #state: ServerState;
  /** Choices by directory and template, and until when they are believed. */
  readonly #choices = new Map<string, { readonly names: readonly string[]; readonly until: number }>();

  constructor(state: ServerState) {
    this.#state = state;
  }

  /** The templates that skills are made from. */
  get #templates(): readonly PathTemplate[] {
    return this.#state.templates.filter(({ segments }) => {
      const last = segments.at(-1);
      return last !== undefined && 'literal' in last && last.literal === SKILL_MD;
    });
  }

  /** The SKILL.md URI of the skill that a template makes at `root`, as the template spells it. */
  skillMdAt(root: string): string | undefined {
    const parsed = parsedPath(`${root}/${SKILL_MD}`);
    if (parsed === undefined) return undefined;
    for (const template of this.#templates) {
      const values = matchTemplate(template, parsed);
      if (values !== undefined) return expandTemplate(template, values);
    }
    return undefined;
  }

  /** Whether a path is a directory above whatever a template makes. */
  isAbove(path: string): boolean {
    return this.#above(path).some(({ values }) => Object.keys(values).length === 0);
  }

  /** Learns the entries that templates give a directory that is no skill. */
  *learnInto(tree: SkillTree, dir: DirNode): Op<void> {
    for (const { template, values, next, last } of this.#above(dir.path)) {
      if (last) continue;
      const names = 'literal' in next ? [next.literal] : yield* this.#offered(template, values, next, dir);
      for (const name of names) {
        const path = dir.path === '' ? name : `${dir.path}/${name}`;
        const uri = fromTreePath(path);
        if (uri !== undefined) tree.learn(path, { uri, kind: 'directory' }, Math.trunc(this.#state.options.now()));
      }
    }
  }

  *#offered(template: PathTemplate, values: Values, next: TemplateSegment, dir: DirNode): Op<readonly string[]> {
    if ('literal' in next || next.many || this.#state.negotiated?.completes !== true) return [];
    const { now, missTtl, report } = this.#state.options;
    const key = `${dir.path}\n${template.uriTemplate}`;
    const known = this.#choices.get(key);
    if (known !== undefined && now() < known.until) return known.names;
    const { uriTemplate } = template;
    try {
      const { variable, prefix, suffix } = next;
      const question = { uriTemplate, variable, given: values };
      const completion = yield* ask({ kind: 'complete', label: this.#state.label, uri: uriTemplate, question });
      const names = completion.values.map((value) => prefix + value + suffix).filter(isName);
      this.#choices.set(key, { names, until: now() + missTtl });
      if (completion.more) {
        const message = `${uriTemplate} has more values of {${variable}} than the server offers at once`;
        report({ severity: 'info', code: 'partial', message });
      }
      return names;
    } catch (error) {
      if (!isFault(error)) throw error;
      // Choices are an offer: without them the directory shows what is known, and what is asked for by name is found.
      if (error.code !== 'EAGAIN') {
        report({ severity: 'warning', code: 'partial', message: error.message, uri: uriTemplate, cause: error });
      }
      return [];
    }
  }

  #above(path: string) {
    if (this.#templates.length === 0) return [];
    return this.#templates.flatMap((template) => {
      const segments = path === '' ? { scheme: template.scheme, segments: [] } : parsedPath(path);
      // Another scheme than skill:// has a directory of its own, below the server's.
      if (segments === undefined || (path === '' && template.scheme !== 'skill')) return [];
      const above = matchAbove(template, segments);
      return above === undefined ? [] : [{ template, ...above }];
    });
  }
}

function parsedPath(path: string): ParsedUri | undefined {
  const uri = fromTreePath(path);
  const parsed = uri === undefined ? undefined : parseSkillUri(uri);
  return parsed === undefined || isUriProblem(parsed) ? undefined : parsed;
}

function isName(name: string): boolean {
  return name !== '' && !/[/\\\0]/.test(name) && name !== '.' && name !== '..';
}
