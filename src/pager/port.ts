import type { SharedProblem } from '../content/shared/shared-content.ts';
import type { Expected } from '../content/verify.ts';
import type { DirectoryChild, Listing, ResourceTemplate, Spoken } from '../protocol/dialect.ts';
import type { ResourceListing } from '../protocol/resources.ts';
import type { Completion, CompletionQuestion } from '../protocol/templates.ts';

/** What may be missing: one small, serialisable question to one server (SEC-4). */
export type PageRequest =
  | { readonly kind: 'connect'; readonly label: string }
  | { readonly kind: 'list'; readonly label: string }
  | { readonly kind: 'get'; readonly label: string; readonly uri: string }
  | { readonly kind: 'resources'; readonly label: string }
  | { readonly kind: 'templates'; readonly label: string }
  | {
      readonly kind: 'complete';
      readonly label: string;
      /** The template. */
      readonly uri: string;
      readonly question: CompletionQuestion;
    }
  | { readonly kind: 'directory'; readonly label: string; readonly uri: string }
  | { readonly kind: 'blob'; readonly label: string; readonly uri: string; readonly expected?: Expected };

/** Requests with one key have one answer while it is under way. */
export function keyOf(request: PageRequest): string {
  const uri = 'uri' in request ? request.uri : '';
  const digest = request.kind === 'blob' ? (request.expected?.digest ?? '') : '';
  const question = request.kind === 'complete' ? JSON.stringify(request.question) : '';
  return `${request.kind} ${request.label} ${digest} ${uri}${question}`;
}

/** What was negotiated with a server; without a dialect when it speaks of skills in no way known here. */
export interface Negotiated extends Partial<Spoken> {
  /** Absent where the client does not tell (SDK 1.x). */
  readonly protocolVersion?: string;
  /** The server's name for itself; shown, never used as a label (MAP-5). */
  readonly serverInfo?: { readonly name: string; readonly version: string };
  readonly instructions?: string;
  /** Whether the server offers values for the variables of its templates. */
  readonly completes: boolean;
  /** Milliseconds that connecting took. */
  readonly tookMs: number;
}

/** The answers by kind of request. `undefined` is absence; every failure is thrown as a `Fault`. */
export interface PageReply {
  readonly connect: Negotiated;
  readonly list: Listing;
  readonly get: unknown;
  readonly resources: ResourceListing;
  readonly templates: readonly ResourceTemplate[];
  readonly complete: Completion;
  readonly directory: readonly DirectoryChild[] | undefined;
  /** Bytes that were checked against what was expected, where something was. */
  readonly blob: Uint8Array | undefined;
}

/** Something that happened without being asked for. */
export type PagerEvent =
  /** At a server. `changed`: the listing may be another one now. `lost`: the connection ended, and nobody will tell of changes. */
  | { readonly label: string; readonly what: 'changed' | 'lost' }
  /** In a shared store; no request failed because of it. */
  | ({ readonly what: 'shared' } & SharedProblem);

/** Fetches what is missing, for all facades of a mount. */
export interface Pager {
  /**
   * @throws `Fault` ETIMEDOUT, EHOSTUNREACH, EACCES, EIO; the signal's reason when it aborts first
   */
  request<K extends PageRequest['kind']>(
    request: Extract<PageRequest, { kind: K }>,
    signal?: AbortSignal,
  ): Promise<PageReply[K]>;
  /**
   * Blocks until all requests have ended; they are under way at the same time.
   *
   * @returns in order, the answers, or what `request` would have been rejected with: EAGAIN where only the blocked thread
   *   itself could fetch
   */
  requestSync(requests: readonly PageRequest[]): readonly PromiseSettledResult<unknown>[];
  /** Told of each event from now on. */
  onEvent(listener: (event: PagerEvent) => void): void;
  close(): Promise<void>;
}
