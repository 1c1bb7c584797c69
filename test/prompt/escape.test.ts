import { Parser } from 'commonmark';
import fc from 'fast-check';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import MarkdownIt from 'markdown-it';
import { describe, expect, test } from 'vitest';
import { type CatalogFormat, type CatalogSkill, catalog } from '../../src/index.ts';
import { markdownText, visible, xmlText } from '../../src/prompt/escape.ts';

/** Fragments that mean something to one of the formats, or hide something, among any other text. */
const hostile = fc
  .array(
    fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), {
      weight: 5,
      arbitrary: fc.constantFrom(
        ...[
          '\n',
          '\r\n',
          '\n\n',
          '\t',
          '\u2028',
          '\u0085',
          '\u202e',
          '\u200b',
          '\u{e0041}',
          '\ufe0f',
          '\ud800',
          '\uffff',
        ],
        ...[
          '</description>',
          '<skill>',
          '<!--',
          ']]>',
          '<![CDATA[',
          '&lt;',
          '&#60;',
          '"',
          "'",
          '<b>',
          '<script>x</script>',
        ],
        ...[
          '`',
          '``',
          '```\n',
          '~~~',
          '# ',
          '- ',
          '1. ',
          '> ',
          '---',
          '===',
          '***',
          '**x**',
          '_x_',
          '~~x~~',
          '\\',
          '    ',
        ],
        ...[
          '[x](javascript:1)',
          '![x](y)',
          '[x]: y',
          '[^1]',
          '<https://x.y>',
          'https://evil.example/x',
          'www.evil.example',
        ],
        ...['a@evil.example', 'mailto:a@evil.example', '|', '$$', '\u{1f600}', 'é'],
      ),
    }),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));

const skill = fc.record({
  name: hostile,
  description: hostile,
  path: hostile,
  label: fc.option(hostile, { nil: undefined }),
  content: fc.constantFrom('verified', 'dynamic'),
}) as fc.Arbitrary<CatalogSkill>;
const skills = fc.uniqueArray(skill, { maxLength: 4, selector: ({ path }) => path });

const runs = { numRuns: 400 };
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

function written(all: readonly CatalogSkill[], format: CatalogFormat): string {
  return catalog({ skills: () => all }, { format, budget: 2 ** 20 }).text;
}

