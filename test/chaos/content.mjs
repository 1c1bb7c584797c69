// What the chaotic servers publish: content that says which version it is of, so that any answer can be checked.
import { createHash } from 'node:crypto';

export const SKILLS = ['alpha', 'beta', 'gamma', 'acme/delta', 'acme/epsilon'];
export const FILES = ['SKILL.md', 'a.md', 'b.md', 'deep/c.md'];
/** A skill that is there in every other version only. */
export const GHOST = 'ghost';

export function contentOf(uri, version) {
  const path = uri.slice('skill://'.length);
  const name = path.slice(0, path.indexOf('/', path.startsWith('acme/') ? 5 : 0)).replace('acme/', '');
  const head = path.endsWith('/SKILL.md') ? `---\nname: ${name}\ndescription: About ${name}\n---\n` : '';
  const length = createHash('sha256').update(`${uri} ${version}`).digest().readUInt16LE() % 4_000;
  return `${head}${uri}\nversion ${version}\n${'x'.repeat(length)}`;
}

export function entryOf(skill, version) {
  const resources = FILES.map((file) => {
    const uri = `skill://${skill}/${file}`;
    const content = contentOf(uri, version);
    return {
      uri,
      digest: `sha256:${createHash('sha256').update(content).digest('hex')}`,
      size: Buffer.byteLength(content),
    };
  });
  const name = skill.replace('acme/', '');
  return { uri: `skill://${skill}/SKILL.md`, frontmatter: { name, description: `About ${name}` }, resources };
}

export function skillsAt(version) {
  return version % 2 === 0 ? [...SKILLS, GHOST] : SKILLS;
}

/** The skill that a URI is of, if it is published in a version. */
export function skillOf(uri, version) {
  return skillsAt(version).find((skill) => uri.startsWith(`skill://${skill}/`));
}

/** Numbers in [0, 1) that depend on the seed alone. */
export function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
