import type { DialectFactory } from '../dialect.ts';
import { indexJsonDialect } from './index-json.ts';
import { manifestDialect } from './manifest.ts';
import { resourcesDialect } from './resources.ts';

/** Its names are the SDK's, which is loaded for the first server that is connected to. */
const skillsDialect: DialectFactory = async (client) => (await import('./skills.ts')).skillsDialect(client);

/**
 * The dialects that are tried, in order of preference: the first one that a server speaks is used.
 *
 * @param probe whether skills are also guessed among the resources of servers that say nothing of skills
 */
export function dialectsTried(probe: boolean): readonly DialectFactory[] {
  return [skillsDialect, indexJsonDialect, manifestDialect, ...(probe ? [resourcesDialect] : [])];
}
