// A hand-written server of SDK 1.x, from before the extension. Usage: node resource-server.mjs index-json|bare
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';

const [, , shape] = process.argv;
const server = new McpServer({ name: shape, version: '1.0.0' });
const skillMd = (name, description) => `---\nname: ${name}\ndescription: ${description}\n---\n\n# ${name}\n`;
const contents = (uri, text) => ({ contents: [{ uri, mimeType: 'text/markdown', text }] });
const publish = (uri, text, about = {}) =>
  server.registerResource(uri, uri, { mimeType: 'text/markdown', ...about }, () => contents(uri, text));

if (shape === 'index-json') {
  publish('skill://acme/refunds/SKILL.md', skillMd('refunds', 'Pays back'));
  publish('skill://acme/refunds/references/policy.md', 'Within 30 days.\n');
  const products = ['react', 'vue'];
  const template = new ResourceTemplate('skill://docs/{product}/SKILL.md', {
    list: undefined,
    complete: { product: (value) => products.filter((product) => product.startsWith(value)) },
  });
  server.registerResource('docs', template, {}, (uri, { product }) => {
    if (!products.includes(product)) throw new Error(`no product ${product}`);
    return contents(uri.href, skillMd(product, `How to use ${product}`));
  });
  const skills = [
    { type: 'skill-md', name: 'refunds', description: 'Pays back', url: 'skill://acme/refunds/SKILL.md' },
    { type: 'mcp-resource-template', description: 'Products', url: 'skill://docs/{product}/SKILL.md' },
  ];
  publish('skill://index.json', JSON.stringify({ skills }), { mimeType: 'application/json' });
} else {
  publish('skill://git-workflow', skillMd('git-workflow', 'How this team uses Git'));
  publish('skill://nimble/code-review', skillMd('code-review', 'Reviews'), { description: 'Reviews changes' });
  publish('note://today', 'Rain\n');
}
await server.connect(new StdioServerTransport());
