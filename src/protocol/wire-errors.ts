import { Fault, isFault } from '../base/fault.ts';

/** JSON-RPC codes that say "there is no such thing": invalid params, and the 2025 era's "resource not found". */
const ABSENT: ReadonlySet<unknown> = new Set([-32602, -32002]);

/** A result that has not the shape the method promises. */
export class MalformedResult extends Error {
  override readonly name = 'MalformedResult';
}

/** ERR-1: only these answers mean absence; -32603 and transport faults never do. */
export function isAbsence(error: unknown): boolean {
  return error instanceof Error && ABSENT.has((error as { code?: unknown }).code);
}

/** Whether the server does not have the method that was called. */
export function isUnknownMethod(error: unknown): boolean {
  return error instanceof Error && fieldsOf(error).code === -32601;
}

/**
 * Whether the server said of something it never promised that it does not have it. Servers on older Python SDKs have no
 * code for that: they answer 0, as for everything, and tell it in words.
 */
export function isUnknownResource(error: unknown): boolean {
  if (isAbsence(error)) return true;
  return error instanceof Error && fieldsOf(error).code === 0 && /unknown resource|not found/i.test(error.message);
}

/** Whether a server answered, if with an error or with nonsense; else the answer never came. */
export function isAnswer(error: unknown): boolean {
  if (error instanceof MalformedResult) return true;
  const { code } = fieldsOf(error);
  // -32000 and -32001 are how SDK 1.x tells of a closed connection and of a timeout.
  return error instanceof Error && Number.isInteger(code) && (code as number) <= 0 && !NO_ANSWER.has(code);
}

const NO_ANSWER: ReadonlySet<unknown> = new Set([-32000, -32001]);

/** The fault a failed request is reported as, naming the server and what was asked of it. */
export function faultOf(error: unknown, server: string, asked: string): Fault {
  if (isFault(error)) return error;
  const said = saidBy(error);
  const told = (what: string) => ({ detail: `server "${server}": ${what} (${asked}: ${said})`, cause: error });
  if (needsAuthentication(error)) return new Fault('EACCES', told('authentication is needed'));
  if (isUnreachable(error)) return new Fault('EHOSTUNREACH', told('not reachable'));
  return new Fault('EIO', { detail: `server "${server}": ${asked} failed: ${said}`, cause: error });
}

/** What an error says, and what those say that it was made from, each once. */
function saidBy(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  let said = error.message;
  for (let at = error.cause ?? causeIn(error), depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    if (at.message !== '' && !said.includes(at.message)) said += `: ${at.message}`;
  }
  return said;
}

/** The SDK keeps some causes among the data of its errors. */
function causeIn(error: Error): unknown {
  const { data } = fieldsOf(error);
  return typeof data === 'object' && data !== null ? (data as { cause?: unknown }).cause : undefined;
}

function needsAuthentication(error: unknown): boolean {
  const { status, code, name, data } = fieldsOf(error);
  const http = status ?? (data as { status?: unknown } | undefined)?.status ?? code;
  return http === 401 || http === 403 || name === 'UnauthorizedError';
}

const UNREACHABLE: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPIPE',
  'ENOENT',
  'EACCES',
  'ETIMEDOUT',
  'UND_ERR_SOCKET',
  'UND_ERR_CONNECT_TIMEOUT',
  'CONNECTION_CLOSED',
  'NOT_CONNECTED',
  'SEND_FAILED',
  'ERA_NEGOTIATION_FAILED',
  -32000,
]);

function isUnreachable(error: unknown): boolean {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth++) {
    const { code, status } = fieldsOf(at);
    if (UNREACHABLE.has(code)) return true;
    if (typeof status === 'number' && status >= 500) return true;
    if (at instanceof TypeError && at.message === 'fetch failed') return true;
    if (at.message === 'Not connected' || at.message === 'Connection closed') return true;
  }
  return false;
}

function fieldsOf(error: unknown): { code?: unknown; status?: unknown; name?: unknown; data?: unknown } {
  return typeof error === 'object' && error !== null ? error : {};
}
