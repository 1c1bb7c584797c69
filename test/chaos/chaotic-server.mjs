// A 2025-era stdio server that misbehaves. Usage: node chaotic-server.mjs <seed> <file that holds the version, and whether it is calm>
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { contentOf, entryOf, randomFrom, skillOf, skillsAt } from './content.mjs';

const [, , seed, stateFile] = process.argv;
const random = randomFrom(Number(seed) + process.pid);
const state = () => JSON.parse(readFileSync(stateFile, 'utf8'));
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

function answer(method, { uri, protocolVersion }, lies) {
  const { version } = state();
  switch (method) {
    case 'initialize': {
      const capabilities = { resources: { listChanged: true }, extensions: { 'io.modelcontextprotocol/skills': {} } };
      return { protocolVersion, capabilities, serverInfo: { name: 'chaos', version: '1' } };
    }
    case 'skills/list':
      return { skills: skillsAt(version).map((skill) => entryOf(skill, version)) };
    case 'skills/get': {
      const skill = skillOf(uri, version);
      return skill && { skill: entryOf(skill, version) };
    }
    case 'resources/read':
      return (
        skillOf(uri, version) && { contents: [{ uri, text: contentOf(uri, version) + (lies ? 'and a lie' : '') }] }
      );
  }
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) return;
  const dice = state().calm || method === 'initialize' ? 1 : random();
  if (dice < 0.01) process.exit(1);
  if (dice < 0.02) return;
  if (dice < 0.05) return send({ id, error: { code: -32603, message: 'something broke' } });
  if (dice < 0.08) return process.stdout.write('this is no JSON\n') && send({ id, result: { contents: 'all wrong' } });
  if (method === 'server/discover') return send({ id, error: { code: -32601, message: 'Method not found' } });
  const result = answer(method, params, dice < 0.12);
  const reply = () => send(result ? { id, result } : { id, error: { code: -32602, message: 'not found' } });
  if (dice < 0.3) setTimeout(reply, random() * 20);
  else reply();
  if (dice < 0.33) send({ method: 'notifications/resources/list_changed' });
});
