/** Where variables get their values. */
export interface Variables {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The directory that holds the configuration: `${workspaceFolder}`. */
  readonly workspaceFolder: string;
}

/**
 * Replaces `${VAR}`, `${VAR:-default}`, `${env:VAR}` and `${workspaceFolder}` in every string of a value.
 *
 * @throws Error naming the key and the variable when one has neither value nor default
 */
export function expand<T>(value: T, variables: Variables, key = ''): T {
  if (typeof value === 'string') return expandText(value, variables, key) as T;
  if (Array.isArray(value)) return value.map((item, index) => expand(item, variables, `${key}[${index}]`)) as T;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, item]) => [
    name,
    expand(item, variables, key === '' ? name : `${key}.${name}`),
  ]);
  return Object.fromEntries(entries) as T;
}

function expandText(text: string, { env, workspaceFolder }: Variables, key: string): string {
  return text.replace(/\$\{([^}]*)\}/g, (_, inside: string) => {
    if (inside === 'workspaceFolder') return workspaceFolder;
    if (inside.startsWith('input:')) throw new Error(`${key}: \${${inside}} asks for input, which is not supported`);
    const [, name = '', fallback] = /^(?:env:)?([^:]+?)(?::-([\s\S]*))?$/.exec(inside) ?? [];
    const found = env[name];
    if (found !== undefined && (found !== '' || fallback === undefined)) return found;
    if (fallback !== undefined) return fallback;
    throw new Error(`${key}: the variable ${name || inside} is not set, and \${${inside}} has no default`);
  });
}
