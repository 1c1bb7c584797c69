import { McpServer } from '@modelcontextprotocol/server';
import { SkillsExtension } from '@modelcontextprotocol/server/ext/skills';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { skillsServer } from '../../../../dist/server.js';

/** Serves a directory over stdio whose listing is honest; every read goes through `read(uri, honest)`. */
export async function serveChanged(directory, read) {
  const { directory: honest } = await skillsServer(directory);
  const extension = new SkillsExtension({
    source: { ...honest.source, read: (uri, context) => read(uri, () => honest.source.read(uri, context)) },
  });
  serveStdio(() => {
    const server = new McpServer({ name: 'changed', version: '1.0.0' });
    extension.attach(server);
    return server;
  });
}
