import { join } from 'node:path';
import * as z from 'zod';
import { readWhole } from '../content/disk/files.ts';

/** What a copy says of itself, in its root. */
export const LOCK_FILE = 'skillfs.lock.json';

/** Where a copy under way keeps what it has begun, in its root. */
export const WORK_DIRECTORY = '.skillfs-export';

/** Bytes of a lock file that is read at most. */
const LOCK_BYTES = 256 * 1024 * 1024;

/** A copy, or a place for one, that cannot be used. */
export class ExportError extends Error {
  override readonly name = 'ExportError';
  readonly code = 'ERR_SKILLFS_EXPORT';
}

const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/);

/** A path below the copy's root, which leads nowhere else. */
const path = z
  .string()
  .refine((given) => given.split('/').every((name) => !['', '.', '..'].includes(name) && !/[\\:\0]/.test(name)), {
    error: 'expected a relative path that stays in the directory',
  });

const lockSchema = z.object({
  format: z.literal(1),
  layout: z.enum(['tree', 'flat']),
  skills: z.array(
    z.object({
      label: z.string(),
      uri: z.string(),
      content: z.enum(['verified', 'dynamic']),
      files: z.array(
        z.object({
          path,
          uri: z.string(),
          size: z.number().int().min(0),
          manifest: digest.optional(),
          written: digest,
        }),
      ),
    }),
  ),
});

/** What was copied, and where it is from (CACHE-2). */
export type Lock = z.infer<typeof lockSchema>;

/** A skill of a copy: its server's label, the URI of its SKILL.md, and whether digests were published for it (VER-5). */
export type LockedSkill = Lock['skills'][number];

/**
 * A file of a copy: its path below the root, its URI, the size in bytes and digest of what was written, and, where there is a
 * manifest, the digest it lists.
 */
export type LockedFile = LockedSkill['files'][number];

/**
 * What a directory's lock says; `undefined` where there is none.
 *
 * @throws ExportError when there is one that cannot be understood
 */
export function readLock(root: string): Lock | undefined {
  const file = join(root, LOCK_FILE);
  let text: string;
  try {
    text = Buffer.from(readWhole(file, LOCK_BYTES).bytes).toString();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new ExportError(`${file}: cannot be read: ${(error as Error).message}`);
  }
  try {
    return lockSchema.parse(JSON.parse(text));
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : (error as Error).message;
    throw new ExportError(`${file}: is not the lock of a copy that this version makes: ${reason}`);
  }
}

/** The files of a lock by their paths. */
export function lockedFiles(lock: Lock | undefined): ReadonlyMap<string, LockedFile> {
  return new Map((lock?.skills ?? []).flatMap(({ files }) => files.map((file) => [file.path, file])));
}
