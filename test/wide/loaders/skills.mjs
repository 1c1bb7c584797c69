// The skills that every loader is shown: some local, some of an MCP server, with supporting files of all kinds.
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const NOT_UTF8 = Buffer.from(Array.from({ length: 5000 }, (_, index) => (index * index + (index >> 3)) & 0xff));
const LONG = Array.from({ length: 6000 }, (_, line) => `${line};${(line * 7) % 100};rate of line ${line}\n`).join('');

function skillMd(name, description, body) {
  return `---\nname: ${name}\ndescription: ${description}\n---\n\n# ${name}\n\n${body}\n`;
}

/** Of the user: path of a file in the skills directory ⇒ content. */
export const localSkills = {
  'greet/SKILL.md': skillMd(
    'greet',
    'Greets in the language of the visitor – “Grüß Gott” or “hello”.',
    'Say who you are.',
  ),
  'release-notes/SKILL.md': skillMd('release-notes', 'Writes release notes.', 'Follow references/style.md.'),
  'release-notes/references/style.md': '# Style\n\nOne sentence for each change.\n',
  'release-notes/assets/logo.png': PNG,
};

/** Of the live server: path of a file in the directory it serves ⇒ content. */
export const servedSkills = {
  'acme/billing/refunds/SKILL.md': skillMd('refunds', 'Pays money back.', 'Run scripts/refund.py, then use the seal.'),
  'acme/billing/refunds/scripts/refund.py': 'print("refunded")\n',
  'acme/billing/refunds/assets/seal.bin': NOT_UTF8,
  'invoices/SKILL.md': skillMd('invoices', 'Writes invoices.', 'Read references/layout.md first.'),
  'invoices/references/layout.md': '# Layout\n\nThe sum stands last.\n',
  'invoices/references/tax/rates.csv': LONG,
  'invoices/scripts/render.mjs': 'console.log("rendered");\n',
  'invoices/assets/stamp.png': PNG,
  'invoices/LICENSE': 'Free to use.\n',
  'handbook/onboarding/SKILL.md': skillMd('onboarding', 'Welcomes a new colleague.', 'Follow the check list.'),
  'handbook/onboarding/references/check-list.md': '- a desk\r\n- a key\r\n',
};

/** Of a server that dies before one of them can be read. */
export const lostSkills = {
  'ghost/SKILL.md': skillMd('ghost', 'Is listed and cannot be read.', 'Never seen.'),
  'phantom/SKILL.md': skillMd('phantom', 'Is listed and cannot be read either.', 'Never seen.'),
  'phantom/references/shade.md': 'Never seen.\n',
};

/** Shapes of directories that loaders differ about: one skill each. */
export const habits = {
  'ordinary/SKILL.md': skillMd('ordinary', 'Is where all look.', 'Ordinary.'),
  'group/nested/SKILL.md': skillMd('nested', 'Is two levels down.', 'Nested.'),
  'directory/SKILL.md': skillMd('renamed', 'Has a name that is not its directory’s.', 'Renamed.'),
};

/** The skills of a server as a flat view shows them: each in a directory of its name, wherever it is served. */
export function flat(served) {
  const roots = Object.keys(served)
    .filter((path) => path.endsWith('/SKILL.md'))
    .map(dirname);
  return Object.fromEntries(
    Object.entries(served).map(([path, content]) => {
      const root = roots.find((one) => path.startsWith(`${one}/`));
      return [path.slice(root.lastIndexOf('/') + 1), content];
    }),
  );
}

/** Writes the files into a directory of their own, which is returned. */
export async function write(directory, files) {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await writeFile(join(directory, path), content);
  }
  return directory;
}

/** Writes {@link habits}, and a skill that is a symbolic link to a directory elsewhere. */
export async function writeHabits(directory, elsewhere) {
  await write(elsewhere, { 'linked/SKILL.md': skillMd('linked', 'Is a link.', 'Linked.') });
  await write(directory, habits);
  await symlink(join(elsewhere, 'linked'), join(directory, 'linked'));
  return directory;
}
