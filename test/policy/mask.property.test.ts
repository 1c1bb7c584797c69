import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MaskError, type MaskedSkill, maskSkill } from '../../src/policy/mask.ts';
import { nastyText, skillText } from './arbitrary-skills.ts';
import { decode, encode, isMaskedKey, READERS, readingOf, withoutFields } from './readers.ts';

function maskOrRefuse(bytes: Uint8Array): MaskedSkill | undefined {
  try {
    return maskSkill(bytes);
  } catch (error) {
    if (error instanceof MaskError) return undefined;
    throw error;
  }
}

const lineEndsOf = (text: string) => text.replaceAll(/[^\r\n]+/g, 'x');

function assertMasked(bytes: Uint8Array, result: MaskedSkill): void {
  expect(result.bytes.length).toBe(bytes.length);
  expect(lineEndsOf(decode(result.bytes))).toBe(lineEndsOf(decode(bytes)));
  expect(maskSkill(result.bytes)).toEqual({ bytes: result.bytes, masked: [] });
  for (const [name, read] of READERS) {
    const [before, after] = [readingOf(read, bytes), readingOf(read, result.bytes)];
    if ('value' in after && typeof after.value === 'object') {
      expect(Object.keys(after.value ?? {}).filter(isMaskedKey), name).toEqual([]);
    }
    if ('value' in before) expect(after, name).toEqual({ value: withoutFields(before.value) });
  }
}

describe('SEC-3: maskSkill, for any frontmatter', () => {
  it('every well-formed one is masked, and reads as the original without the fields', () => {
    fc.assert(
      fc.property(skillText, (text) => {
        const bytes = encode(text);
        assertMasked(bytes, maskSkill(bytes));
      }),
      { numRuns: 600 },
    );
  });

  it('a nasty one is masked so, or refused', () => {
    let masked = 0;
    fc.assert(
      fc.property(nastyText, (text) => {
        const bytes = encode(text);
        const result = maskOrRefuse(bytes);
        if (result === undefined) return;
        if (result.masked.length > 0) masked += 1;
        assertMasked(bytes, result);
      }),
      { numRuns: 5000 },
    );
    expect(masked).toBeGreaterThan(0);
  });

  it('any bytes are masked or refused', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (tail) => {
        const bytes = Uint8Array.from([...encode('---\nname: a\nhooks: '), ...tail, ...encode('\n---\n')]);
        expect(maskOrRefuse(bytes)?.bytes.length ?? bytes.length).toBe(bytes.length);
      }),
    );
  });
});

describe('SEC-3: hostile frontmatter ends', () => {
  const nested = (open: string, close: string) => `name: a\nhooks: ${open.repeat(30)}${close.repeat(30)}`;

  it.each([
    ['many lines', `hooks:\n - x\n${' - y\n'.repeat(12_000)}name: a`],
    ['many fields', `${Array.from({ length: 5_000 }, (_, index) => `k${index}: x\n`).join('')}hooks: y`],
    [
      'many masked flow fields',
      `{name: a${Array.from({ length: 5_000 }, (_, index) => `, k${index}: x`).join('')}, hooks: y}`,
    ],
    ['long blanks before a colon', `name: a\nx: "${' '.repeat(30_000)}hooks${' '.repeat(30_000)}: y"`],
    ['many quotes', `name: a\nhooks: x\nz: '${"''".repeat(30_000)}'`],
    ['many comments', `name: a\n${'#\n'.repeat(30_000)}hooks: x`],
    ['deep flow', nested('[', ']')],
    ['too deep flow', `name: a\nhooks: ${'['.repeat(30_000)}`],
    ['many anchors', `name: a\nhooks: [${'&a x, '.repeat(8_000)}y]`],
    ['a mebibyte', `name: a\nhooks: x\n${'#'.repeat(2 ** 20)}`],
    ['a mebibyte of bangs', `name: a\nx: ${'!'.repeat(2 ** 20)}`],
  ])('%s', (_what, yaml) => {
    const bytes = encode(`---\n${yaml}\n---\n`);
    const result = maskOrRefuse(bytes);
    if (result !== undefined) assertMasked(bytes, result);
    else expect(() => maskSkill(bytes)).toThrow(MaskError);
  });
});
