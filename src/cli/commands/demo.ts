import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { type Mount, mount } from '../../mount.ts';
import { describe, EXIT } from '../failures.ts';
import { out } from '../output.ts';
import { serveTampered } from '../tampered-server.ts';
import { printTree } from './tree.ts';

const REFUNDS = 'acme/billing/refunds';
const POLICY = `${REFUNDS}/references/policy.md`;

export function register(program: Command): void {
  program
    .command('demo')
    .description('Mount a real server, read through it, and see a tampered file refused.')
    .action(run);
  program
    .command('demo-tampered', { hidden: true })
    .argument('<dir>')
    .action((dir: string) => serveTampered(dir, POLICY));
}

async function run(): Promise<void> {
  const [cli, fixtures] = [fileURLToPath(import.meta.url), fixturesDirectory()];
  const server = (command: string) => ({
    command: process.execPath,
    args: [process.argv[1] ?? cli, command, fixtures],
    stderr: 'ignore' as const,
  });
  const skills = mount({ servers: { acme: server('serve'), mallory: server('demo-tampered') } });
  try {
    await show(skills);
  } finally {
    await skills.close();
  }
}

async function show(skills: Mount): Promise<void> {
  const { fs, promises } = skills;
  step('Two real MCP servers, each a process of its own, are mounted as acme and mallory.');
  for (const { label, state, protocolVersion, skills: count } of await skills.ready()) {
    out(`   ${label}: ${state}, protocol ${protocolVersion}, ${count} skills`);
  }

  step('The tree comes from the manifests; looking around costs no further request.');
  await printTree(skills, '/mcp/acme', '   ');

  step('A SKILL.md is fetched when it is read, and checked: size, SHA-256, and its frontmatter against the entry.');
  const text = await promises.readFile(`/mcp/acme/${REFUNDS}/SKILL.md`, 'utf8');
  for (const line of text.split('\n').slice(0, 6)) out(`   ${line}`);
  out('   …');

  step('The file it refers to is found where a file system finds it, here by a synchronous call.');
  const policy = fs.readFileSync(`/mcp/acme/${REFUNDS}/references/policy.md`, 'utf8');
  out(`   references/policy.md: ${policy.split('\n')[0]}`);

  step('Binary files come byte for byte.');
  const image = fs.readFileSync('/mcp/acme/pdf-forms/assets/filled example.png');
  out(`   ${image.length} bytes, beginning with ${image.subarray(0, 8).toString('hex')}`);

  step('Every path tells where it comes from.');
  out(`   ${JSON.stringify(skills.originOf(`/mcp/acme/${POLICY}`))}`);

  step('Nothing can be changed.');
  expectFailure(() => fs.writeFileSync(`/mcp/acme/${POLICY}`, 'everything is refunded'));

  step('mallory serves one file that is not what its manifest says. It is refused, and nothing else is.');
  expectFailure(() => fs.readFileSync(`/mcp/mallory/${POLICY}`));
  out(
    `   ${REFUNDS}/SKILL.md of mallory: ${fs.readFileSync(`/mcp/mallory/${REFUNDS}/SKILL.md`).length} bytes, as its manifest says`,
  );
}

let steps = 0;

function step(what: string): void {
  out(`\n${++steps}. ${what}`);
}

function expectFailure(call: () => unknown): void {
  try {
    call();
  } catch (error) {
    for (const message of describe(error)) out(`   ${message}`);
    return;
  }
  process.exitCode = EXIT.failed;
  out('   this should have been refused');
}

/** The skills that are shipped, beside the built command. */
function fixturesDirectory(): string {
  for (const relative of ['../fixtures/skills', '../../../fixtures/skills']) {
    const directory = fileURLToPath(new URL(relative, import.meta.url));
    if (existsSync(directory)) return directory;
  }
  throw new Error('the skills that are shipped with skillfs are missing from this installation');
}
