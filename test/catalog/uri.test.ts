import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  fromTreePath,
  isSkillName,
  isUriProblem,
  parseSkillUri,
  pathBelow,
  skillRootOf,
  toTreePath,
} from '../../src/catalog/uri.ts';

function pathOf(uri: string): string {
  const parsed = parseSkillUri(uri);
  if (isUriProblem(parsed)) throw new Error(parsed.problem);
  return toTreePath(parsed);
}

function problemOf(uri: string): string | undefined {
  const parsed = parseSkillUri(uri);
  return isUriProblem(parsed) ? parsed.problem : undefined;
}

describe('parseSkillUri', () => {
  it('MAP-1, MAP-3: splits before it decodes, and decodes once', () => {
    expect(parseSkillUri('skill://acme/billing/a%20b.md')).toEqual({
      scheme: 'skill',
      segments: ['acme', 'billing', 'a b.md'],
    });
    expect(parseSkillUri('skill://a/%2525')).toEqual({ scheme: 'skill', segments: ['a', '%25'] });
  });

  it('MAP-3: takes the authority for a name, whatever a URL parser would make of it', () => {
    expect(parseSkillUri('skill://ckm:design/SKILL.md')).toEqual({
      scheme: 'skill',
      segments: ['ckm:design', 'SKILL.md'],
    });
    expect(parseSkillUri('skill://user@Host:80/x')).toEqual({ scheme: 'skill', segments: ['user@Host:80', 'x'] });
  });

  it('MAP-4: keeps any scheme as it is spelled', () => {
    expect(parseSkillUri('GitHub+v1.x-y://a')).toEqual({ scheme: 'GitHub+v1.x-y', segments: ['a'] });
    expect(pathOf('skill://a/b')).toBe('a/b');
    expect(pathOf('repo://a/b')).toBe('@repo/a/b');
    expect(pathOf('SKILL://a/b')).toBe('@SKILL/a/b');
  });

  it.each([
    ['skill://a b/c', 'a b/c'],
    ['skill://été/技能/𝒳', 'été/技能/𝒳'],
    ['skill://%E6%8A%80/%3F%23', '技/?#'],
    ['skill://a/...', 'a/...'],
    ['skill://a/..%2e', 'a/...'],
    ['skill://a/x%2520y', 'a/x%20y'],
    ['skill://a/.git', 'a/.git'],
    ['skill://a/<b>|"^`{}[]', 'a/<b>|"^`{}[]'],
    [`skill://${'x'.repeat(255)}`, 'x'.repeat(255)],
  ])('MAP-1: accepts %s', (uri, path) => {
    expect(pathOf(uri)).toBe(path);
  });

  it.each([
    ['a/b', /has no "scheme:\/\/"/],
    ['skill:/a/b', /has no "scheme:\/\/"/],
    ['1x://a', /malformed scheme "1x"/],
    ['://a', /malformed scheme ""/],
    ['a b://c', /malformed scheme "a b"/],
    ['skill://', /empty segment/],
    ['skill:///a', /empty segment/],
    ['skill://a//b', /empty segment/],
    ['skill://a/', /empty segment/],
    ['skill://a/./b', /the segment "\."/],
    ['skill://a/../b', /the segment "\.\."/],
    ['skill://a/%2e%2E/b', /the segment "\.\."/],
    ['skill://a/.%2e', /the segment "\.\."/],
    ['skill://a/..%2Fb', /a slash inside the segment "\.\.\/b"/],
    ['skill://a/b\\c', /a backslash inside/],
    ['skill://a/%5c', /a backslash inside/],
    ['skill://a/%00', /a NUL inside/],
    ['skill://a/\0', /a NUL inside/],
    ['skill://a/%zz', /malformed escape in the segment "%zz"/],
    ['skill://a/100%', /malformed escape/],
    ['skill://a/%ff', /escapes that are not UTF-8/],
    ['skill://a/%C0%AF', /escapes that are not UTF-8/],
    ['skill://a/%ED%A0%80', /escapes that are not UTF-8/],
    ['skill://a/\uD800', /half of a surrogate pair/],
    ['skill://a/b?c', /a query/],
    ['skill://a/b#c', /a fragment/],
    [`skill://a/${'x'.repeat(256)}`, /a name of more than 255 bytes/],
    [`skill://a/${'é'.repeat(128)}`, /a name of more than 255 bytes/],
    [`skill://a/${'b/'.repeat(2048)}c`, /a path of more than 4096 bytes/],
  ])('ENT-5: names what is wrong with %j', (uri, message) => {
    expect(problemOf(uri)).toMatch(message);
    expect(problemOf(uri)).toContain(uri);
  });
});

