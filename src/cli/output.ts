import { describe } from './failures.ts';

/** Text of a server's for a terminal: control and formatting characters are shown, never obeyed. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}]/gu, (char) => {
    const code = char.codePointAt(0) ?? 0;
    return code < 0x100 ? `\\x${code.toString(16).padStart(2, '0')}` : `\\u{${code.toString(16)}}`;
  });
}

export function out(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** The same value for a program; for a terminal, what {@link printable} keeps from it is escaped as JSON does. */
export function outJson(value: unknown): void {
  const json = JSON.stringify(value, undefined, 2);
  out(json.replace(/(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escaped));
}

function escaped(char: string): string {
  return char
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}

export function note(line: string): void {
  process.stderr.write(`skillfs: ${line}\n`);
}

/** Tells of an error, and below it why. A message is one line, so that a server cannot write lines that look like ours. */
export function noteError(error: unknown): void {
  for (const message of describe(error)) note(printable(message));
}

/** Columns as wide as their widest cell; numbers to the right. */
export function table(rows: readonly (readonly (string | number)[])[]): readonly string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, String(cell).length);
  }
  return rows.map((row) =>
    row
      .map((cell, column) => {
        if (typeof cell === 'number') return String(cell).padStart(widths[column] ?? 0);
        return column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0);
      })
      .join('  '),
  );
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** A bar on a terminal's standard error; elsewhere nothing. */
export function progressBar(): { show(done: number, total: number): void; end(): void } {
  const { isTTY, columns = 80 } = process.stderr;
  return {
    show(done, total) {
      if (!isTTY) return;
      const width = Math.max(10, Math.min(40, columns - 24));
      const filled = Math.round((done / Math.max(1, total)) * width);
      process.stderr.write(`\r[${'#'.repeat(filled)}${'.'.repeat(width - filled)}] ${done}/${total}`);
    },
    end() {
      if (isTTY) process.stderr.write('\r\u001b[K');
    },
  };
}
