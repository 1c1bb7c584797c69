// An HTTP server of many skills, in a process of its own, that counts what it is asked.
// Usage: node server.mjs <skills> <milliseconds per read>. Prints its URL; answers /reads with the number of resources/read so far.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serveHttp } from '../../../dist/server.js';

const [skills, delay] = process.argv.slice(2).map(Number);
const directory = mkdtempSync(join(tmpdir(), 'skillfs-redis-skills-'));
for (let index = 0; index < skills; index++) {
  const skill = join(directory, 'acme', `skill-${index}`);
  mkdirSync(skill, { recursive: true });
  writeFileSync(join(skill, 'SKILL.md'), `---\nname: skill-${index}\ndescription: About ${index}\n---\n`);
  writeFileSync(join(skill, 'data.bin'), Buffer.alloc(2048, `\0\r\n\xff${index}`, 'latin1'));
}
const { url } = await serveHttp(directory);

let reads = 0;
const counting = createServer(async (request, response) => {
  if (request.url === '/reads') return response.end(String(reads));
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  if (body.includes('"method":"resources/read"')) {
    reads++;
    await new Promise((resolve) => setTimeout(resolve, delay));
  }
  const { host: _, connection: __, 'content-length': ___, ...headers } = request.headers;
  const hasBody = body.length > 0 && { body };
  const answer = await fetch(url, { method: request.method, headers, ...hasBody });
  const type = answer.headers.get('content-type');
  response.writeHead(answer.status, type === null ? {} : { 'content-type': type });
  response.end(Buffer.from(await answer.arrayBuffer()));
});
counting.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${counting.address().port}/mcp`));
process.on('SIGTERM', () => {
  rmSync(directory, { recursive: true });
  process.exit();
});
