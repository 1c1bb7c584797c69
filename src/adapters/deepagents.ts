import { posix } from 'node:path';
import { mimeTypeOf, textOf } from '../base/mime-types.ts';
import type {
  DeepagentsBackend,
  DeepagentsDownload,
  DeepagentsFileInfo,
  DeepagentsRead,
  DeepagentsRefusal,
} from './deepagents-protocol.ts';
import { findFiles, grepFiles } from './deepagents-search.ts';
import { belowMountPoint, type View } from './view.ts';

/** Lines that a read without a limit gives, as the protocol has it. */
const LINES = 500;

/**
 * A view as a backend of deepagents. Its root is the mount point, as `CompositeBackend` wants it:
 * `new CompositeBackend(new StateBackend(), { '/mcp/': deepagentsBackend(view) })` has every path be the view's own, and
 * `createSkillsMiddleware({ backend, sources: ['/mcp/acme/'] })` finds the skills right below a source.
 *
 * Nothing throws: what fails says so in `error`, with Node's message. A search goes past what it cannot look at and is
 * `truncated` then. `grep` reads every file it looks into, so it costs what reading them costs. Writes are refused.
 */
export function deepagentsBackend(view: View): DeepagentsBackend {
  const { promises } = view;
  const at = (path: string) => belowMountPoint(view, path);
  /** The host's path for one of the view. */
  const hostPath = (path: string) => posix.resolve('/', posix.relative(view.mountPoint, path));
  const refused = (doing: string) => async (path: string) => refusal(doing, at(path));

  async function info(path: string): Promise<DeepagentsFileInfo> {
    const stats = await promises.stat(path);
    const directory = stats.isDirectory();
    return {
      path: directory ? `${hostPath(path)}/` : hostPath(path),
      is_dir: directory,
      size: directory ? 0 : stats.size,
      modified_at: stats.mtime.toISOString(),
    };
  }

  async function download(path: string): Promise<DeepagentsDownload> {
    try {
      return { path, content: await promises.readFile(at(path)), error: null };
    } catch (error) {
      return { path, content: null, error: downloadError(error) };
    }
  }

  return {
    ls: (path) =>
      orError(async () => {
        const names = await promises.readdir(at(path));
        return { files: await Promise.all(names.map((name) => info(posix.join(at(path), name)))) };
      }),
    read: (path, offset = 0, limit = LINES) =>
      orError(async () => linesOf(path, contentOf(path, await promises.readFile(at(path))), offset, limit)),
    readRaw: (path) =>
      orError(async () => {
        const [bytes, stats] = await Promise.all([promises.readFile(at(path)), promises.stat(at(path))]);
        const times = { created_at: stats.birthtime.toISOString(), modified_at: stats.mtime.toISOString() };
        return { data: { ...contentOf(path, bytes), ...times } };
      }),
    glob: (pattern, path = '/') =>
      orError(async () => {
        const { files, truncated } = await findFiles(view, at(path), pattern);
        return { files: await Promise.all(files.map(info)), truncated };
      }),
    grep: (pattern, path, glob, maxCount) =>
      orError(async () => {
        const options = { glob: glob ?? undefined, maxCount: maxCount ?? undefined };
        const { matches, truncated, error } = await grepFiles(view, at(path ?? '/'), pattern, options);
        // To have found nothing where one could not look is not to know that nothing is there.
        if (matches.length === 0 && error !== undefined) throw error;
        return { matches: matches.map(({ file, line, text }) => ({ path: hostPath(file), line, text })), truncated };
      }),
    downloadFiles: (paths) => Promise.all(paths.map(download)),
    write: refused('write'),
    edit: refused('edit'),
    delete: refused('delete'),
    uploadFiles: async (files) => files.map(([path]) => ({ path, error: 'permission_denied' })),
  };
}

async function orError<T extends object>(answer: () => Promise<T>): Promise<T | { error: string }> {
  try {
    return await answer();
  } catch (error) {
    return { error: (error as Error).message };
  }
}

function refusal(doing: string, path: string): DeepagentsRefusal {
  return { error: `EROFS: cannot ${doing} '${path}': the skills of MCP servers are read-only` };
}

/** The protocol has four words for what can happen; a file that is there and may not be used is no missing one. */
function downloadError(error: unknown): DeepagentsDownload['error'] {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'file_not_found';
  if (code === 'EISDIR') return 'is_directory';
  return code === 'ENOTDIR' ? 'invalid_path' : 'permission_denied';
}

interface Content {
  content: string | Uint8Array;
  mimeType: string;
}

/** deepagents takes content for text by its type, and decodes as base64 what it does not take for it. */
const TEXT_TYPE = /^(text\/.*|application\/json|image\/svg\+xml)$/;

function contentOf(path: string, bytes: Uint8Array): Content {
  const guess = mimeTypeOf(path) ?? '';
  const text = textOf(bytes);
  if (text !== undefined) return { content: text, mimeType: TEXT_TYPE.test(guess) ? guess : 'text/plain' };
  const mimeType = guess === '' || TEXT_TYPE.test(guess) ? 'application/octet-stream' : guess;
  return { content: bytes, mimeType };
}

function linesOf(path: string, { content, mimeType }: Content, offset: number, limit: number): DeepagentsRead {
  if (typeof content !== 'string') return { content, mimeType };
  const lines = content.split('\n');
  const total = lines.at(-1) === '' ? lines.length - 1 : lines.length;
  const start = Math.max(0, Math.floor(offset));
  if (start >= total && start > 0)
    return { error: `line ${start} of '${path}' was asked for, which has ${total} lines` };
  const end = Math.min(start + Math.max(0, Math.floor(limit)), total);
  // With the last line goes the end of the file, a line break or none.
  const shown = lines.slice(start, end === total ? undefined : end).join('\n');
  if (end === start) return { content: shown, mimeType, totalLines: total };
  const next = end < total ? { nextOffset: end } : {};
  return { content: shown, mimeType, totalLines: total, startLine: start + 1, endLine: end, ...next };
}
