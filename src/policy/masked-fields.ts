/**
 * The frontmatter fields that widen what an agent may do, or make a host run something, with the reason for each.
 *
 * A field belongs here if a host is known to act on it so. Left alone is what describes (`description`, `metadata`,
 * `argument-hint`), what restricts (`disallowed-tools`, `disable-model-invocation`, `user-invocable`, `paths`), and what
 * chooses among things that need the usual permissions (`model`, `effort`, `context`, `skills`; `shell` names the
 * interpreter of directives, and those are masked). An installer below `metadata` runs only when the user asks for it.
 *
 * A `tools` list restricts in some hosts; it is here because others enable or approve what it names. Without it, the
 * user's own permissions hold.
 */
export const MASKED_FIELDS: ReadonlyMap<string, string> = new Map([
  ['allowed-tools', 'approves tools, so that their use is not asked for'],
  ['tools', 'enables or approves tools'],
  ['permissions', 'sets permissions of tools'],
  ['permission', 'sets permissions of tools'],
  ['permission-mode', 'changes how the use of tools is approved'],
  ['agent', 'runs the skill as another agent, with the tools and permissions of that one'],
  ['required-environment-variables', 'lets secrets of the environment into the sandbox'],
  ['required-credential-files', 'lets credential files into the sandbox'],
  ['hooks', 'runs commands on events of the host'],
  ['scripts', 'names scripts for the host to run'],
  ['commands', 'names command lines for the host to run or register'],
  ['entrypoint', 'names code for the host to run'],
  ['install', 'runs installers'],
  ['mcp', 'starts or connects MCP servers'],
  ['mcp-servers', 'starts or connects MCP servers'],
  ['mcp-tools', 'starts or connects MCP servers'],
  ['command-dispatch', 'hands user input to a tool, past the model'],
  ['command-tool', 'names the tool that user input is handed to'],
]);

/** All of a field's spellings as one: `allowed-tools`, `allowed_tools`, `allowedTools`, `Allowed Tools`. */
function fold(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s_.-]/g, '');
}

/** Words that data and prose use, too: below the top level, and inside a text, they are taken for such. */
const COMMON = ['tools', 'permissions', 'permission', 'agent', 'scripts', 'commands', 'entrypoint', 'install', 'mcp'];
const UNMISTAKABLE = new Set([...MASKED_FIELDS.keys()].filter((name) => !COMMON.includes(name)).map(fold));

/** Which keys to mask, in any spelling. */
export class FieldNames {
  readonly #reasons: ReadonlyMap<string, string>;

  /** @param more names beside {@link MASKED_FIELDS} */
  constructor(more: Iterable<string> = []) {
    const added = [...more].map((name) => [name, 'is masked by configuration'] as const);
    this.#reasons = new Map([...added, ...MASKED_FIELDS].map(([name, reason]) => [fold(name), reason]));
  }

  /** Why a key is masked; `undefined` if it is not. */
  reason(key: string): string | undefined {
    return this.#reasons.get(fold(key));
  }

  /** Whether readers that go by lines, without YAML, take this line for one of the fields. */
  showsIn(line: string): boolean {
    const colon = line.indexOf(':');
    const before = line.slice(0, Math.max(colon, 0)).trim().slice(0, 256);
    const key = before.replace(/^["']/, '').replace(/["']$/, '');
    if (/^[-.]/.test(key) || this.reason(key) === undefined) return false;
    return !/^\s/.test(line) || UNMISTAKABLE.has(fold(key));
  }
}
