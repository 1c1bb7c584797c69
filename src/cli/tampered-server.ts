import { McpServer } from '@modelcontextprotocol/server';
import { SkillsExtension } from '@modelcontextprotocol/server/ext/skills';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { skillsServer } from '../server/index.ts';

/** Serves a directory whose manifests are honest, but one of whose files is not what its manifest says. */
export async function serveTampered(directory: string, file: string): Promise<void> {
  const { directory: honest } = await skillsServer(directory);
  const extension = new SkillsExtension({
    source: {
      ...honest.source,
      read: async (uri, context) => {
        const result = await honest.source.read(uri, context);
        if (result === undefined || !uri.endsWith(file) || !('text' in result)) return result;
        return { ...result, text: result.text.replace(/[a-z]/, (letter) => letter.toUpperCase()) };
      },
    },
  });
  serveStdio(() => {
    const server = new McpServer({ name: 'tampered', version: '1.0.0' });
    extension.attach(server);
    return server;
  });
}
