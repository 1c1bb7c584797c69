import type { Client } from '@modelcontextprotocol/client';
import { SkillsClient, SkillVerificationError } from '@modelcontextprotocol/client/ext/skills';
import { describe, expect, test } from 'vitest';
import { VerificationError } from '../../src/content/verify.ts';
import { mountScript, rejection } from '../support/mounted.ts';
import {
  connectScript,
  contents,
  digest,
  fileOf,
  type Script,
  type ScriptedSkill,
  scriptedSkill,
  skillMd,
} from '../support/scripted-server.ts';

const skill = scriptedSkill('acme/tool', { 'x.md': 'x', 'y z.md': 'y' });
const [md, x] = skill.entry.resources as { uri: string; digest: string; size: number }[] as [
  { uri: string; digest: string; size: number },
  { uri: string; digest: string; size: number },
];

function withEntry(change: Record<string, unknown>): Script {
  const entry = { ...skill.entry, ...change };
  return { skills: [{ ...skill, entry: entry as never }] };
}

function withFiles(...files: unknown[]): Script {
  return withEntry({ resources: files });
}

function withText(uri: string, text: string, listed: string | undefined = undefined): Script {
  const files = { ...skill.files, [uri]: text };
  const resources = (skill.entry.resources as { uri: string; digest: string; size: number }[]).map((file) =>
    file.uri === uri && listed !== undefined ? { uri, digest: digest(listed), size: Buffer.byteLength(listed) } : file,
  );
  return { skills: [{ entry: { ...skill.entry, resources }, files }] };
}

const entries: Record<string, Script> = {
  'a valid entry': { skills: [skill] },
  'no frontmatter': withEntry({ frontmatter: undefined }),
  'no description': withEntry({ frontmatter: { name: 'tool' } }),
  'an empty description': withEntry({ frontmatter: { name: 'tool', description: '' } }),
  'a name with capitals': withEntry({ frontmatter: { name: 'Tool', description: 'x' } }),
  'a name that is not the last segment': withEntry({ frontmatter: { name: 'other', description: 'x' } }),
  'no resources': withEntry({ resources: undefined }),
  'resources of another kind': withEntry({ resources: 'all' }),
  'no SKILL.md': withFiles(x),
  'a file twice': withFiles(md, x, x),
  'a file in two spellings': withFiles(md, x, { ...x, uri: 'skill://acme/tool/%78.md' }),
  'a file outside': withFiles(md, { ...x, uri: 'skill://acme/other/x.md' }),
  'an upper-case digest': withFiles(md, { ...x, digest: x.digest.toUpperCase() }),
  'a short digest': withFiles(md, { ...x, digest: 'sha256:00' }),
  'no digest': withFiles(md, { uri: x.uri, size: 1 }),
  'a negative size': withFiles(md, { ...x, size: -1 }),
  'a fractional size': withFiles(md, { ...x, size: 1.5 }),
  'a query': withFiles(md, { ...x, uri: `${x.uri}?raw` }),
  'a fragment': withFiles(md, { ...x, uri: `${x.uri}#part` }),
  'an escaped slash': withFiles(md, { ...x, uri: 'skill://acme/tool/a%2Fb' }),
  'an escaped NUL': withFiles(md, { ...x, uri: 'skill://acme/tool/a%00b' }),
  'unknown fields': withEntry({ later: 1, _meta: { 'io.modelcontextprotocol/x': 1 } }),
  'a URI that is no SKILL.md': withEntry({ uri: 'skill://acme/tool' }),
};

const described = (frontmatter: Record<string, unknown>) =>
  withEntry({ frontmatter: { name: 'tool', description: 'About tool', ...frontmatter } });
Object.assign(entries, {
  'a URI listed twice, with two entries': {
    skills: [skill],
    list: () => ({ skills: [skill.entry, { ...skill.entry, frontmatter: { name: 'tool', description: 'Other' } }] }),
  },
  'a URI listed twice, each time the same': { skills: [skill], list: () => ({ skills: [skill.entry, skill.entry] }) },
  'a description of more than 1,024 characters': described({ description: 'x'.repeat(1025) }),
  'metadata that is no text': described({ metadata: { version: 2 } }),
  'compatibility that is no text': described({ compatibility: ['node'] }),
  'escaped dots': withFiles(md, { ...x, uri: 'skill://acme/tool/%2e%2e/x.md' }),
  'a path that is a file and a directory': withFiles(md, x, { ...x, uri: 'skill://acme/tool/x.md/y' }),
  'a colon in the authority': { skills: [rename(skill, 'skill://acme/', 'skill://ckm:design/')] },
});

/** The skill under another prefix. */
function rename({ entry, files }: ScriptedSkill, from: string, to: string): ScriptedSkill {
  return JSON.parse(JSON.stringify({ entry, files }).replaceAll(from, to));
}

