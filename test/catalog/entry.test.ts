import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkEntry } from '../../src/catalog/entry.ts';
import type { Refusal, SkillEntry, SkillLimits } from '../../src/catalog/types.ts';

const LIMITS: SkillLimits = { files: 512, bytes: 16 * 1024 * 1024, over: 'refuse' };
const DIGEST = `sha256:${'0123456789abcdef'.repeat(4)}`;

const file = (uri: string, more: object = {}) => ({ uri, digest: DIGEST, size: 10, ...more });
const below = (...paths: string[]) => paths.map((path) => file(`skill://acme/refunds/${path}`));

function skill(more: object = {}): Record<string, unknown> {
  return {
    uri: 'skill://acme/refunds/SKILL.md',
    frontmatter: { name: 'refunds', description: 'How to refund' },
    resources: below('SKILL.md', 'references/policy.md'),
    ...more,
  };
}

const withFrontmatter = (more: object) => skill({ frontmatter: { name: 'refunds', description: 'd', ...more } });
const withFiles = (...files: unknown[]) => skill({ resources: [...below('SKILL.md'), ...files] });

function accepted(value: unknown, limits = LIMITS): { entry: SkillEntry; warnings: readonly string[] } {
  const checked = checkEntry(value, limits, { dynamic: 'allow' });
  if ('refusal' in checked) throw new Error(checked.refusal.message);
  return checked;
}

function refused(value: unknown, limits = LIMITS): Refusal {
  const checked = checkEntry(value, limits, { dynamic: 'allow' });
  if ('entry' in checked) throw new Error('the entry was accepted');
  return checked.refusal;
}

