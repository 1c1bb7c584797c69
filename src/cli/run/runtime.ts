import { open, realpath } from 'node:fs/promises';
import { basename } from 'node:path';
import { findProgram } from '../../fuse/command.ts';

/** Bytes of a program's beginning that are looked at. */
const HEAD = 1024;

/** Whether a command is a Node.js program, or a script that becomes one. What cannot be looked at is none. */
export async function runsOnNode(command: string): Promise<boolean> {
  const found = command.includes('/') ? command : await findProgram(command);
  if (found === undefined) return false;
  if (/^node(js)?(\.exe)?$/.test(basename(found))) return true;
  try {
    const file = await realpath(found);
    return /^node(js)?$/.test(basename(file)) || isNodeScript(await headOf(file));
  } catch {
    return false;
  }
}

/** Package managers put a shell script in the place of a program that Node.js runs. */
function isNodeScript(head: string): boolean {
  const [first = '', ...rest] = head.split('\n');
  if (!first.startsWith('#!')) return false;
  if (/[/ ]node(js)?(\s|$)/.test(first)) return true;
  return /[/ ](ba|da)?sh\b/.test(first) && rest.some((line) => /^\s*exec\s.*\bnode\b/.test(line));
}

async function headOf(file: string): Promise<string> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD), 0, HEAD, 0);
    return buffer.toString('latin1', 0, bytesRead);
  } finally {
    await handle.close();
  }
}
