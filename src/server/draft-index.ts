import type { Skill } from '@modelcontextprotocol/core/ext/skills';
import type { McpServer } from '@modelcontextprotocol/server';

const INDEX = 'skill://index.json';
const SCHEMA = 'https://schemas.agentskills.io/discovery/0.2.0/schema.json';

/** Serves the earlier draft's index of the skills that there are when it is read (SRV-4, DRAFT-1). */
export function publishIndex(server: McpServer, skills: () => Promise<readonly Skill[]>): void {
  const about = { mimeType: 'application/json', description: 'The skills of this server' };
  server.registerResource('index.json', INDEX, about, async () => {
    const entries = (await skills()).map(({ uri, frontmatter: { name, description } }) => ({
      type: 'skill-md',
      name,
      description,
      url: uri,
    }));
    const text = JSON.stringify({ $schema: SCHEMA, skills: entries });
    return { contents: [{ uri: INDEX, mimeType: 'application/json', text }] };
  });
}
