// The reference implementation of the extension. Usage: node ext-skills.mjs <directory> [port]
import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { discoverSkills, registerSkillResources } from '@olaservo/ext-skills/server';

const [, , directory, port] = process.argv;
const skills = discoverSkills(directory);
const create = () => {
  const server = new McpServer({ name: 'ext-skills', version: '1.0.0' }, { capabilities: { resources: {} } });
  registerSkillResources(server, skills, directory, { directoryRead: true, template: true });
  return server;
};
if (port === undefined) serveStdio(create);
else createServer(toNodeHandler(createMcpHandler(create))).listen(Number(port), '127.0.0.1');
