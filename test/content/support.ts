import { chmodSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { digestOf } from '../../src/content/verify.ts';

/** An empty directory that ends with the test. */
export function temporaryDirectory(): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'skillfs-cache-')));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Bytes, and what a manifest says of them. */
export function blob(content: string | Uint8Array): { bytes: Uint8Array; size: number; digest: string } {
  const bytes = Buffer.from(content);
  return { bytes, size: bytes.byteLength, digest: digestOf(bytes) };
}

/** The paths of all files that hold content, below a cache directory. */
export function blobFiles(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\/[0-9a-f]{64}$/.test(path))
    .map((path) => join(directory, path));
}

/** Changes one byte of a file, as a failing disk might. */
export function flipByte(file: string): void {
  const bytes = readFileSync(file);
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 0x01;
  chmodSync(file, 0o600);
  writeFileSync(file, bytes);
}
