// The worlds in which a loader has to find what it finds in a plain directory of files.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { localSkills, lostSkills, servedSkills, write } from './skills.mjs';

const cli = fileURLToPath(new URL('../../../dist/cli.js', import.meta.url));

/**
 * By name: `missing`, the skills of the plain directory that a loader has to miss, and `servers`, the servers of the
 * configuration, for the directories that {@link directories} wrote.
 */
export const scenarios = {
  live: {
    missing: [],
    servers: ({ served }) => ({ live: live(served) }),
  },
  'dead-server': {
    missing: [],
    servers: ({ served }) => ({
      exiting: node('-e', 'process.exit(1)'),
      silent: node(server('silent')),
      live: live(served),
    }),
  },
  'died-after-listing': {
    missing: [],
    servers: ({ served, lost }) => ({ dying: node(server('dying'), lost), live: live(served) }),
  },
  tampered: {
    missing: ['invoices'],
    servers: ({ served }) => ({ tampered: node(server('tampered'), served, '/invoices/SKILL.md') }),
  },
};

/** Writes what all scenarios share: the local skills, and the directories of the servers. */
export async function directories(scratch) {
  return {
    local: await write(join(scratch, 'local'), localSkills),
    served: await write(join(scratch, 'served'), servedSkills),
    lost: await write(join(scratch, 'lost'), lostSkills),
  };
}

function live(served) {
  return node(cli, 'serve', served);
}

function node(...args) {
  return { command: process.execPath, args };
}

function server(name) {
  return fileURLToPath(new URL(`./servers/${name}.mjs`, import.meta.url));
}
