import { RESOURCE_LIMITS, TEMPLATES } from '../base/limits.ts';
import { record, unknownAsUndefined } from './answers.ts';
import { type CallOptions, call, type McpClient } from './client.ts';
import type { ResourceTemplate } from './dialect.ts';
import { walkPages } from './dialects/paging.ts';
import { MalformedResult } from './wire-errors.ts';

/** A question for the values that a variable of a template can have (DRAFT-3). */
export interface CompletionQuestion {
  readonly uriTemplate: string;
  readonly variable: string;
  /** Values of other variables. */
  readonly given: Readonly<Record<string, string>>;
}

export interface Completion {
  readonly values: readonly string[];
  /** Whether there are more than a server gives at once. */
  readonly more: boolean;
}

/** Values that are taken from one completion at most; the protocol has servers give no more. */
const VALUES = 100;

/** Whether the server answers `completion/complete`. */
export function completes(client: McpClient): boolean {
  return record(record(client.getServerCapabilities())?.['completions']) !== undefined;
}

/** What `resources/templates/list` names; nothing where the server has no such method. */
export async function listTemplates(client: McpClient, options: CallOptions): Promise<readonly ResourceTemplate[]> {
  const walk = walkPages({
    fetch: async (cursor) => {
      const params = cursor === undefined ? {} : { cursor };
      const page = record(await call(client, 'resources/templates/list', params, options));
      if (!Array.isArray(page?.['resourceTemplates'])) {
        throw new MalformedResult('resources/templates/list answered without a resourceTemplates array');
      }
      return { items: page['resourceTemplates'] as readonly unknown[], nextCursor: page['nextCursor'] };
    },
    keyOf: (template) => record(template)?.['uriTemplate'],
    pages: RESOURCE_LIMITS.pages,
    items: TEMPLATES,
    ms: options.timeout,
  });
  const walked = await unknownAsUndefined(walk);
  return (walked?.items ?? []).flatMap((item): ResourceTemplate[] => {
    const { uriTemplate, description } = record(item) ?? {};
    if (typeof uriTemplate !== 'string') return [];
    return [{ uriTemplate, ...(typeof description === 'string' && { description }) }];
  });
}

/** The values that a variable can have, as far as the server gives them; none where it knows of none. */
export async function complete(
  client: McpClient,
  { uriTemplate, variable, given }: CompletionQuestion,
  options: CallOptions,
): Promise<Completion> {
  const params = {
    ref: { type: 'ref/resource', uri: uriTemplate },
    argument: { name: variable, value: '' },
    ...(Object.keys(given).length > 0 && { context: { arguments: given } }),
  };
  const result = await unknownAsUndefined(call(client, 'completion/complete', params, options));
  if (result === undefined) return { values: [], more: false };
  const completion = record(record(result)?.['completion']);
  const values = completion?.['values'];
  if (!Array.isArray(values)) throw new MalformedResult('completion/complete answered without values');
  const texts = values.filter((value): value is string => typeof value === 'string');
  return { values: texts.slice(0, VALUES), more: completion?.['hasMore'] === true || texts.length > VALUES };
}