/** Where our verdict on an entry differs from the official client's, and why. */
const named: Record<string, string> = {
  'a URI listed twice, with two entries': 'refused by both; here as the one skill it is, there once for each copy',
  'a URI listed twice, each time the same':
    'pages of a catalog that changes bring an entry twice; nothing about it is in doubt',
  'a description of more than 1,024 characters': 'a bound on authors, not a danger to readers: loaded with a warning',
  'metadata that is no text': 'real skills have numbers there: loaded with a warning',
  'compatibility that is no text': 'loaded with a warning, as metadata is',
  'a path that is a file and a directory': 'no file system can hold it: refused (ENT-7)',
  'a colon in the authority': 'the authority is a name, not a host with a port (MAP-3): loaded',
};

async function officialClient(script: Script): Promise<{ skills: SkillsClient; close: () => Promise<void> }> {
  const connected = await connectScript(script, 'v2-modern');
  return { skills: new SkillsClient(connected.client as Client, { skipInvalid: true }), close: connected.close };
}

describe('ENT-5: the verdict on an entry is the official client’s', () => {
  test.each(Object.entries(entries))('%s', async (name, script) => {
    const official = await officialClient(script);
    const listing = await official.skills.list();
    const { mount } = await mountScript(script);
    await mount.ready();
    const ours = [mount.skills().length, mount.status()[0]?.refused.length];
    const theirs = [listing.skills.length, listing.invalid.length];
    if (named[name] === undefined) expect(ours).toEqual(theirs);
    else expect(ours, named[name]).not.toEqual(theirs);
    await official.close();
  });
});

const frontmatter = (lines: string) => `---\n${lines}\n---\n`;
const reads: Record<string, { script: Script; file?: string }> = {
  'the SKILL.md it says': { script: { skills: [skill] } },
  'the file it says': { script: { skills: [skill] }, file: 'x.md' },
  'a file with a space in its name': { script: { skills: [skill] }, file: 'y z.md' },
  'other bytes of the same size': { script: withText(x.uri, 'X'), file: 'x.md' },
  'another size': { script: withText(x.uri, 'xx'), file: 'x.md' },
  'an unlisted file': { script: { skills: [skill] }, file: 'none.md' },
  'a changed description': {
    script: withText(md.uri, skillMd('tool', 'Another'), skillMd('tool', 'Another')),
  },
  'one more field': {
    script: withText(
      md.uri,
      frontmatter('name: tool\ndescription: About tool\nhooks: x'),
      frontmatter('name: tool\ndescription: About tool\nhooks: x'),
    ),
  },
  'no frontmatter': { script: withText(md.uri, '# tool\n', '# tool\n') },
  'an unclosed frontmatter': { script: withText(md.uri, '---\nname: tool\n', '---\nname: tool\n') },
  'a missing answer': { script: { skills: [skill], read: () => undefined }, file: 'x.md' },
  'an answer for another URI': {
    script: { skills: [skill], read: (uri) => contents(`${uri}x`, 'x') },
    file: 'x.md',
  },
  'an extra content item': {
    script: {
      skills: [skill],
      read: (uri) => ({
        contents: [
          { uri, text: 'x' },
          { uri: 'skill://acme/tool/other', text: 'y' },
        ],
      }),
    },
    file: 'x.md',
  },
  'a server error': {
    script: {
      skills: [skill],
      read: (uri) => {
        if (uri === x.uri) throw new Error('down');
        return fileOf([skill], uri);
      },
    },
    file: 'x.md',
  },
};

/** Where our verdict on content differs, and why. */
const namedReads: Record<string, string> = {
  'an extra content item': 'RD-1 asks for exactly one item; the official client takes the one whose URI matches',
};

describe('VER-1, VER-3, VER-4: the verdict on content is the official client’s', () => {
  test.each(Object.entries(reads))('%s', async (name, { script, file = 'SKILL.md' }) => {
    const official = await officialClient(script);
    const [entry] = (await official.skills.list()).skills;
    if (entry === undefined) throw new Error('the official client lists the skill');
    const theirs = await official.skills.read(entry, file.replaceAll(' ', '%20')).then(
      ({ bytes }) => Buffer.from(bytes).toString(),
      (error: unknown) => error as Error,
    );
    const { mount } = await mountScript(script);
    const ours = await mount.promises.readFile(`/mcp/s/acme/tool/${file}`, 'utf8').then(
      (text) => text,
      (error: unknown) => error as Error,
    );
    if (namedReads[name] !== undefined) {
      expect(typeof theirs).not.toBe(typeof ours);
    } else if (typeof theirs === 'string') {
      expect(ours).toBe(theirs);
    } else {
      expect(ours).toBeInstanceOf(Error);
      if (theirs instanceof SkillVerificationError) {
        expect((ours as Error).cause).toBeInstanceOf(VerificationError);
        expect((ours as Error).cause).toMatchObject({ reason: theirs.reason });
      }
    }
    await official.close();
  });
});

test('RD-1: where there are several content items, none is used', async () => {
  const script = reads['an extra content item']?.script as Script;
  const { mount } = await mountScript(script);
  const error = await rejection(mount.promises.readFile('/mcp/s/acme/tool/x.md'));
  expect(error).toMatchObject({ code: 'EIO', cause: { reason: 'contents' } });
});
