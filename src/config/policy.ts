import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ParseError, parse } from 'jsonc-parser';
import { type MountOptions, resolveOptions } from '../options.ts';
import { SETTINGS_FILE } from './files.ts';

/**
 * The policy of a configuration: of `file` where one is given, else of the settings of a directory.
 *
 * @throws Error, OptionsError among them, when it is there and cannot be used: what users forbade must not get lost
 */
export function policyIn(file: string | undefined, directory: string): MountOptions['policy'] {
  const name = file ?? SETTINGS_FILE;
  const path = file ?? join(directory, SETTINGS_FILE);
  if (file === undefined && !existsSync(path)) return undefined;
  const errors: ParseError[] = [];
  const value: unknown = parse(readFileSync(path, 'utf8').replace(/^\ufeff/, ''), errors, { allowTrailingComma: true });
  if (errors.length > 0) throw new Error(`${name}: not JSON, so that nothing is known of a policy in it`);
  const { policy } = (value ?? {}) as { readonly policy?: MountOptions['policy'] };
  if (policy === undefined) return undefined;
  try {
    resolveOptions({ servers: {}, policy });
    return policy;
  } catch (error) {
    throw new Error(`${name}: ${(error as Error).message}`, { cause: error });
  }
}
