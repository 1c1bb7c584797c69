import type { Candidate } from './flat-names.ts';

/** The name of the note, in a skill's directory. */
export const ORIGIN_NOTE = 'ORIGIN';

/** Where a skill is from, a line each: server, URI, and whether its content can be verified (SEC-2). */
export function originNote({ label, skill: { entry } }: Candidate): Uint8Array {
  const { uri, resources } = entry;
  const lines = [
    `server: ${label}`,
    `uri: ${uri}`,
    ...(resources === 'dynamic'
      ? ['content: dynamic, unverified']
      : ['content: verified', ...resources.flatMap((file) => (file.uri === uri ? [`digest: ${file.digest}`] : []))]),
  ];
  return new TextEncoder().encode(`${lines.map(oneLine).join('\n')}\n`);
}

/** A server's words never begin a line, and never hide anything. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}
