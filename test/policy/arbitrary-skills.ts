import fc from 'fast-check';
import { parseDocument, stringify, type ToStringOptions } from 'yaml';

/** Text that no reader takes for anything else. */
const tame = fc
  .string({ unit: fc.constantFrom(...'abcxyz 0159-_.,#:é🦊\'"{}[]&*|>%@'), maxLength: 30 })
  .filter((text) => {
    return !text.includes('---') && !text.includes(': ');
  });
const lines = fc.array(tame, { minLength: 1, maxLength: 4 }).map((texts) => texts.join('\n'));
const scalar = fc.oneof(
  tame,
  lines,
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.constantFrom('2026-03-05', 'yes', '012'),
);
const value = fc.letrec<{ node: unknown }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(tie('node'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c d', 'é', '🦊', 'version'), tie('node'), {
      maxKeys: 3,
      noNullPrototype: true,
    }),
  ),
})).node;

const plainField = fc.tuple(
  fc.constantFrom('name', 'description', 'license', 'metadata', 'x-é', 'x 🦊', '42', 'tags'),
  value,
);
const maskedField = fc.tuple(
  fc.constantFrom('allowed-tools', 'allowed_tools', 'allowedTools', 'hooks', 'Hooks', 'mcpServers', 'tools', 'AGENT'),
  value,
);

const style = fc.record<ToStringOptions>({
  indent: fc.constantFrom(1, 2, 4),
  indentSeq: fc.boolean(),
  lineWidth: fc.constantFrom(0, 20, 80),
  defaultKeyType: fc.constantFrom('PLAIN', 'QUOTE_DOUBLE', 'QUOTE_SINGLE'),
  defaultStringType: fc.constantFrom('PLAIN', 'QUOTE_DOUBLE', 'QUOTE_SINGLE', 'BLOCK_LITERAL', 'BLOCK_FOLDED'),
  collectionStyle: fc.constantFrom('any', 'flow'),
  flowCollectionPadding: fc.boolean(),
  nullStr: fc.constantFrom('null', '~', ''),
});

const between = fc.constantFrom('', '', '', '\n', '# c\n', '  # hooks in a comment\n');
const fields = fc
  .tuple(
    fc.uniqueArray(plainField, { selector: ([key]) => key, minLength: 1, maxLength: 5 }),
    fc.uniqueArray(maskedField, { selector: ([key]) => key, maxLength: 3 }),
    fc.infiniteStream(fc.nat()),
  )
  .map(([plain, masked, positions]) => {
    const all: [string, unknown][] = [...plain];
    for (const field of masked) all.splice((positions.next().value ?? 0) % (all.length + 1), 0, field);
    return all;
  });

const blockYaml = fields.chain((all) =>
  fc
    .tuple(fc.array(style, { minLength: all.length, maxLength: all.length }), fc.infiniteStream(between))
    .map(([styles, comments]) => {
      const field = (pair: [string, unknown], index: number) =>
        comments.next().value +
        stringify(new Map([pair]), { ...styles[index], collectionStyle: 'any' }).replace(/^\{\}\n/, '');
      return all.map(field).join('');
    }),
);
const flowYaml = fc
  .tuple(fields, style)
  .map(([all, options]) => stringify(new Map(all), { ...options, collectionStyle: 'flow', nullStr: 'null' }));

/** The stringifier writes escapes that nobody can read where it folds some quoted text. */
const isWellFormed = (yaml: string) => parseDocument(yaml, { logLevel: 'silent' }).errors.length === 0;

const wholeFile = fc.record({
  bom: fc.constantFrom('', '\uFEFF'),
  eol: fc.constantFrom('\n', '\r\n'),
  fence: fc.constantFrom('---', '--- \t'),
  body: fc.constantFrom('', 'Body 🦊.\n', 'Run !`id`.\n', '---\nhooks: x\n---\n'),
});

/** A well-formed SKILL.md, in any style, with masked fields anywhere in it or none. */
export const skillText = fc
  .tuple(fc.oneof(blockYaml, flowYaml).filter(isWellFormed), wholeFile)
  .map(([yaml, { bom, eol, fence, body }]) => {
    return bom + `---\n${yaml}${fence}\n${body}`.replaceAll('\n', eol);
  });

const FRAGMENTS = [
  ...['hooks', 'allowed-tools', 'name', 'tools', '"hooks"', "'hooks'", '"\\x68ooks"', 'a', '<<', '__proto__'],
  ...[
    ': ',
    ': ',
    ': ',
    ':',
    ' ',
    '  ',
    '\t',
    '\n',
    '\n',
    '\n',
    '\n  ',
    '\n- ',
    '\n  - ',
    '\r\n',
    '\r',
    '\u2028',
    '\uFEFF',
  ],
  ...[
    '? ',
    ', ',
    '{',
    '}',
    '[',
    ']',
    '# ',
    '|\n  ',
    '>-\n  ',
    '|+\n',
    '"',
    "'",
    '&a ',
    '*a ',
    '!!str ',
    '! ',
    '!x ',
    '%YAML 1.1',
  ],
  ...[
    '---',
    '...',
    '🦊',
    '!`x`',
    '```!',
    '\\',
    'x',
    '~',
    'name: a\n',
    '\nname: a\n',
    'hooks: x\n',
    '\nhooks:\n  - x\n',
  ],
];

/** A SKILL.md of fragments that mean something to YAML; mostly malformed. */
export const nastyText = fc
  .tuple(fc.array(fc.constantFrom(...FRAGMENTS), { maxLength: 14 }), fc.constantFrom('name: a\n', '{name: a, ', ''))
  .map(([fragments, start]) => `---\n${start}${fragments.join('')}${start.startsWith('{') ? '}' : ''}\n---\n`);
