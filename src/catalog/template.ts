import { type ParsedUri, toTreePath } from './uri.ts';

/**
 * URI templates (RFC 6570) as patterns of paths (DRAFT-3).
 *
 * Matched segment by segment, so that a directory on the way can be matched too, and in time linear in the path, whatever
 * a server sends: of expressions, at most one stands in a segment, and at most one (`{+x}`, `{x*}`, `{/x*}`) for several.
 */
export interface PathTemplate {
  readonly uriTemplate: string;
  readonly scheme: string;
  readonly segments: readonly TemplateSegment[];
  /** Names of the variables, in order. */
  readonly variables: readonly string[];
}

export type TemplateSegment =
  /** Decoded, and as the template spells it. */
  | { readonly literal: string; readonly spelled: string }
  | { readonly variable: string; readonly prefix: string; readonly suffix: string; readonly many: false }
  /** One or more segments. */
  | { readonly variable: string; readonly many: true };

/** Values of variables by name; of one that stands for several segments with slashes between them. */
export type Values = Readonly<Record<string, string>>;

const TEMPLATE = /^([A-Za-z][A-Za-z0-9+.-]*):\/\/([^?#]*)$/;
const NAME = '[A-Za-z0-9_.]+';
/** Query variables at the end may be left out, and then say nothing of the path. */
const QUERY = /\{[?&#][^{}]*\}$/;
const MANY = new RegExp(String.raw`^\{(?:\+(${NAME})\*?|(${NAME})\*)\}$`);
const SLASHED = new RegExp(String.raw`\{/(${NAME})(\*?)\}`, 'g');
const ONE = new RegExp(String.raw`^([^{}]*)\{(${NAME})\}([^{}]*)$`);

/** Takes a template apart; `undefined` when it can stand for no path, or in a way that is not known here. */
export function parseTemplate(uriTemplate: string): PathTemplate | undefined {
  const plain = uriTemplate.replace(QUERY, '').replace(SLASHED, '/{$1$2}');
  const [, scheme, path] = TEMPLATE.exec(plain) ?? [];
  if (scheme === undefined || path === undefined) return undefined;
  const segments: TemplateSegment[] = [];
  for (const text of path.split('/')) {
    const segment = parseSegment(text);
    if (segment === undefined) return undefined;
    segments.push(segment);
  }
  const variables = segments.flatMap((segment) => ('variable' in segment ? [segment.variable] : []));
  const many = segments.filter((segment) => 'many' in segment && segment.many);
  if (variables.length === 0 || many.length > 1 || new Set(variables).size < variables.length) return undefined;
  return { uriTemplate, scheme, segments, variables };
}

function parseSegment(text: string): TemplateSegment | undefined {
  const [, plus, exploded] = MANY.exec(text) ?? [];
  const many = plus ?? exploded;
  if (many !== undefined) return { variable: many, many: true };
  const [, prefix, variable, suffix] = ONE.exec(text) ?? [];
  if (variable !== undefined && prefix !== undefined && suffix !== undefined) {
    const [before, after] = [decoded(prefix), decoded(suffix)];
    if (before === undefined || after === undefined) return undefined;
    return { variable, prefix: before, suffix: after, many: false };
  }
  const literal = /[{}]/.test(text) ? undefined : decoded(text);
  return literal === undefined || literal === '' ? undefined : { literal, spelled: text };
}

/** The values with which a template stands for a URI. */
export function matchTemplate(template: PathTemplate, { scheme, segments }: ParsedUri): Values | undefined {
  if (scheme !== template.scheme) return undefined;
  const values = noValues();
  const extra = segments.length - template.segments.length;
  let at = 0;
  for (const segment of template.segments) {
    const wide = 'many' in segment && segment.many;
    if (extra < 0 || (extra > 0 && !template.segments.some((one) => 'many' in one && one.many))) return undefined;
    const taken = segments.slice(at, at + 1 + (wide ? extra : 0));
    at += taken.length;
    if (!bind(segment, taken.join('/'), values)) return undefined;
  }
  return values;
}

/** The values that lead to a directory on the way to what a template stands for, and the segment that comes next. */
export function matchAbove(
  template: PathTemplate,
  { scheme, segments }: ParsedUri,
): { readonly values: Values; readonly next: TemplateSegment; readonly last: boolean } | undefined {
  const next = template.segments[segments.length];
  if (scheme !== template.scheme || next === undefined) return undefined;
  const values = noValues();
  for (const [index, text] of segments.entries()) {
    const segment = template.segments[index] as TemplateSegment;
    if (('many' in segment && segment.many) || !bind(segment, text, values)) return undefined;
  }
  return { values, next, last: segments.length === template.segments.length - 1 };
}

/** Without prototype: a variable may be called `__proto__`. */
function noValues(): Record<string, string> {
  return Object.create(null);
}

function bind(segment: TemplateSegment, text: string, values: Record<string, string>): boolean {
  if ('literal' in segment) return text === segment.literal;
  if (segment.many) {
    values[segment.variable] = text;
    return text !== '';
  }
  const { prefix, suffix, variable } = segment;
  if (text.length <= prefix.length + suffix.length || !text.startsWith(prefix) || !text.endsWith(suffix)) return false;
  values[variable] = text.slice(prefix.length, text.length - suffix.length);
  return true;
}

/** The URI that a template stands for with these values; each variable of the path must have one. */
export function expandTemplate({ scheme, segments }: PathTemplate, values: Values): string {
  const path = segments.map((segment) => {
    if ('literal' in segment) return segment.spelled;
    const value = values[segment.variable] ?? '';
    if (segment.many) return value.split('/').map(encodeURIComponent).join('/');
    return encodeURIComponent(segment.prefix + value + segment.suffix);
  });
  return `${scheme}://${path.join('/')}`;
}

/** What a template stands for, as a path below the server's directory with its variables in braces. */
export function pathPatternOf({ scheme, segments }: PathTemplate): string {
  const names = segments.map((segment) => {
    if ('literal' in segment) return segment.literal;
    return segment.many ? `{${segment.variable}…}` : `${segment.prefix}{${segment.variable}}${segment.suffix}`;
  });
  return toTreePath({ scheme, segments: names });
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
