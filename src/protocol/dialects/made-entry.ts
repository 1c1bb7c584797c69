import type { CallOptions, McpClient } from '../client.ts';
import type { MadeEntry } from '../dialect.ts';
import { type ListedResource, readResource } from '../resources.ts';

const SKILL_MD = '/SKILL.md';
/** Stands for a description that nobody gave. */
const NO_DESCRIPTION = 'The server lists no description of this skill; its SKILL.md has one.';

/**
 * The entry of a skill whose SKILL.md is a resource. Its name is that of its directory. The resource's description was made
 * from SKILL.md by rules of the server's own, and is shown, but not held against it.
 */
export function entryOf({ uri, description }: ListedResource, resources: unknown): MadeEntry {
  const root = uri.slice(0, -SKILL_MD.length);
  const name = root.slice(root.lastIndexOf('/') + 1);
  return { uri, frontmatter: { name, description: description || NO_DESCRIPTION }, resources, compared: ['name'] };
}

/** The entry of a SKILL.md that no listing names, if it can be read. */
export async function unlistedEntry(
  client: McpClient,
  uri: string,
  options: CallOptions,
): Promise<MadeEntry | undefined> {
  const found = await readResource(client, uri, options);
  return found === undefined ? undefined : entryOf({ uri }, 'dynamic');
}
