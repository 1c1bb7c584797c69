import { UriTemplate } from '@modelcontextprotocol/client';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  expandTemplate,
  matchAbove,
  matchTemplate,
  type PathTemplate,
  parseTemplate,
  pathPatternOf,
} from '../../src/catalog/template.ts';
import { isUriProblem, type ParsedUri, parseSkillUri } from '../../src/catalog/uri.ts';

function parsed(uri: string): ParsedUri {
  const result = parseSkillUri(uri);
  if (isUriProblem(result)) throw new Error(result.problem);
  return result;
}

function template(text: string): PathTemplate {
  const result = parseTemplate(text);
  if (result === undefined) throw new Error(`${text} is no template`);
  return result;
}

test.each([
  ['skill://docs/{product}/SKILL.md', 'skill://docs/react/SKILL.md', { product: 'react' }],
  ['skill://docs/{product}/SKILL.md', 'skill://docs/a%2Db%20c/SKILL.md', { product: 'a-b c' }],
  ['skill://docs/{product}/SKILL.md', 'skill://docs/a/b/SKILL.md', undefined],
  ['skill://docs/{product}/SKILL.md', 'repo://docs/react/SKILL.md', undefined],
  ['skill://docs/v{major}.x/{page}', 'skill://docs/v2.x/intro', { major: '2', page: 'intro' }],
  ['skill://docs/v{major}.x/{page}', 'skill://docs/v.x/intro', undefined],
  ['skill://{+path}', 'skill://a/b/c', { path: 'a/b/c' }],
  ['skill://{+path}/SKILL.md', 'skill://a/b/SKILL.md', { path: 'a/b' }],
  ['skill://{+path}/SKILL.md', 'skill://SKILL.md', undefined],
  ['skill://pdf/{path*}', 'skill://pdf/a/b', { path: 'a/b' }],
  ['files://x{/path*}{?ref}', 'files://x/a/b', { path: 'a/b' }],
  ['files://x{/name}', 'files://x/a', { name: 'a' }],
])('DRAFT-3: %s matches %s as it should', (text, uri, values) => {
  expect(matchTemplate(template(text), parsed(uri))).toEqual(values);
});

test.each([
  'skill://a/SKILL.md',
  'skill://{x,y}',
  'skill://{a}{b}',
  'skill://{+a}/{+b}',
  'skill://{a}/{a}',
  '{+uri}',
  'skill://{a',
  'skill://%zz/{a}',
])('DRAFT-3: %s stands for no path known here', (text) => expect(parseTemplate(text)).toBeUndefined());

test('DRAFT-3: a directory on the way is matched, with what comes next', () => {
  const docs = template('skill://docs/{product}/{topic}/SKILL.md');
  expect(matchAbove(docs, parsed('skill://docs'))).toMatchObject({ values: {}, next: { variable: 'product' } });
  expect(matchAbove(docs, parsed('skill://docs/react'))).toMatchObject({
    values: { product: 'react' },
    next: { variable: 'topic' },
    last: false,
  });
  expect(matchAbove(docs, parsed('skill://docs/react/hooks'))).toMatchObject({
    next: { literal: 'SKILL.md' },
    last: true,
  });
  expect(matchAbove(docs, parsed('skill://other'))).toBeUndefined();
  expect(pathPatternOf(docs)).toBe('docs/{product}/{topic}/SKILL.md');
});

test('DRAFT-3: what values expand to is what the SDK expands them to, and matches with the same values', () => {
  const docs = 'skill://docs/v{major}/{page}/SKILL.md';
  const segment = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
    .filter((text) => !/[/\\\0]|\p{Surrogate}/u.test(text));
  fc.assert(
    fc.property(
      segment,
      segment.filter((text) => text !== '.' && text !== '..'),
      (major, page) => {
        const uri = expandTemplate(template(docs), { major, page });
        expect(uri).toBe(new UriTemplate(docs).expand({ major, page }));
        expect(matchTemplate(template(docs), parsed(uri))).toEqual({ major, page });
      },
    ),
  );
});

test('a hostile template is matched in no time that depends on its kind', () => {
  const hostile = template(`skill://${Array.from({ length: 60 }, (_, i) => `a{v${i}}a`).join('/')}/{+rest}/b`);
  const uri = `skill://${Array.from({ length: 600 }, () => 'aaa').join('/')}/c`;
  expect(matchTemplate(hostile, parsed(uri))).toBeUndefined();
});

test.each(['__proto__', 'constructor', 'toString'])('DRAFT-3: a variable may be called %s', (name) => {
  for (const [text, uri] of [
    [`skill://a/{${name}}/SKILL.md`, 'skill://a/b/SKILL.md'],
    [`skill://a/{+${name}}/SKILL.md`, 'skill://a/b/c/SKILL.md'],
  ] as const) {
    const values = matchTemplate(template(text), parsed(uri)) ?? {};
    expect(Object.keys(values)).toEqual([name]);
    expect(expandTemplate(template(text), values)).toBe(uri);
  }
  const above = matchAbove(template(`skill://a/{${name}}/SKILL.md`), parsed('skill://a/b'));
  expect(Object.keys(above?.values ?? {})).toEqual([name]);
});
