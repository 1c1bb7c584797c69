import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import type { Mount } from '../mount.ts';
import { internalsOf, viewInternalsOf } from '../mounted.ts';
import type { NodeFs } from '../node/index.ts';
import { checkedByNode, isNodes, NOWHERE, native, nativePromises } from '../node/native.ts';
import { OptionsError } from '../options.ts';
import type { Layer, LocalLayer } from '../vfs/union-fs.ts';
import type { View } from '../views/view.ts';
import { replacementFor } from './functions.ts';
import { type Patched, Routes } from './routes.ts';

/** Undoes what {@link patchFs} did. */
export interface PatchedFs {
  restore(): void;
  [Symbol.dispose](): void;
}

type Functions = Record<string, unknown>;

const routes = new Routes();
let unpatch: (() => void) | undefined;

/**
 * Lets a whole process see mounts and views at their mount points: `node:fs` and `node:fs/promises` are replaced function by
 * function, named imports included. Other paths reach what was there before. The mount point of a union may be a real
 * directory, which then shows the skills of servers beside its own.
 *
 * Not reached: programs started from here, native code, and what took functions out of `node:fs` before. Import
 * `skillfs/register` first (`node --import skillfs/register`) to be early enough.
 *
 * @throws TypeError for what is no mount and no view; OptionsError for a mount point that would hide files of the disk
 */
export function patchFs(views: Mount | View | readonly (Mount | View)[]): PatchedFs {
  const added = [views].flat().map(patchedOf);
  routes.add(added);
  unpatch ??= patch();
  const restore = () => {
    routes.remove(added);
    if (!routes.isEmpty) return;
    unpatch?.();
    unpatch = undefined;
  };
  return { restore, [Symbol.dispose]: restore };
}

function patchedOf(view: Mount | View): Patched {
  const { mountPoint, driver } = internalsOf(view);
  const union = viewInternalsOf(view);
  const [first] = union?.layers ?? [];
  const isHere = (layer: Layer): layer is LocalLayer =>
    layer.kind === 'local' && layer.fs.root === mountPoint && isNodes(layer.fs.fs as object);
  const isThere = first !== undefined && isHere(first);
  if (union?.layers.some(isHere) !== true) assertHidesNothing(mountPoint);
  return {
    mountPoint,
    fs: view.fs,
    overlay: isThere && first.writable,
    isServers: (path) => view.originOf(path)?.label !== undefined,
    placeOf: (path) => (union?.writes === undefined ? undefined : driver.sync(union.writes(path))),
  };
}

/** @throws OptionsError when there is something at the mount point, or the process works below it */
function assertHidesNothing(mountPoint: string): void {
  const there = native.lstatSync(mountPoint, { throwIfNoEntry: false });
  if (there === undefined) return;
  if (there.isDirectory() && native.readdirSync(mountPoint).length === 0) return;
  throw new OptionsError(
    `mountPoint: ${mountPoint} is on the disk, and would be hidden; to show skills in a directory beside what is in it, ` +
      'use a union over it (or "overlays" in the settings)',
  );
}

/**
 * Node takes from `node:fs` what it removes and copies directories with when it first does. That has to be its own: what
 * servers show in a directory cannot be removed with it, and is not part of a copy of what is on the disk.
 */
function loadInternals(): void {
  checkedByNode(() => native.rmSync(NOWHERE, { recursive: true, force: true }));
  checkedByNode(() => native.cpSync(NOWHERE, NOWHERE, { recursive: true }));
  void nativePromises.cp(NOWHERE, NOWHERE, { recursive: true }).catch(() => {});
}

/** @returns a function that puts back what was there */
function patch(): () => void {
  loadInternals();
  const undo = [
    ...replaceAll(fs as unknown as Functions, native as unknown as Functions, false),
    ...replaceAll(fs.promises as unknown as Functions, nativePromises as unknown as Functions, true),
  ];
  syncBuiltinESMExports();
  return () => {
    for (const put of undo) put();
    syncBuiltinESMExports();
  };
}

/** Functions that take a path. What works on descriptors is Node's, whoever opened them. */
const PATHS =
  /^(access|appendFile|chmod|chown|copyFile|cp|createReadStream|createWriteStream|exists|glob|lchmod|lchown|link|lstat|lutimes|mkdir|mkdtemp|mkdtempDisposable|open|openAsBlob|opendir|readdir|readFile|readlink|realpath|rename|rm|rmdir|stat|statfs|symlink|truncate|unlink|unwatchFile|utimes|watch|watchFile|writeFile)(Sync)?$|^(File)?(Read|Write)Stream$/;

function replaceAll(target: Functions, own: Functions, promised: boolean): (() => void)[] {
  const undo: (() => void)[] = [];
  for (const name of Object.keys(own)) {
    const original = target[name];
    if (!PATHS.test(name) || typeof original !== 'function') continue;
    const of = (mounted: NodeFs) => ((promised ? mounted.promises : mounted) as unknown as Functions)[name];
    const replaced = replacementFor(name, promised)(original as never, routes, of as never);
    if (replaced.name !== original.name || replaced.length !== original.length) {
      Object.defineProperty(replaced, 'name', { value: original.name, configurable: true });
      Object.defineProperty(replaced, 'length', { value: original.length, configurable: true });
    }
    target[name] = replaced;
    undo.push(() => {
      // What somebody else put there since stays.
      if (target[name] === replaced) target[name] = original;
    });
  }
  return undo;
}
