import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Files, MTIME_MS } from './memory-read-fs.ts';

/** Skills as they are: nested, with an empty file, bytes that are no text, names with spaces and of other scripts. */
export const FILES: Files = {
  'acme/billing/refunds/SKILL.md': '---\nname: refunds\ndescription: Refund a payment\n---\n\n# Refunds\n',
  'acme/billing/refunds/references/policy.md': 'Within 30 days.\n',
  'acme/billing/refunds/assets/logo.png': Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0, 0xff, 0xfe, 0x0a]),
  'acme/billing/refunds/assets/空 白.md': 'héllo wörld 世界 🌍\n',
  'acme/empty/': '',
  'notes/.hidden/empty.txt': '',
  'notes/large.txt': 'The quick brown fox jumps over the lazy dog.\n'.repeat(5000),
};

/** The tree on the real disk, as unchangeable as its modes can say. */
export function mirror(files: Files): string {
  const root = fs.mkdtempSync(join(fs.realpathSync(tmpdir()), 'mirror-'));
  for (const [name, content] of Object.entries(files)) {
    const path = join(root, name);
    if (name.endsWith('/')) {
      fs.mkdirSync(path, { recursive: true });
    } else {
      fs.mkdirSync(dirname(path), { recursive: true });
      fs.writeFileSync(path, content);
    }
  }
  for (const path of [...below(root), root]) {
    fs.chmodSync(path, fs.statSync(path).isFile() ? 0o444 : 0o555);
    fs.utimesSync(path, MTIME_MS / 1000, MTIME_MS / 1000);
  }
  return root;
}

export function removeMirror(root: string): void {
  for (const path of [root, ...below(root)]) fs.chmodSync(path, 0o755);
  fs.rmSync(root, { recursive: true });
}

function below(root: string): string[] {
  return fs.readdirSync(root, { recursive: true, encoding: 'utf8' }).map((name) => join(root, name));
}
