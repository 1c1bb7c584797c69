import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { frontmatterDifferences } from '../../src/catalog/equivalence.ts';
import { FrontmatterError, readFrontmatter } from '../../src/catalog/frontmatter.ts';

const encode = (text: string) => new TextEncoder().encode(text);
const read = (yaml: string) => readFrontmatter(encode(`---\n${yaml}\n---\nbody\n`));

function errorOf(action: () => unknown): FrontmatterError {
  try {
    action();
  } catch (error) {
    if (error instanceof FrontmatterError) return error;
    throw error;
  }
  throw new Error('no error was thrown');
}

function differingFields(entry: Record<string, unknown>, yaml: string): string[] {
  return frontmatterDifferences(entry, read(yaml)).map(({ field }) => field);
}

describe('readFrontmatter', () => {
  it('VER-4: reads every field, known or not, and leaves the body alone', () => {
    const text = '---\nname: a\ndescription: b c\nx-new: [1, {y: null}]\n---\n\n# Body\r\n---\nrest';
    expect(readFrontmatter(encode(text))).toMatchObject({
      frontmatter: { name: 'a', description: 'b c', 'x-new': [1, { y: null }] },
      body: '\n# Body\r\n---\nrest',
    });
  });

  it.each([
    ['a byte order mark', '\uFEFF---\nname: a\n---\nbody'],
    ['blanks after the fences', '--- \t\nname: a\n---  \nbody'],
    ['CRLF line ends', '---\r\nname: a\r\n---\r\nbody'],
    ['no line end after the last fence', '---\nname: a\n---'],
  ])('VER-4: accepts %s', (_what, text) => {
    expect(readFrontmatter(encode(text)).frontmatter).toEqual({ name: 'a' });
  });

  it('VER-4: CRLF in a multi-line value is one line break, and stays what it is in the body', () => {
    const { frontmatter, body } = readFrontmatter(encode('---\r\na: |\r\n  x\r\n  y\r\nb: "c\r\n  d"\r\n---\r\ne\r\n'));
    expect(frontmatter).toEqual({ a: 'x\ny\n', b: 'c d' });
    expect(body).toBe('e\r\n');
  });

  it('VER-4: the first closing fence ends the frontmatter, and lines that only look like one do not', () => {
    expect(read('a: |\n  ---\n  x\nb: 1').frontmatter).toEqual({ a: '---\nx\n', b: 1 });
    expect(read('a: 1\n---\nb: 2').frontmatter).toEqual({ a: 1 });
    expect(errorOf(() => readFrontmatter(encode('---\na: 1\n ---\n--- #\n----\n'))).problem).toBe('unclosed-fence');
  });

  it('VER-4: types plain scalars as YAML 1.2 does', () => {
    const yaml = 'a: 012\nb: 0o12\nc: yes\nd: 2026-03-05\ne: True\nf: ~\ng:\nh: 1.10\ni: 0x1F\nj: "12"\nk: 1:30\nl: <<';
    expect(read(yaml).frontmatter).toEqual({
      a: 12,
      b: 10,
      c: 'yes',
      d: '2026-03-05',
      e: true,
      f: null,
      g: null,
      h: 1.1,
      i: 31,
      j: '12',
      k: '1:30',
      l: '<<',
    });
  });

  it('VER-4: keys that are no strings become the strings that JSON renderers write', () => {
    expect(read('1: a\ntrue: b\nnull: c\n1.50: d').frontmatter).toEqual({ 1: 'a', true: 'b', null: 'c', '1.5': 'd' });
  });

  it('VER-4: __proto__ is a key like any other', () => {
    const { frontmatter } = read('__proto__: {polluted: true}\nconstructor: x');
    expect(Object.getPrototypeOf(frontmatter)).toBe(Object.prototype);
    expect(Object.keys(frontmatter)).toEqual(['__proto__', 'constructor']);
    expect(frontmatter).not.toHaveProperty('polluted');
    const entry = JSON.parse('{"__proto__": {"polluted": true}, "constructor": "x"}');
    expect(frontmatterDifferences(entry, read('__proto__: {polluted: true}\nconstructor: x'))).toEqual([]);
    expect(differingFields({ constructor: 'x' }, '__proto__: {polluted: true}\nconstructor: x')).toEqual(['__proto__']);
  });

  it('VER-4: an alias stands for the last anchor of its name before it', () => {
    const yaml = 'a: &x [&y 1]\nb: &y 2\nc: *x\nd: *y';
    expect(read(yaml).frontmatter).toEqual({ a: [1], b: 2, c: [1], d: 2 });
  });

  it.each([
    ['missing-fence', '# Title\n', 1],
    ['missing-fence', '', 1],
    ['missing-fence', '---js\nname: a\n---\n', 1],
    ['missing-fence', '\n---\nname: a\n---\n', 1],
    ['missing-fence', '---', 1],
    ['unclosed-fence', '---\nname: a\n', undefined],
    ['duplicate-key', '---\nname: a\nname: b\n---\n', 3],
    ['duplicate-key', '---\nm:\n  1: a\n  "1": b\n---\n', 4],
    ['yaml', '---\nname: a\ndescription: use this: when\n---\n', 3],
    ['yaml', '---\nname: "a\n---\n', undefined],
    ['yaml', '---\na: 1\n\tb: 2\n---\n', undefined],
    ['yaml', '---\na: 1\n...\nb: 2\n---\n', undefined],
    ['yaml', '---\n--- a\n--- b\n---\n', 3],
    ['yaml', '---\na: *b\n---\n', 2],
    ['yaml', '---\n[a]: b\n---\n', 2],
    ['not-a-mapping', '---\n---\n', 2],
    ['not-a-mapping', '---\n# only a comment\n---\n', 2],
    ['not-a-mapping', '---\n- a\n---\n', 2],
    ['not-a-mapping', '---\nJust text\n---\n', 2],
  ])('ENT-5: %s: %j', (problem, text, line) => {
    const error = errorOf(() => readFrontmatter(encode(text)));
    expect(error.problem).toBe(problem);
    if (line !== undefined) {
      expect(error.line).toBe(line);
      expect(error.message).toContain(`line ${line}`);
    }
  });

  it('ENT-5: says what to do about an unquoted colon', () => {
    const error = errorOf(() => read('description: use this: when'));
    expect(error.message).toContain('has to be quoted');
  });

  it('ENT-5: not-utf8: anywhere in the file', () => {
    expect(errorOf(() => readFrontmatter(Uint8Array.of(0x2d, 0xff))).problem).toBe('not-utf8');
    const text = [...encode('---\na: b\n---\n'), 0xc0];
    expect(errorOf(() => readFrontmatter(Uint8Array.from(text))).problem).toBe('not-utf8');
  });

  it('LIM-1: frontmatter of 64 KiB is read, a byte more is not', () => {
    const fill = (bytes: number) => `a: é${'x'.repeat(bytes - 6)}`;
    expect(read(fill(64 * 1024)).frontmatter).toHaveProperty('a');
    expect(errorOf(() => read(fill(64 * 1024 + 1))).problem).toBe('too-large');
  });

  it('LIM-1: 32 levels are read, one more is not, however it is written', () => {
    const flow = (levels: number) => `a: ${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}`;
    const block = (levels: number) => Array.from({ length: levels }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n');
    for (const nest of [flow, block]) {
      expect(read(nest(32)).frontmatter).toHaveProperty('a');
      expect(errorOf(() => read(nest(33))).problem).toBe('too-deep');
    }
  });

  it.each(['[', '{a: ', '- ', '? '])('LIM-1: too-deep and no stack overflow for thousands of %j', (opening) => {
    const text = opening.repeat(60_000 / opening.length);
    expect(errorOf(() => read(text)).problem).toBe('too-deep');
  });

  it('LIM-1: an alias inside its own anchor ends as too-deep', () => {
    expect(errorOf(() => read('a: &a [*a]')).problem).toBe('too-deep');
  });

  it('LIM-1: too-many-aliases by number and by what they stand for', () => {
    const aliases = (count: number) => `a: &a x\nb: [${Array(count).fill('*a').join(', ')}]`;
    expect(read(aliases(100)).frontmatter['b']).toHaveLength(100);
    expect(errorOf(() => read(aliases(101))).problem).toBe('too-many-aliases');

    const levels = ['l0: &l0 [x, x, x, x, x, x, x, x, x]'];
    for (let level = 1; level <= 10; level++) {
      levels.push(
        `l${level}: &l${level} [${Array(9)
          .fill(`*l${level - 1}`)
          .join(', ')}]`,
      );
    }
    expect(errorOf(() => read(levels.join('\n'))).problem).toBe('too-many-aliases');
  });

  it('ENT-5: any bytes are read or refused by name', () => {
    const piece = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 8 }),
      fc.constantFrom(
        '---\n',
        '\n',
        '  ',
        'a: ',
        '- ',
        '[',
        ']',
        '{',
        '}',
        '"',
        "'",
        '&a ',
        '*a',
        '? ',
        '!!set ',
        '#',
        '|\n',
        '\r',
      ),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        const bytes = encode(`---\n${pieces.join('')}\n---\n`);
        try {
          const file = readFrontmatter(bytes);
          expect(frontmatterDifferences(file.frontmatter, file)).toEqual([]);
        } catch (error) {
          expect(error).toBeInstanceOf(FrontmatterError);
        }
      }),
    );
  });
});

