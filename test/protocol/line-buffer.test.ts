import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LineBuffer } from '../../src/protocol/stdio/line-buffer.ts';

function readAll(buffer: LineBuffer): unknown[] {
  const messages: unknown[] = [];
  for (let message = buffer.readMessage(); message !== null; message = buffer.readMessage()) messages.push(message);
  return messages;
}

const message = fc.record({
  jsonrpc: fc.constant('2.0'),
  method: fc.string({ unit: 'binary', minLength: 1 }),
  params: fc.record({ text: fc.string({ unit: 'binary' }) }),
});

test('messages come out whole and in order, however the bytes come in', () => {
  fc.assert(
    fc.property(fc.array(message), fc.array(fc.nat(40)), fc.constantFrom('\n', '\r\n'), (messages, cuts, end) => {
      const bytes = Buffer.from(messages.map((one) => `${JSON.stringify(one)}${end}`).join(''));
      const buffer = new LineBuffer(1024 * 1024);
      const out: unknown[] = [];
      let at = 0;
      for (const cut of [...cuts, bytes.length]) {
        buffer.append(bytes.subarray(at, at + cut));
        at += cut;
        out.push(...readAll(buffer));
      }
      expect(out).toEqual(messages);
    }),
  );
});

test('lines that are no JSON are skipped; JSON that is no message is an error, and what follows is read', () => {
  const buffer = new LineBuffer(1024);
  const ping = { jsonrpc: '2.0', method: 'ping' };
  buffer.append(Buffer.from(`Server is running\n\n{"hello":1}\n${JSON.stringify(ping)}\n`));
  expect(() => buffer.readMessage()).toThrow();
  expect(readAll(buffer)).toEqual([ping]);
});

test('a line may be as long as the limit, and no longer, in one piece or in many', () => {
  const line = (length: number) => `${JSON.stringify({ jsonrpc: '2.0', method: 'x' }).padEnd(length)}\n`;
  for (const piece of [1, 7, 1000]) {
    const append = (text: string) => {
      const buffer = new LineBuffer(100);
      for (let at = 0; at < text.length; at += piece) buffer.append(Buffer.from(text.slice(at, at + piece)));
      return readAll(buffer).length;
    };
    expect(append(line(100) + line(100))).toBe(2);
    expect(() => append(line(100) + line(101))).toThrow(/larger than 100 bytes/);
  }
});
