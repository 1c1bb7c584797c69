import { deserializeMessage, type JSONRPCMessage, type ReadBuffer } from '@modelcontextprotocol/client';
import { AnswerTooLarge } from '../wire-errors.ts';

const LINE_FEED = 10;

/**
 * Collects the lines of a stdio server. The SDK's own buffer copies and searches everything it holds with each chunk, which
 * for a message of many mebibytes keeps the thread busy for a minute; this one looks at each byte once.
 */
export class LineBuffer implements Pick<ReadBuffer, 'append' | 'readMessage' | 'clear'> {
  readonly #limit: number;
  /** Complete lines, and the chunks of the one that is not. */
  readonly #lines: string[] = [];
  #rest: Buffer[] = [];
  #restBytes = 0;

  /** @param limit bytes that one line may have */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** @throws AnswerTooLarge when a line is longer than is accepted */
  append(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      this.#hold(chunk.subarray(start, end));
      this.#lines.push(Buffer.concat(this.#rest).toString('utf8'));
      this.#rest = [];
      this.#restBytes = 0;
      start = end + 1;
    }
    if (start < chunk.length) this.#hold(chunk.subarray(start));
  }

  /**
   * The next message, or `null` when there is none yet. Lines that are no JSON are skipped, as the SDK does.
   *
   * @throws ZodError for JSON that is no message
   */
  readMessage(): JSONRPCMessage | null {
    for (let line = this.#lines.shift(); line !== undefined; line = this.#lines.shift()) {
      try {
        return deserializeMessage(line);
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
      }
    }
    return null;
  }

  clear(): void {
    this.#lines.length = 0;
    this.#rest = [];
    this.#restBytes = 0;
  }

  #hold(bytes: Buffer): void {
    this.#restBytes += bytes.length;
    if (this.#restBytes > this.#limit) {
      this.clear();
      throw new AnswerTooLarge(this.#limit);
    }
    this.#rest.push(bytes);
  }
}
