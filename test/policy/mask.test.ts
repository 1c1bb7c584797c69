import { describe, expect, it } from 'vitest';
import { MASKED_FIELDS, MaskError, maskSkill } from '../../src/policy/mask.ts';
import { CASES } from './frontmatter-cases.ts';
import { decode, encode, isMaskedKey, READERS, readingOf, withoutFields } from './readers.ts';

function errorOf(action: () => unknown): MaskError {
  try {
    action();
  } catch (error) {
    if (error instanceof MaskError) return error;
    throw error;
  }
  throw new Error('no error was thrown');
}

for (const [group, cases] of CASES) {
  describe(`SEC-3: maskSkill, ${group}`, () => {
    it.each(cases)('$title', ({ text, masked = text, refused }) => {
      const bytes = encode(text);
      const before = bytes.slice();
      if (refused !== undefined) {
        expect(errorOf(() => maskSkill(bytes)).problem).toBe(refused);
        return;
      }
      const result = maskSkill(bytes);
      expect(decode(result.bytes)).toBe(masked);
      expect(result.bytes.length).toBe(bytes.length);
      expect(bytes).toEqual(before);
      if (masked === text) expect(result.bytes).toBe(bytes);
      expect(result.masked.length > 0).toBe(masked !== text);
    });
  });
}

describe('SEC-3: what readers see', () => {
  const served = [...CASES.values()].flat().filter(({ refused }) => refused === undefined);

  it.each([...READERS])('%s reads every masked file as the original without the fields', (_name, read) => {
    let readable = 0;
    for (const { title, text } of served) {
      const bytes = encode(text);
      const [before, after] = [readingOf(read, bytes), readingOf(read, maskSkill(bytes).bytes)];
      if ('value' in after) expect(Object.keys(after.value ?? {}).filter(isMaskedKey), title).toEqual([]);
      if (!('value' in before)) continue;
      readable += 1;
      expect(after, title).toEqual({ value: withoutFields(before.value) });
    }
    expect(readable).toBeGreaterThan(served.length * 0.9);
  });

  it('a line regex finds no field', () => {
    for (const { text } of served) {
      const frontmatter = decode(maskSkill(encode(text)).bytes).split(/^---/m)[1] ?? '';
      expect(frontmatter).not.toMatch(/^\s*["']?allowed[-_]?tools["']?\s*:/im);
      expect(frontmatter).not.toMatch(/^\s*["']?hooks["']?\s*:/im);
    }
  });

  it('masking again changes nothing', () => {
    for (const { title, text } of served) {
      const { bytes } = maskSkill(encode(text));
      expect(maskSkill(bytes), title).toEqual({ bytes, masked: [] });
      expect(maskSkill(bytes).bytes).toBe(bytes);
    }
  });
});

describe('SEC-3: what is reported', () => {
  it('every span has its bytes, line and reason, in the order of the file', () => {
    const text = '\uFEFF---\r\nname: é\r\nhooks:\r\n  - x\r\nlicense: b\r\n---\r\nRun !`id`.\r\n```!!\r\n';
    const bytes = encode(text);
    const { masked } = maskSkill(bytes);
    const slices = masked.map(({ start, end, line, field }) => [decode(bytes.subarray(start, end)), line, field]);
    expect(slices).toEqual([
      ['hooks:\r\n  - x\r\n', 3, 'hooks'],
      ['!', 7, undefined],
      ['!!', 8, undefined],
    ]);
    expect(masked.map(({ reason }) => reason)).toEqual([
      MASKED_FIELDS.get('hooks'),
      'runs a command when the skill is loaded',
      'runs a command when the skill is loaded',
    ]);
  });

  it('a refusal says where, why and what to do', () => {
    const { message, line } = errorOf(() => maskSkill(encode('---\nname: a\ndescription: |\n  hooks: x\n---\n')));
    expect(line).toBe(4);
    expect(message).toMatch(/^SKILL\.md line 4 cannot be masked: a value has a line .* reword it/);
  });

  it('an unreadable frontmatter has its own error as the cause', () => {
    const error = errorOf(() => maskSkill(Uint8Array.of(0x2d, 0x2d, 0x2d, 0x0a, 0xff)));
    expect(error).toMatchObject({ problem: 'frontmatter', cause: { problem: 'not-utf8' } });
  });
});

describe('SEC-3: the fields', () => {
  it.each([...MASKED_FIELDS.keys()])('%s is masked in every usual spelling', (name) => {
    const camel = name.replaceAll(/-(.)/g, (_all, letter: string) => letter.toUpperCase());
    for (const spelling of [name, name.replaceAll('-', '_'), camel, name.toUpperCase(), name.replaceAll('-', '')]) {
      const { bytes, masked } = maskSkill(encode(`---\nname: a\n${spelling}: x\n---\n`));
      expect(decode(bytes)).toBe(`---\nname: a\n#${spelling.slice(1)}: x\n---\n`);
      expect(masked).toMatchObject([{ field: spelling, reason: MASKED_FIELDS.get(name), line: 3 }]);
    }
  });

  it('more can be named, in any spelling, and are looked for at the top level only', () => {
    const text = '---\nname: a\nxVendor_Run: y\nmetadata:\n  x-vendor-run: z\n---\n';
    const { bytes, masked } = maskSkill(encode(text), { fields: ['x-vendor-run'] });
    expect(decode(bytes)).toBe(text.replace('xVendor', '#Vendor'));
    expect(masked).toMatchObject([{ field: 'xVendor_Run' }]);
  });
});