describe('tree paths', () => {
  it.each([
    ['skill://@acme/x', '%40acme/x'],
    ['skill://%40acme/x', '%40acme/x'],
    ['skill://%2540x', '%2540x'],
    ['skill://%252540x', '%252540x'],
    ['skill://%25252540x', '%25252540x'],
    ['skill://a/@b/%2540', 'a/@b/%40'],
    ['skill://%2541', '%41'],
    ['repo://@acme/%2540x', '@repo/@acme/%40x'],
  ])('MAP-4, MAP-5: %s is at %s', (uri, path) => {
    expect(pathOf(uri)).toBe(path);
    expect(pathOf(fromTreePath(path) ?? '')).toBe(path);
  });

  it('MAP-1: the canonical URI escapes only what a URI path cannot hold', () => {
    expect(fromTreePath("ckm:design/a-b_c.d~!$&'()*+,;=@e")).toBe("skill://ckm:design/a-b_c.d~!$&'()*+,;=@e");
    expect(fromTreePath('a b/?#%/é')).toBe('skill://a%20b/%3F%23%25/%C3%A9');
    expect(fromTreePath('@repo/x/y')).toBe('repo://x/y');
    expect(fromTreePath('%40acme/x')).toBe('skill://@acme/x');
    expect(fromTreePath('%2540x')).toBe('skill://%2540x');
  });

  it.each([
    '',
    '@repo',
    '@repo/',
    '@/a',
    '@skill/a',
    '@1x/a',
    'a//b',
    'a/',
    '/a',
    'a/..',
    './a',
    'a\\b',
    'a\0',
    '\uDC00',
  ])('MAP-1: %j is the path of no URI', (path) => {
    expect(fromTreePath(path)).toBeUndefined();
  });

  const segment = fc
    .oneof(
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
      fc.stringMatching(/^[@%2540x.]{1,10}$/),
      fc.constantFrom('SKILL.md', 'a b', '%2F', '...', '%40', '%2540', '@skill'),
    )
    .filter((text) => text !== '.' && text !== '..' && !/[/\\\0]/.test(text));
  const parsed = fc.record({
    scheme: fc.oneof(fc.constant('skill'), fc.stringMatching(/^[A-Za-z][A-Za-z0-9+.-]{0,8}$/)),
    segments: fc.array(segment, { minLength: 1, maxLength: 5 }),
  });

  it('MAP-5: the path of any URI gives back a URI of the same scheme and segments', () => {
    fc.assert(
      fc.property(parsed, (uri) => {
        const canonical = fromTreePath(toTreePath(uri));
        expect(canonical).toBeDefined();
        expect(parseSkillUri(canonical ?? '')).toEqual(uri);
      }),
    );
  });

  it('MAP-5: a path that has a URI is the path of that URI', () => {
    fc.assert(
      fc.property(fc.array(segment, { minLength: 1, maxLength: 5 }), (segments) => {
        const path = segments.join('/');
        const uri = fromTreePath(path);
        if (uri !== undefined) expect(pathOf(uri)).toBe(path);
        else expect(path).toMatch(/^@/);
      }),
    );
  });

  it('MAP-5: different schemes or segments are at different paths', () => {
    fc.assert(
      fc.property(parsed, parsed, (one, other) => {
        fc.pre(JSON.stringify(one) !== JSON.stringify(other));
        expect(toTreePath(one)).not.toBe(toTreePath(other));
      }),
    );
  });

  it('MAP-1: any spelling of any text is parsed or refused, and never throws', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const uri = `skill://${text}`;
        const answer = parseSkillUri(uri);
        if (isUriProblem(answer)) expect(answer.problem).toContain(uri);
        else expect(answer.segments).not.toContain('..');
      }),
    );
  });
});