describe('frontmatterDifferences', () => {
  it('VER-4: names every field that differs, both ways and inside', () => {
    const entry = { name: 'a', metadata: { version: '2', x: 1 }, tags: ['p', 'q'], extra: null };
    const file = read('name: a\nmetadata:\n  version: "1"\n  y: 1\ntags: [p, r]\nlicense: MIT');
    expect(frontmatterDifferences(entry, file)).toEqual([
      { field: 'metadata.version', entry: '2', file: '1' },
      { field: 'metadata.y', entry: undefined, file: 1 },
      { field: 'metadata.x', entry: 1, file: undefined },
      { field: 'tags[1]', entry: 'q', file: 'r' },
      { field: 'license', entry: undefined, file: 'MIT' },
      { field: 'extra', entry: null, file: undefined },
    ]);
  });

  it('VER-4: key order does not count, array order and length do', () => {
    expect(differingFields({ b: 2, a: 1 }, 'a: 1\nb: 2')).toEqual([]);
    expect(differingFields({ a: ['y', 'x'] }, 'a: [x, y]')).toEqual(['a[0]', 'a[1]']);
    expect(differingFields({ a: ['x'] }, 'a: [x, y]')).toEqual(['a']);
    expect(differingFields({ a: [['x']] }, 'a: [[y]]')).toEqual(['a[0][0]']);
  });

  it.each([
    ['012', [12, 10, '012']],
    ['-012', [-12, -10, '-012']],
    ['08', [8, '08']],
    ['0o12', [10, '0o12']],
    ['0x1F', [31, '0x1F']],
    ['0b11', [3, '0b11']],
    ['1_000', [1000, '1_000']],
    ['1_000.5', [1000.5, '1_000.5']],
    ['1.0', [1, '1.0']],
    ['1.10', [1.1, '1.10']],
    ['1e3', [1000, '1e3']],
    ['-0', [0, '-0']],
    ['.5', [0.5, '.5']],
    ['1:30', [90, '1:30']],
    ['12:30:45', [45_045, '12:30:45']],
    ['-1:30.5', [-90.5, '-1:30.5']],
    ['yes', [true, 'yes']],
    ['Off', [false, 'Off']],
    ['y', [true, 'y']],
    ['True', [true, 'True']],
    ['false', [false, 'false']],
    ['~', [null, '', '~']],
    ['null', [null, '', 'null']],
    ['', [null, '']],
    ['.inf', [null, 'Infinity', '.inf']],
    ['-.Inf', [null, '-Infinity', '-.Inf']],
    ['.nan', [null, 'NaN', '.nan']],
    ['1e999', [null, 'Infinity', '1e999']],
    [
      '2026-03-05',
      [
        '2026-03-05',
        '2026-03-05T00:00:00.000Z',
        '2026-03-05T00:00:00Z',
        '2026-03-05T00:00:00',
        '2026-03-05T00:00:00+00:00',
        '2026-03-05 00:00:00',
        '2026-03-05 00:00:00 UTC',
        '2026-03-05 00:00:00 +0000',
      ],
    ],
    ['2026-3-5 7:08:09', ['2026-03-05T07:08:09Z', '2026-03-05T07:08:09.000Z', '2026-03-05 07:08:09']],
    ['2026-03-05T10:00:00+02:00', ['2026-03-05T08:00:00.000Z', '2026-03-05 08:00:00', '2026-03-05T10:00:00+02:00']],
    ['2026-03-05 00:30:00 -1', ['2026-03-05T01:30:00Z', '2026-03-05T00:30:00-01:00']],
    ['2026-03-05t10:00:00.123456700Z', ['2026-03-05T10:00:00.123Z', '2026-03-05T10:00:00.123456Z']],
    ['just text', ['just text']],
  ])('VER-4: plain %s may be listed as any reader has it, but not in quotes', (plain, accepted) => {
    for (const value of accepted) {
      expect([value, differingFields({ a: value }, `a: ${plain}`)]).toEqual([value, []]);
      expect([value, differingFields({ a: [{ b: value }] }, `a:\n  - b: ${plain}`)]).toEqual([value, []]);
      const inQuotes = value === plain ? [] : ['a'];
      expect([value, differingFields({ a: value }, `a: '${plain}'`)]).toEqual([value, inQuotes]);
      expect([value, differingFields({ a: value }, `a: "${plain}"`)]).toEqual([value, inQuotes]);
      expect([value, differingFields({ a: value }, `a: |-\n  ${plain}`)]).toEqual([value, inQuotes]);
      expect([value, differingFields({ a: value }, `a: !!str ${plain}`)]).toEqual([value, inQuotes]);
    }
  });

  it.each([
    ['012', [11, '12', '10', 12.5, true, null, '']],
    ['12', [10, '012', '12.0', 12.5]],
    ['08', ['8', 0, null]],
    ['1.0', ['1', '1.00', 1.1, true]],
    ['1.10', ['1.1', '1.1.0', 1.01, 110]],
    ['1_000', ['1000', 1, 1000.5]],
    ['1.2.3', [1.2, 123, '1.2', '1.2.4']],
    ['0x1F', [0, 15, '31']],
    ['1:30', ['90', 130, 1.3, '01:30']],
    ['0:30', [30]],
    ['yes', [false, 'true', 'Yes', 1]],
    ['no', [true, 'false', null, 0]],
    ['true', ['yes', 1, 'True']],
    ['Yesterday', [true]],
    ['~', ['null', 0, false, {}, []]],
    ['', ['~', 'null', ' ', false, 0, {}]],
    ['.inf', [0, '-Infinity', 'inf']],
    ['-.inf', ['Infinity', '.inf']],
    [
      '2026-03-05',
      ['2026-03-06', '2026-03-05T00:00:01Z', '2026-03-05T00:00:00+01:00', '2026-03-04T23:00:00.000Z', 2026],
    ],
    ['2026-03-05', ['2026-03-05T00:00:00.001Z', '2026-3-5', '20260305', '2026-03-05T00:00', 1_772_668_800_000]],
    ['2026-02-30', ['2026-03-02T00:00:00.000Z', '2026-02-30T00:00:00Z']],
    ['0026-03-05', ['1926-03-05T00:00:00Z', '2026-03-05T00:00:00Z']],
    ['2026-03-05T00:00:00Z', ['2026-03-05']],
    ['2026-03-05T10:00:00+02:00', ['2026-03-05T10:00:00Z', '2026-03-05T10:00:00']],
    ['2026-03-05T10:00:00.5Z', ['2026-03-05T10:00:00Z', '2026-03-05T10:00:00.6Z']],
    ['2026-03-05T10:00:00Z', ['2026-03-05T10:00:00.5Z']],
    ['2026-03-05T10:00:00.1234567891Z', ['2026-03-05T10:00:00.123Z']],
    ['2026-03-05T10:00:00Z', ['2026-03-05T24:00:00Z', 'about 2026-03-05T10:00:00Z']],
    ['text', ['Text', 'text ', 'text\n', ['text'], { text: null }, null]],
    ['[a]', ['a', '[a]', {}, null]],
    ['{a: 1}', [[1], '{a: 1}', null, 1]],
  ])('VER-4: plain %s listed as something else is a difference', (plain, refused) => {
    for (const value of refused) {
      expect([value, differingFields({ a: value }, `a: ${plain}`).length > 0]).toEqual([value, true]);
    }
  });

  it('VER-4: a plain key is matched in any reading, once', () => {
    expect(differingFields({ '1.0': 'a', true: 'b', null: 'c' }, '1.0: a\non: b\n~: c')).toEqual([]);
    expect(differingFields({ '1.0': 'a' }, '"1": a')).toEqual(['1', '1.0']);
    expect(differingFields({ true: 'a' }, 'yes: a\non: a')).toEqual(['on']);
    expect(differingFields({ true: 'b' }, 'yes: a\ntrue: b')).toEqual(['yes']);
    expect(differingFields({ on: 'b' }, 'on: a')).toEqual(['on']);
  });

  it('VER-4: what an alias stands for is compared in its place', () => {
    expect(differingFields({ a: '012', b: [10] }, 'a: &x 012\nb: [*x]')).toEqual([]);
    expect(differingFields({ a: '012', b: [11] }, 'a: &x 012\nb: [*x]')).toEqual(['b[0]']);
  });

  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom(
      'yes',
      '012',
      '2026-03-05',
      '~',
      '',
      '1:30',
      '---',
      'a: b',
      '# x',
      'x\n---\ny',
      'x\r\ny',
      ' x ',
      '<<',
    ),
  );
  const key = text.filter((name) => name.length < 200 && name !== '__proto__');
  const scalar = fc.oneof(
    text,
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
  );
  const json = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 4 }, scalar, fc.array(tie('value'), { maxLength: 4 }), tie('mapping')),
    mapping: fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  }));
  const frontmatter = fc.dictionary(key, json.value, { minKeys: 1, maxKeys: 5, noNullPrototype: true });
  const style = fc.constantFrom(
    'PLAIN',
    'QUOTE_DOUBLE',
    'QUOTE_SINGLE',
    'BLOCK_LITERAL',
    'BLOCK_FOLDED',
  ) as fc.Arbitrary<'PLAIN'>;

  it('VER-4: what was rendered from a value equals that value', () => {
    fc.assert(
      fc.property(frontmatter, style, (value, defaultStringType) => {
        const yaml = stringify(value, { defaultStringType, aliasDuplicateObjects: false });
        expect(frontmatterDifferences(JSON.parse(JSON.stringify(value)), read(yaml))).toEqual([]);
      }),
    );
  });

  it('VER-4: one changed field is the one difference, under its name', () => {
    fc.assert(
      fc.property(frontmatter, fc.nat(), (value, choice) => {
        const yaml = stringify(value, { aliasDuplicateObjects: false });
        const entry = JSON.parse(JSON.stringify(value));
        const places = [...leaves(entry, '')];
        const place = places[choice % places.length];
        if (place === undefined) return;
        place.set('quite another value');
        expect(frontmatterDifferences(entry, read(yaml))).toMatchObject([
          { field: place.field, entry: 'quite another value' },
        ]);
      }),
    );
  });
});

interface Place {
  readonly field: string;
  set(value: unknown): void;
}

/** Every value of a JSON tree that holds no other. */
function* leaves(holder: object, prefix: string): Generator<Place> {
  for (const [name, value] of Object.entries(holder)) {
    const field = Array.isArray(holder) ? `${prefix}[${name}]` : `${prefix}${name}`;
    if (typeof value === 'object' && value !== null && Object.keys(value).length > 0) {
      yield* leaves(value, Array.isArray(value) ? field : `${field}.`);
    } else yield { field, set: (other) => Object.assign(holder, { [name]: other }) };
  }
}
