import { createRequire } from 'node:module';
import { isAbsolute, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { redisStore } from '../redis-store.ts';
import type { SharedSource, SharedStore } from '../shared-store.ts';
import { Patience } from './patience.ts';
import { loadRedis } from './redis-package.ts';
import type { SharedSetup } from './shared-content.ts';

/** Loads the code that a store needs, which keeps a thread busy, before somebody waits for that thread. */
export async function loadShared({ source, deadline }: SharedSetup): Promise<void> {
  if ('store' in source) return;
  const loading: Promise<unknown> = 'redis' in source ? loadRedis() : import(String(source.module));
  // Whoever uses the store is told why it cannot be loaded.
  await new Patience(deadline).of(loading).catch(() => undefined);
}

/** @throws Error saying what is wrong with the module, or what the module throws */
export async function openShared(source: SharedSource): Promise<SharedStore> {
  if ('store' in source) return source.store;
  if ('redis' in source) return redisStore({ ...source, url: source.redis });
  const { default: make } = (await import(String(source.module))) as { default?: unknown };
  if (typeof make !== 'function') throw new TypeError(`${source.module} has no function as its default export`);
  const store: unknown = await make(source.options);
  if (!isSharedStore(store)) throw new TypeError(`what ${source.module} makes has not the methods get, put and delete`);
  return store;
}

export function isSharedStore(value: unknown): value is SharedStore {
  const { get, put, delete: remove } = (value ?? {}) as Partial<Record<keyof SharedStore, unknown>>;
  return [get, put, remove].every((method) => typeof method === 'function');
}

/** What any thread can import: files and packages are looked for from the working directory. */
export function moduleAddress(module: string | URL, directory = process.cwd()): string {
  const name = String(module);
  if (module instanceof URL || /^(file|data|node):/.test(name)) return name;
  if (isAbsolute(name) || /^\.\.?[/\\]/.test(name)) return pathToFileURL(resolve(directory, name)).href;
  try {
    return pathToFileURL(createRequire(pathToFileURL(`${directory}/`)).resolve(name)).href;
  } catch {
    // Packages of ES modules alone are found by import only, from where skillfs is installed.
    return name;
  }
}
