// The host under test of the official suite's client scenarios: a mount, looked at and read through fs alone.
// The suite appends the server's URL to the command, and names the scenario in the environment.
import { mount } from '../../dist/index.js';

const url = process.argv.at(-1);
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? '';
const mounted = mount({ servers: { suite: { url } } });
const { promises } = mounted;

await mounted.ready();
for (const entry of await promises.readdir('/mcp/suite', { recursive: true, withFileTypes: true })) {
  await promises.stat(`${entry.parentPath}/${entry.name}`);
}

if (scenario !== 'sep-2640-client-no-prefetch') {
  for (const { path } of mounted.skills()) {
    try {
      await promises.readFile(`${path}/SKILL.md`, 'utf8');
      await promises.readFile(`${path}/references/FORMS.md`, 'utf8');
    } catch (error) {
      console.error(`${error.code}: ${error.message}`);
    }
  }
}
await mounted.close();