describe('checkEntry', () => {
  it('ENT-1, ENT-3: a good entry keeps what the server sent', () => {
    const value = skill();
    const { entry, warnings } = accepted(value);
    expect(entry).toEqual({ ...value, root: 'acme/refunds', bytes: 20 });
    expect(entry.frontmatter).toBe(value['frontmatter']);
    expect(entry.resources).toBe(value['resources']);
    expect(warnings).toEqual([]);
  });

  it('ENT-1, ENT-6: unknown fields pass through, and _meta says nothing', () => {
    const frontmatter = {
      name: 'refunds',
      description: 'd',
      'allowed-tools': 'Bash',
      hooks: { x: [1] },
      license: null,
    };
    const _meta = { 'io.modelcontextprotocol/unknown': { any: 'thing' } };
    const value = skill({
      frontmatter,
      _meta,
      unknown: 1,
      resources: [file('skill://acme/refunds/SKILL.md', { _meta })],
    });
    const { entry, warnings } = accepted(value);
    expect(entry.frontmatter).toEqual(frontmatter);
    expect(warnings).toEqual([]);
  });

  it('MAP-4: any scheme is as good', () => {
    const value = skill({ uri: 'repo://refunds/SKILL.md', resources: [file('repo://refunds/SKILL.md')] });
    expect(accepted(value).entry.root).toBe('@repo/refunds');
  });

  it('MAP-2: the name is compared with the decoded segment', () => {
    const uri = 'skill://acme/%72efunds/SKILL.md';
    expect(accepted(skill({ uri })).entry).toMatchObject({ uri, root: 'acme/refunds' });
  });

  it('ENT-2: a dynamic skill has no files ahead of reading, and can be denied', () => {
    const value = skill({ resources: 'dynamic' });
    expect(accepted(value).entry).toMatchObject({ resources: 'dynamic', bytes: 0 });
    const denied = checkEntry(value, LIMITS, { dynamic: 'deny' });
    expect(denied).toMatchObject({ refusal: { uri: value['uri'], reason: 'dynamic-denied' } });
    expect(checkEntry(skill(), LIMITS, { dynamic: 'deny' })).toHaveProperty('entry');
  });

  it('ENT-3, ENT-4: files below, of nested skills too, are inside however the root is spelled', () => {
    const files = below('SKILL.md', 'nested/SKILL.md', 'a%20b', 'a c', '%3F', 'SKILL.md.d/x', 'a/b/c', 'a/b-c', 'ab');
    const resources = [...files, file('skill://acme/re%66unds/d')];
    expect(accepted(skill({ resources })).entry.resources).toHaveLength(10);
  });

  it.each([
    ['not-an-object', null, /no object/],
    ['not-an-object', 'skill://a/SKILL.md', /no object/],
    ['not-an-object', [], /no object/],
    ['uri', {}, /no uri/],
    ['uri', skill({ uri: 7 }), /no uri/],
    ['uri', skill({ uri: 'skill://acme/refunds' }), /does not end with \/SKILL\.md/],
    ['uri', skill({ uri: 'skill://SKILL.md' }), /no skill directory/],
    ['uri', skill({ uri: 'skill://acme/%zz/SKILL.md' }), /malformed escape in the segment "%zz"/],
    ['uri', skill({ uri: 'skill://acme/../refunds/SKILL.md' }), /the segment "\.\."/],
    ['frontmatter', skill({ frontmatter: undefined }), /no frontmatter object/],
    ['frontmatter', skill({ frontmatter: [] }), /no frontmatter object/],
    ['name', skill({ frontmatter: { description: 'd' } }), /no frontmatter name/],
    ['name', withFrontmatter({ name: 12 }), /no frontmatter name/],
    ['name', withFrontmatter({ name: 'Refunds' }), /"Refunds", which is no 1 to 64/],
    ['name', withFrontmatter({ name: 'refund' }), /"refund" in a directory "refunds"/],
    ['description', withFrontmatter({ description: undefined }), /no frontmatter description/],
    ['description', withFrontmatter({ description: '' }), /no frontmatter description/],
    ['description', withFrontmatter({ description: ['d'] }), /no frontmatter description/],
    ['resources', skill({ resources: undefined }), /has no resources/],
    ['resources', skill({ resources: 'Dynamic' }), /neither an array nor "dynamic"/],
    ['resources', skill({ resources: {} }), /neither an array nor "dynamic"/],
    ['resources', withFiles('skill://acme/refunds/a'), /resource 1 of .* no object with a uri/],
    ['resources', withFiles({ digest: DIGEST, size: 1 }), /resource 1 of/],
    ['uri', withFiles(file('skill://acme/refunds/%2e%2e/x')), /%2e%2e\/x has the segment "\.\."/],
    ['uri', withFiles(file('skill://acme/refunds/')), /refunds\/ has an empty segment/],
    ['uri', withFiles(file('skill://acme/refunds/a?b')), /a\?b has a query/],
    ['outside-root', withFiles(file('skill://acme/refunds2/a')), /refunds2\/a is outside .* skill:\/\/acme\/refunds$/],
    ['outside-root', withFiles(file('skill://acme/refunds')), /is outside/],
    ['outside-root', withFiles(file('repo://acme/refunds/a')), /is outside/],
    ['duplicate-file', withFiles(...below('a', 'a')), /refunds\/a is listed more than once/],
    ['duplicate-file', withFiles(...below('SKILL.md')), /SKILL\.md is listed more than once/],
    ['same-path', withFiles(...below('a b', 'a%20b')), /refunds\/a b and .*a%20b are two spellings/],
    ['missing-skill-md', skill({ resources: [] }), /do not include it/],
    ['missing-skill-md', skill({ resources: below('a', 'skill.md', 'x/SKILL.md') }), /do not include it/],
    ['file-and-directory', withFiles(...below('a', 'a/b')), /refunds\/a is both/],
    ['file-and-directory', withFiles(...below('a/b/c/d', 'a')), /refunds\/a is both/],
    ['file-and-directory', withFiles(...below('a/b', 'a/b/c/d', 'a/c')), /refunds\/a\/b is both/],
    ['file-and-directory', withFiles(...below('SKILL.md/x')), /SKILL\.md is both/],
    ['digest', withFiles({ uri: 'skill://acme/refunds/a', size: 1 }), /refunds\/a has no digest/],
    ['digest', withFiles(file('skill://acme/refunds/a', { digest: DIGEST.toUpperCase() })), /not in lower case/],
    ['digest', withFiles(file('skill://acme/refunds/a', { digest: DIGEST.slice(7) })), /not "sha256:" and 64/],
    ['digest', withFiles(file('skill://acme/refunds/a', { digest: `${DIGEST}\n` })), /not "sha256:" and 64/],
    ['digest', withFiles(file('skill://acme/refunds/a', { digest: null })), /the digest null/],
    ['size', withFiles(file('skill://acme/refunds/a', { size: undefined })), /refunds\/a has no size/],
    ['size', withFiles(file('skill://acme/refunds/a', { size: -1 })), /the size -1/],
    ['size', withFiles(file('skill://acme/refunds/a', { size: 1.5 })), /the size 1\.5/],
    ['size', withFiles(file('skill://acme/refunds/a', { size: '10' })), /the size "10"/],
    ['size', withFiles(file('skill://acme/refunds/a', { size: 2 ** 53 })), /the size 9007199254740992/],
  ])('ENT-1, ENT-2, ENT-3, ENT-5, ENT-7: refuses as %s: %j', (reason, value, message) => {
    const refusal = refused(value);
    expect(refusal.reason).toBe(reason);
    expect(refusal.message).toMatch(message);
    const uri = (value as { uri?: unknown } | null)?.uri;
    if (typeof uri === 'string') expect(refusal.uri).toBe(uri);
    else expect(refusal).not.toHaveProperty('uri');
  });

  it('ENT-3: a size of 0 is a size', () => {
    expect(accepted(withFiles(file('skill://acme/refunds/a', { size: 0 }))).entry.bytes).toBe(10);
  });

  it('LIM-1: exactly 512 files and 16 MiB are fine', () => {
    const rest = Array.from({ length: 511 }, (_, index) => file(`skill://acme/refunds/${index}`, { size: 0 }));
    const whole = file('skill://acme/refunds/SKILL.md', { size: LIMITS.bytes });
    expect(accepted(skill({ resources: [whole, ...rest] }))).toMatchObject({
      entry: { bytes: LIMITS.bytes },
      warnings: [],
    });
  });

  it.each([
    [
      'files',
      withFiles(...Array.from({ length: 512 }, (_, index) => file(`skill://acme/refunds/${index}`))),
      /513 files/,
    ],
    ['bytes', withFiles(file('skill://acme/refunds/a', { size: LIMITS.bytes })), /2 files of 16777226 bytes/],
  ])('LIM-1: over the limit of %s is refused with the counts, or allowed with a warning', (_limit, value, counts) => {
    const { reason, message } = refused(value);
    expect(reason).toBe('over-limit');
    expect(message).toMatch(counts);
    expect(message).toContain('the limits are 512 files and 16777216 bytes');
    const { warnings } = accepted(value, { ...LIMITS, over: 'allow' });
    expect(warnings).toEqual([message]);
  });

  it.each([
    ['description', 'é'.repeat(1025), /description of more than 1024/],
    ['compatibility', 'x'.repeat(501), /compatibility/],
    ['compatibility', ['node'], /compatibility/],
    ['compatibility', '', /compatibility/],
    ['metadata', { version: 1 }, /metadata/],
    ['metadata', 'x', /metadata/],
    ['metadata', null, /metadata/],
  ])('ENT-1: an unusual %s is accepted with a warning: %j', (field, value, message) => {
    const { entry, warnings } = accepted(withFrontmatter({ [field]: value }));
    expect(entry.frontmatter).toHaveProperty(field, value);
    expect(warnings).toEqual([expect.stringMatching(message)]);
  });

  it('ENT-1: lengths count characters, not code units', () => {
    const fields = { description: '𝒳'.repeat(1024), compatibility: '𝒳'.repeat(500), metadata: { version: '1' } };
    expect(accepted(withFrontmatter(fields)).warnings).toEqual([]);
  });

  it('ENT-5: any JSON value is answered, and not modified', () => {
    const value = fc.oneof(
      fc.jsonValue(),
      fc.record({
        uri: fc.constantFrom('skill://a/SKILL.md', 'x', 7),
        frontmatter: fc.oneof(
          fc.jsonValue(),
          fc.record({ name: fc.constantFrom('a', 'b'), description: fc.jsonValue() }),
        ),
        resources: fc.oneof(
          fc.jsonValue(),
          fc.array(fc.record({ uri: fc.webUrl(), digest: fc.jsonValue(), size: fc.jsonValue() })),
        ),
      }),
    );
    fc.assert(
      fc.property(value, (json) => {
        const before = JSON.stringify(json);
        const checked = checkEntry(json, LIMITS, { dynamic: 'allow' });
        expect('entry' in checked || checked.refusal.message !== '').toBe(true);
        expect(JSON.stringify(json)).toBe(before);
      }),
    );
  });

  it('ENT-7: refuses a manifest exactly when one path is twice in it or has another below it', () => {
    const path = fc
      .array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 4 })
      .map((names) => names.join('/'));
    fc.assert(
      fc.property(fc.array(path, { maxLength: 6 }), (paths) => {
        const twice = new Set(paths).size < paths.length;
        const nested = paths.some((one) => paths.some((other) => other.startsWith(`${one}/`)));
        const checked = checkEntry(withFiles(...below(...paths)), LIMITS, { dynamic: 'allow' });
        const reason = 'refusal' in checked ? checked.refusal.reason : undefined;
        expect(reason).toBe(twice ? 'duplicate-file' : nested ? 'file-and-directory' : undefined);
      }),
    );
  });
});
