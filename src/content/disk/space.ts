import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type CacheFile, filesIn, scopesIn } from './layout.ts';
import type { Uid } from './private-directory.ts';

/** A temporary file that is older than this, in milliseconds, has no writer any more. */
const LEFTOVER_AGE = 60 * 60 * 1000;

/** The part of the bound that may be written between two looks at the directory, and that a look leaves free. */
const SLICES = 16;

/** Bytes a file takes at least. */
const BLOCK = 4096;

/** Files and their bytes. */
export interface Freed {
  readonly files: number;
  readonly bytes: number;
}

/** Keeps a cache directory within its bound. */
export interface Space {
  /** Told of everything written; every so many bytes, makes room. */
  wrote(bytes: number): void;
  /** Removes leftovers, and what was not used for longest until the bound is kept. */
  makeRoom(): { readonly leftovers: Freed; readonly evicted: Freed };
}

/**
 * The directory is looked at when a sixteenth of the bound was written since the last look, so that writing stays cheap. The
 * first look of a process comes after a random part of that: of many short processes that write little, as of one that
 * writes much, one in so many bytes looks. What is on the disk may exceed the bound by a sixteenth for each process that
 * writes. Sizes are counted in blocks of 4 KiB.
 */
export function spaceOf(directory: string, maxBytes: number, uid: Uid): Space {
  const slice = maxBytes / SLICES;
  let unseen = Math.random() * slice;
  const makeRoom: Space['makeRoom'] = () => {
    unseen = 0;
    const files = scopesIn(directory, uid).flatMap((id) => filesIn(join(directory, id)));
    const old = Date.now() - LEFTOVER_AGE;
    const leftovers = files.filter(({ kind, usedAt }) => kind === 'temporary' && usedAt < old);
    const kept = files.filter(({ kind }) => kind !== 'temporary').sort((a, b) => b.usedAt - a.usedAt);
    let total = 0;
    const evicted = kept.filter((file) => {
      total += onDisk(file.bytes);
      return total > maxBytes - slice;
    });
    return { leftovers: removeFiles(leftovers), evicted: removeFiles(evicted) };
  };
  return {
    wrote(bytes) {
      unseen += onDisk(bytes);
      if (unseen >= slice) makeRoom();
    },
    makeRoom,
  };
}

function onDisk(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / BLOCK)) * BLOCK;
}

/** Removes files that may be gone already. @returns what was found of them before */
export function removeFiles(files: readonly CacheFile[]): Freed {
  for (const { path } of files) rmSync(path, { force: true, recursive: true });
  return sizeOf(files);
}

export function sizeOf(files: readonly CacheFile[]): Freed {
  return { files: files.length, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0) };
}