function ordered(all: readonly CatalogSkill[]): readonly CatalogSkill[] {
  const key = ({ path, label }: CatalogSkill) => JSON.stringify([path, label, undefined]);
  return [...all].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

/** As an XML parser is to hand it back: what is unseen shown, but for white space. */
const shown = (text: string) =>
  text
    .split(/([\t\n\r])/)
    .map((part) => (/^[\t\n\r]$/.test(part) ? part : visible(part)))
    .join('');

test('an XML parser reads back each text exactly, and nothing else is in the document', () => {
  const parser = new XMLParser({
    preserveOrder: true,
    trimValues: false,
    parseTagValue: false,
    ignoreAttributes: false,
    htmlEntities: true,
  });
  const leaf = (name: string, text: string) => ({ [name]: text === '' ? [] : [{ '#text': text }] });
  fc.assert(
    fc.property(skills, (all) => {
      const text = written(all, 'xml');
      expect(XMLValidator.validate(text)).toBe(true);
      const [{ available_skills: root }] = parser.parse(text);
      const elements = root
        .filter((node: object) => !('#text' in node))
        .map(({ skill }: { skill: object[] }) => skill.filter((node) => !('#text' in node)));
      expect(elements).toEqual(
        ordered(all).map(({ name, description, path, label, content }) => [
          leaf('name', shown(name)),
          leaf('description', shown(description)),
          leaf('location', shown(`${path}/SKILL.md`)),
          label === undefined ? { local: [] } : leaf('server', shown(label)),
          ...(content === 'dynamic' ? [{ unverified: [] }] : []),
        ]),
      );
    }),
    runs,
  );
});

test('all five characters of XML are escaped, and addresses that renderers make links of are broken', () => {
  expect(xmlText(`<a b='c'>"&`)).toBe('&lt;a b=&apos;c&apos;&gt;&quot;&amp;');
  expect(markdownText('WWW.a.example https://a.example b@a.example')).toBe(
    'WWW\\.a.example https\\://a.example b\\@a.example',
  );
});

test('JSON reads back each text exactly', () => {
  fc.assert(
    fc.property(skills, (all) => {
      expect(JSON.parse(written(all, 'json'))).toEqual(
        ordered(all).map(({ name, description, path, label, content }) => ({
          name,
          description,
          location: `${path}/SKILL.md`,
          ...(label === undefined ? { local: true } : { server: label }),
          ...(content === 'dynamic' && { unverified: true }),
        })),
      );
    }),
    runs,
  );
});

test.each(['xml', 'json', 'markdown'] as const)('nothing unseen is in %s but line ends of our own', (format) => {
  fc.assert(
    fc.property(skills, (all) => {
      const lines = written(all, format).split('\n');
      for (const line of lines) expect(line).not.toMatch(UNSEEN);
      const perSkill = { xml: 6, json: 1, markdown: 1 }[format];
      const unverified = format === 'xml' ? all.filter(({ content }) => content === 'dynamic').length : 0;
      const around = format === 'markdown' ? 0 : all.length === 0 ? 3 : 2;
      expect(lines).toHaveLength(Math.max(1, perSkill * all.length + unverified + around));
    }),
    runs,
  );
});

describe('Markdown holds one list item per skill, of plain text and code, and nothing else', () => {
  /** Node types in the order of a walk. */
  function typesOf(text: string): string[] {
    const walker = new Parser().parse(text).walker();
    const types: string[] = [];
    for (let step = walker.next(); step !== null; step = walker.next()) if (step.entering) types.push(step.node.type);
    return types;
  }

  test('to commonmark.js', () => {
    fc.assert(
      fc.property(skills, (all) => {
        const types = typesOf(written(all, 'markdown'));
        const blocks = types.filter((type) => type !== 'text' && type !== 'code');
        const items = all.flatMap(() => ['item', 'paragraph']);
        expect(blocks).toEqual(all.length === 0 ? ['document'] : ['document', 'list', ...items]);
        const labelled = all.filter(({ label }) => label !== undefined).length;
        expect(types.filter((type) => type === 'code')).toHaveLength(2 * all.length + labelled);
      }),
      runs,
    );
  });

  test('to markdown-it, with HTML, tables, strikethrough and addresses on', () => {
    const markdown = new MarkdownIt({ html: true, linkify: true });
    markdown.linkify.set({ fuzzyLink: false });
    fc.assert(
      fc.property(skills, (all) => {
        const tokens = markdown.parse(written(all, 'markdown'), {});
        const items = all.flatMap(() => [
          'list_item_open',
          'paragraph_open',
          'inline',
          'paragraph_close',
          'list_item_close',
        ]);
        const list = all.length === 0 ? [] : ['bullet_list_open', ...items, 'bullet_list_close'];
        expect(tokens.map(({ type }) => type)).toEqual(list);
        const inline = tokens.flatMap(({ children }) => children ?? []).map(({ type }) => type);
        expect(inline.filter((type) => !/^(text|code_inline)$/.test(type))).toEqual([]);
      }),
      runs,
    );
  });

  test('and its text is the text', () => {
    fc.assert(
      fc.property(hostile, (description) => {
        const text = written([{ name: 'n', description, path: '/p', label: 's' }], 'markdown');
        const walker = new Parser().parse(text).walker();
        let read = '';
        for (let step = walker.next(); step !== null; step = walker.next()) read += step.node.literal ?? '';
        expect(read.trimEnd()).toBe(
          `n (/p/SKILL.md, server s): ${visible(description.replace(/\s+/g, ' ').trim())}`.trimEnd(),
        );
      }),
      runs,
    );
  });
});
