import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MaskError, maskSkill } from '../../src/policy/mask.ts';
import { decode, encode } from './readers.ts';

const FRONT = '---\nname: a\n---\n';

function body(text: string): string {
  return decode(maskSkill(encode(FRONT + text)).bytes).slice(FRONT.length);
}

/** How hosts find commands, from the strictest to the most lenient. */
const HOSTS: readonly RegExp[] = [
  /(?<=^|\s)!`[^`]+`/gm,
  /!`[^`]+`/g,
  /!`+[^`]+`+/g,
  /```!\s*\n?[\s\S]*?\n?```/g,
  /```!\r?\n[\s\S]*?\r?\n```/g,
  /!```[\s\S]+?```/g,
  /^[ \t>*+-]*(?:`{3,}|~{3,})[ \t]*!/gm,
];

describe('SEC-3: command directives in the body', () => {
  it.each([
    ['inline', 'Now: !`date`', 'Now:  `date`'],
    ['at the start of a line', 'a\n!`date`\n', 'a\n `date`\n'],
    ['inside a word', 'a!`date`', 'a `date`'],
    ['over more lines', '!`a\nb`', ' `a\nb`'],
    ['in a code span', '`` !`date` ``', '``  `date` ``'],
    ['in a fenced block', '```md\n!`date`\n```', '```md\n `date`\n```'],
    ['escaped', '\\!`date`', '\\ `date`'],
    ['more than one bang', '!!`date`', '  `date`'],
    ['one after another', '!`a`!`b`', ' `a` `b`'],
    ['more backticks', '!``a`` !```b```', ' ``a``  ```b```'],
    ['a fenced command', '```!\nid\n```', '``` \nid\n```'],
    ['a fenced command with CRLF', '```!\r\nid\r\n```', '``` \r\nid\r\n```'],
    ['a longer fence', '`````!\nid\n`````', '````` \nid\n`````'],
    ['a fence of tildes', '~~~!\nid\n~~~', '~~~ \nid\n~~~'],
    ['an indented fence', '   ```!\nid\n```', '   ``` \nid\n```'],
    ['in a list', '- 1. ```!\n  id\n  ```', '- 1. ``` \n  id\n  ```'],
    ['in a quote', '> ~~~!\n> id', '> ~~~ \n> id'],
    ['inside a line', 'x ```!id```', 'x ``` id```'],
    ['blanks in the info string', '``` \t!sh\n', '``` \t sh\n'],
    ['more bangs in the info string', '```!! !\n', '```    \n'],
    ['after a lone CR', 'a\r~~~!\rid', 'a\r~~~ \rid'],
    ['at the end of the file', '```!', '``` '],
    ['beside non-BMP text', '🦊!`🦊`🦊', '🦊 `🦊`🦊'],
  ])('%s', (_what, text, masked) => {
    expect(body(text)).toBe(masked);
    expect(body(masked)).toBe(masked);
  });

  it.each([
    ['plain exclamations', 'Go! Now!! `x`! ``y``! ! `z`'],
    ['an image after code', '```x``` ![i](u)'],
    ['tildes in prose', '화이팅~~~! ok'],
    ['plain fences', '```sh\nif ! x; then\n```\n~~~\n!\n~~~'],
    ['a macro', 'println!("a")'],
    ['one or two backticks before it', '`!x ``!y'],
  ])('leaves alone %s', (_what, text) => {
    const bytes = encode(FRONT + text);
    expect(maskSkill(bytes)).toEqual({ bytes, masked: [] });
  });

  it('no host finds a command in any text, lengths and line ends stay, and only bangs change', () => {
    const piece = fc.constantFrom('!', '`', '```', '~~~', ' ', '\t', '\n', '\r\n', 'a', '>', '- ', '1.', '🦊', '!`x`');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const text = pieces.join('');
        const masked = body(text);
        for (const host of HOSTS) expect(masked).not.toMatch(host);
        expect(masked.length).toBe(text.length);
        for (let at = 0; at < text.length; at++)
          if (masked[at] !== text[at]) expect([text[at], masked[at]]).toEqual(['!', ' ']);
        expect(body(masked)).toBe(masked);
      }),
      { numRuns: 2000 },
    );
  });

  it('more directives than any skill needs are refused', () => {
    expect(() => body('!`a`'.repeat(10_001))).toThrow(MaskError);
    expect(body('!`a`'.repeat(10_000))).not.toContain('!');
  });

  it.each(['!', '`', '~', ' ', '```', '```!\t', '~~~ ', '! ', '> ', '\n', '`!', '!\n`'])(
    'one mebibyte of %j ends',
    (piece) => {
      const bytes = encode(FRONT + piece.repeat(2 ** 20 / piece.length));
      try {
        expect(maskSkill(bytes).bytes.length).toBe(bytes.length);
      } catch (error) {
        expect(error).toMatchObject({ problem: 'too-many-directives' });
      }
    },
  );
});
