import { Fault, isFault } from '../base/fault.ts';
import { shortened } from '../base/quote.ts';

/** JSON-RPC codes that say "there is no such thing": invalid params, and the 2025 era's "resource not found". */
const ABSENT: ReadonlySet<unknown> = new Set([-32602, -32002]);

/** A result that has not the shape the method promises. */
export class MalformedResult extends Error {
  override readonly name = 'MalformedResult';
}

/** An answer larger than is accepted. */
export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge';

  constructor(limit: number) {
    super(`the answer is larger than ${limit} bytes`);
  }
}

/** An answer that broke off. */
export class AnswerCut extends Error {
  override readonly name = 'AnswerCut';

  constructor() {
    super('the connection ended before the answer did');
  }
}

/** A server that is too busy to answer, and says for how long. */
export class ServerBusy extends Error {
  override readonly name = 'ServerBusy';
  /** Milliseconds. */
  readonly retryAfter: number;

  constructor(status: number, retryAfter: number) {
    super(`HTTP ${status}, and it asked to wait ${Math.ceil(retryAfter / 1_000)} s`);
    this.retryAfter = retryAfter;
  }
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
  if (causesOf(error).some((one) => one instanceof AnswerTooLarge)) return new Fault('EFBIG', told('refused'));
  if (busyFor(error) !== undefined) return new Fault('EHOSTUNREACH', told('busy'));
  if (needsAuthentication(error)) return new Fault('EACCES', told('authentication is needed'));
  if (isUnreachable(error)) return new Fault('EHOSTUNREACH', told('not reachable'));
  return new Fault('EIO', { detail: `server "${server}": ${asked} failed: ${said}`, cause: error });
}

/** Whether the server will answer so again: it does not know the method, or does not let us use it. */
export function isRefusal(error: unknown): boolean {
  const { code } = fieldsOf(error);
  return (
    code === -32601 ||
    code === 'METHOD_NOT_SUPPORTED_BY_PROTOCOL_VERSION' ||
    isAbsence(error) ||
    needsAuthentication(error)
  );
}

/** Milliseconds that a busy server asked to wait. */
export function busyFor(error: unknown): number | undefined {
  return causesOf(error).find((one) => one instanceof ServerBusy)?.retryAfter;
}

/** Whether a connection broke under a request, so that another attempt may well do better. */
export function isCut(error: unknown): boolean {
  return causesOf(error).some((one) => one instanceof AnswerCut || CUT.has(fieldsOf(one).code) || isClosed(one));
}

/** Whether the server no longer knows the session of a 2025-era connection over HTTP. */
export function isLostSession(error: unknown): boolean {
  return causesOf(error).some((one) => {
    const { status: own, data } = fieldsOf(one);
    const { status = own, text } = (data ?? {}) as { status?: unknown; text?: unknown };
    return status === 404 || (status === 400 && typeof text === 'string' && /session/i.test(text));
  });
}

/** What an error says, and what those say that it was made from, each once. */
function saidBy(error: unknown): string {
  if (!(error instanceof Error)) return shortened(String(error));
  let said = '';
  for (const message of causesOf(error).map(messageOf)) {
    if (message !== '' && !said.includes(message)) said += said === '' ? message : `: ${message}`;
  }
  return shortened(said);
}

/** An error's message; what a schema finds, which is written over many lines, in one. */
function messageOf(error: Error): string {
  const { issues } = error as { issues?: unknown };
  if (!Array.isArray(issues)) return error.message.trim().replace(/\s*\n\s*/g, ' ');
  const { path, message } = (issues[0] ?? {}) as { path?: readonly PropertyKey[]; message?: string };
  const where = path?.length ? ` at ${path.map(String).join('.')}` : '';
  return `the answer is not what the protocol says (${message}${where})`;
}

/** An error and those it was made from. The SDK keeps some of them among the data of its errors. */
function causesOf(error: unknown): readonly Error[] {
  const causes: Error[] = [];
  for (let at = error; at instanceof Error && causes.length < 6; ) {
    causes.push(at);
    const { data } = fieldsOf(at);
    at = at.cause ?? (data instanceof Error ? data : (data as { cause?: unknown } | null | undefined)?.cause);
  }
  return causes;
}

function needsAuthentication(error: unknown): boolean {
  const { status, code, name, data } = fieldsOf(error);
  const http = status ?? (data as { status?: unknown } | undefined)?.status ?? code;
  return http === 401 || http === 403 || name === 'UnauthorizedError' || name === 'InsufficientScopeError';
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

/** What a connection that broke says, and none that could not be made. */
const CUT: ReadonlySet<unknown> = new Set([
  'ECONNRESET',
  'EPIPE',
  'UND_ERR_SOCKET',
  'CONNECTION_CLOSED',
  'SEND_FAILED',
]);

function isUnreachable(error: unknown): boolean {
  return causesOf(error).some((one) => {
    const { code, status } = fieldsOf(one);
    if (one instanceof AnswerCut || UNREACHABLE.has(code)) return true;
    if (typeof status === 'number' && (status >= 500 || status === 429)) return true;
    return isClosed(one) || (one instanceof TypeError && one.message === 'fetch failed');
  });
}

function isClosed({ message }: Error): boolean {
  return (
    message === 'Not connected' || message === 'Connection closed' || message === 'MCP error -32000: Connection closed'
  );
}

function fieldsOf(error: unknown): { code?: unknown; status?: unknown; name?: unknown; data?: unknown } {
  return typeof error === 'object' && error !== null ? error : {};
}