describe('skillRootOf', () => {
  it('MAP-1: is the SKILL.md URI minus /SKILL.md, as the server spells it', () => {
    expect(skillRootOf('skill://acme/a%2Db/SKILL.md')).toEqual({
      rootUri: 'skill://acme/a%2Db',
      treePath: 'acme/a-b',
      lastSegment: 'a-b',
    });
    expect(skillRootOf('repo://x/SKILL.md')).toEqual({ rootUri: 'repo://x', treePath: '@repo/x', lastSegment: 'x' });
    expect(skillRootOf('skill://@x/SKILL.md')).toMatchObject({ treePath: '%40x', lastSegment: '@x' });
  });

  it.each([
    ['skill://SKILL.md', /no skill directory/],
    ['skill://a/skill.md', /does not end with \/SKILL\.md/],
    ['skill://a/SKILL.md/', /does not end/],
    ['skill://a/%53KILL.md', /does not end/],
    ['skill://a/xSKILL.md', /does not end/],
    ['skill://a//SKILL.md', /empty segment/],
    ['/SKILL.md', /has no "scheme/],
  ])('MAP-1: %s has no root', (uri, message) => {
    const root = skillRootOf(uri);
    expect(isUriProblem(root) && root.problem).toMatch(message);
  });
});

describe('isSkillName', () => {
  it.each(['a', '0', 'a-b', 'refund-policy-2', 'a'.repeat(64)])('MAP-2: %s is a name', (name) => {
    expect(isSkillName(name)).toBe(true);
  });

  it.each(['', '-a', 'a-', 'a--b', 'A', 'a_b', 'a b', 'é', 'a\n', 'a'.repeat(65)])('MAP-2: %j is none', (name) => {
    expect(isSkillName(name)).toBe(false);
  });
});

describe('pathBelow', () => {
  it.each([
    ['skill://x/a-b/SKILL.md', 'SKILL.md'],
    ['skill://x/a-b/references/a%20b.md', 'references/a b.md'],
    ['skill://x/a-b/references/a b.md', 'references/a b.md'],
    ['skill://x/a%2Db/SKILL.md', 'SKILL.md'],
    ['skill://x/a-b/@c/%2540', '@c/%40'],
    ['skill://x/a-b/...', '...'],
    ['skill://x/a-b/é', 'é'],
  ])('ENT-3: %s is %s', (uri, path) => {
    expect(pathBelow('skill://x/a-b', 'x/a-b', uri)).toBe(path);
  });

  it('ENT-3: roots of other schemes and roots that begin with @ work alike', () => {
    expect(pathBelow('repo://x', '@repo/x', 'repo://x/a/b')).toBe('a/b');
    expect(pathBelow('skill://@x', '%40x', 'skill://%40x/a')).toBe('a');
  });

  it.each(['skill://x/a-bc/d', 'skill://x/a-b', 'skill://x/c', 'repo://x/a-b/c', 'skill://x/A-b/c'])(
    'ENT-3: %s is outside',
    (uri) => {
      expect(pathBelow('skill://x/a-b', 'x/a-b', uri)).toMatchObject({ outside: true });
    },
  );

  it.each([
    '..',
    '.',
    'c/../../d',
    '/c',
    'c//d',
    'c/',
    '',
    'c?d',
    'c#d',
    '%2e%2e/c',
    'a\\b',
    'a\n/..',
    'x'.repeat(256),
  ])('ENT-3: %j below a root is malformed, which is not the same as outside', (below) => {
    const answer = pathBelow('skill://x/a-b', 'x/a-b', `skill://x/a-b/${below}`);
    expect(isUriProblem(answer)).toBe(true);
    expect(answer).not.toHaveProperty('outside');
  });

  it('ENT-3: agrees with parsing the whole URI', () => {
    const raw = fc.stringMatching(/^[ -~é]{0,30}$/);
    fc.assert(
      fc.property(raw, (text) => {
        const uri = `skill://x/a-b/${text}`;
        const parsed = parseSkillUri(uri);
        const below = pathBelow('skill://x/a-b', 'x/a-b', uri);
        if (isUriProblem(parsed)) expect(isUriProblem(below)).toBe(true);
        else expect(below).toBe(parsed.segments.slice(2).join('/'));
      }),
    );
  });
});
