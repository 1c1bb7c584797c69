import type { MaskProblem } from '../../src/policy/mask.ts';

/** A SKILL.md, and what it becomes: text, `undefined` for itself, or why it is refused. */
export interface Case {
  readonly title: string;
  readonly text: string;
  readonly masked?: string;
  readonly refused?: MaskProblem;
}

const around = (yaml: string) => `---\n${yaml}\n---\nBody.\n`;

function masks(title: string, yaml: string, masked: string): Case {
  return { title, text: around(yaml), masked: around(masked) };
}

function keeps(title: string, yaml: string): Case {
  return { title, text: around(yaml) };
}

function refuses(title: string, yaml: string, refused: MaskProblem): Case {
  return { title, text: around(yaml), refused };
}

const BLOCK: readonly Case[] = [
  masks('a plain value', 'name: a\nallowed-tools: Bash', 'name: a\n#llowed-tools: Bash'),
  masks('the first field', 'hooks: x\nname: a', '#ooks: x\nname: a'),
  masks('no value', 'hooks:\nname: a', '#ooks:\nname: a'),
  masks('a one-letter remainder', 'mcp:\n -\nname: a', '#cp:\n#-\nname: a'),
  masks('a list', 'tools:\n  - A\n  - B\nname: a', '#ools:\n# - A\n# - B\nname: a'),
  masks('a list that is not indented', 'tools:\n- A\n-\nname: a', '#ools:\n# A\n#\nname: a'),
  masks('a list before, not indented', 'tags:\n- x\ntools:\n- A\nname: a', 'tags:\n- x\n#ools:\n# A\nname: a'),
  masks(
    'nested hooks',
    'name: a\nhooks:\n  PreToolUse:\n    - matcher: "Bash"\n      hooks:\n        - type: command\n          command: ./x.sh',
    'name: a\n#ooks:\n# PreToolUse:\n#   - matcher: "Bash"\n#     hooks:\n#       - type: command\n#         command: ./x.sh',
  ),
  masks('a literal block', 'scripts: |\n  a\n\n  b: c\nname: a', '#cripts: |\n# a\n\n# b: c\nname: a'),
  masks('a folded block that keeps its end', 'scripts: >+\n  a\n\n\nname: a', '#cripts: >+\n# a\n\n\nname: a'),
  masks('a literal block with a given indent', 'scripts: |1\n   a\n  b\nname: a', '#cripts: |1\n#  a\n# b\nname: a'),
  masks('lines of blanks', 'scripts: |\n  a\n  \n  b\nname: a', '#cripts: |\n# a\n# \n# b\nname: a'),
  masks(
    'after a literal block',
    'description: |\n  a\n\nhooks: x\nname: a',
    'description: |\n  a\n\n#ooks: x\nname: a',
  ),
  masks(
    'after a block that keeps its end',
    'description: |+\n  a\n\nhooks: x\n\nname: a',
    'description: |+\n  a\n\n#ooks: x\n\nname: a',
  ),
  masks('after an empty block', 'description: |\nhooks: x\nname: a', 'description: |\n#ooks: x\nname: a'),
  masks('after a field without value', 'license:\nhooks: x\nname: a', 'license:\n#ooks: x\nname: a'),
  masks(
    'after plain text of more lines',
    'description: a\n  b\nhooks: x\nname: a',
    'description: a\n  b\n#ooks: x\nname: a',
  ),
  masks('plain text of more lines', 'tools: A,\n  B,\n\n  C\nname: a', '#ools: A,\n# B,\n\n# C\nname: a'),
  masks('double-quoted text of more lines', 'tools: "A,\n  B\\\n  C"\nname: a', '#ools: "A,\n# B\\\n# C"\nname: a'),
  masks('single-quoted text of more lines', "tools: 'A,\n\n  B'\nname: a", "#ools: 'A,\n\n# B'\nname: a"),
  masks('a flow list', 'allowed-tools: [Bash, Read]\nname: a', '#llowed-tools: [Bash, Read]\nname: a'),
  masks('a flow list of more lines', 'tools: [\n  A, # c\n  B\n  ]\nname: a', '#ools: [\n# A, # c\n# B\n# ]\nname: a'),
  masks(
    'comments',
    '# top\nhooks: # why\n  # in\n  a: 1\n# after\nname: a',
    '# top\n#ooks: # why\n# # in\n# a: 1\n# after\nname: a',
  ),
  masks('a comment that ends its line', 'hooks: x # "y\nname: a # z', '#ooks: x # "y\nname: a # z'),
  masks('a double-quoted key', '"allowed-tools": Bash\nname: a', '#allowed-tools": Bash\nname: a'),
  masks('a single-quoted key', "'hooks': x\nname: a", "#hooks': x\nname: a"),
  masks('an escaped key', '"allowed\\u002dtools": Bash\nname: a', '#allowed\\u002dtools": Bash\nname: a'),
  masks('a wholly escaped key', '"\\x68ooks": x\nname: a', '#\\x68ooks": x\nname: a'),
  masks('blanks before the colon', 'hooks  : x\nname: a', '#ooks  : x\nname: a'),
  masks('an explicit key', '? allowed-tools\n: Bash\nname: a', '# allowed-tools\n# Bash\nname: a'),
  masks('an explicit key in a block', '? |\n  hooks\n: x\nname: a', '# |\n# hooks\n# x\nname: a'),
  masks('an explicit key without value', '? hooks\nname: a', '# hooks\nname: a'),
  masks('a tagged key', '!!str hooks: x\nname: a', '#!str hooks: x\nname: a'),
  masks('an anchored key', '&k hooks: x\nname: a', '#k hooks: x\nname: a'),
  masks(
    'an anchor that nothing else needs',
    'hooks: &h\n  a: *h2\nname: a'.replace(': *h2', ': 1'),
    '#ooks: &h\n# a: 1\nname: a',
  ),
  masks('an alias as value', 'name: &n a\ntools: *n', 'name: &n a\n#ools: *n'),
  masks('a tag that runs, inside', 'hooks: !!js/function "x"\nname: a', '#ooks: !!js/function "x"\nname: a'),
  masks('an indented mapping', '  name: a\n  hooks: x\n  license: b', '  name: a\n# #ooks: x\n  license: b'),
  masks('a tagged mapping', '!!map\nname: a\nhooks: x', '!!map\nname: a\n#ooks: x'),
  masks(
    'other spellings',
    'name: a\nallowed_tools: 1\nallowedTools: 2\nAllowed-Tools: 3\nHOOKS: 4\nmcpServers: 5',
    'name: a\n#llowed_tools: 1\n#llowedTools: 2\n#llowed-Tools: 3\n#OOKS: 4\n#cpServers: 5',
  ),
  masks('full-width letters', 'name: a\nｈooks: x', 'name: a\n#  ooks: x'),
  masks('non-BMP text', 'name: 🦊\nhooks:\n- 🦊🦊\nlicense: 𝒳', 'name: 🦊\n#ooks:\n# 🦊🦊\nlicense: 𝒳'),
  masks(
    'many fields',
    'hooks: 1\nname: a\nmcp: 2\nagent: b\npermission-mode: c',
    '#ooks: 1\nname: a\n#cp: 2\n#gent: b\n#ermission-mode: c',
  ),
  masks('tabs before a value', 'hooks:\tx\nname: a', '#ooks:\tx\nname: a'),
  masks(
    'a dispatch to a tool',
    'name: a\ncommand-dispatch: tool\ncommand-tool: exec',
    'name: a\n#ommand-dispatch: tool\n#ommand-tool: exec',
  ),
  masks('a directive in a masked field', 'name: a\nhooks: "!`x`"', 'name: a\n#ooks: " `x`"'),
  masks('a directive in a comment', 'name: a # !`x`', 'name: a #  `x`'),
];

/** What is between « and » becomes blanks, one for each byte. */
function blanks(title: string, marked: string): Case {
  const masked = marked.replaceAll(/«([^»]*)»/g, (_all, inner: string) =>
    inner.replaceAll(/[^\r\n]/gu, (char) => ' '.repeat(new TextEncoder().encode(char).length)),
  );
  return masks(title, marked.replaceAll(/[«»]/g, ''), masked);
}

const FLOW: readonly Case[] = [
  blanks('the last field', '{name: a«, hooks: x»}'),
  blanks('the first field', '{«hooks: x,» name: a}'),
  blanks('a field between', '{name: a, «hooks: [x, {y: z}],» license: b}'),
  blanks('a comma at the end', '{name: a, «hooks: x,»}'),
  blanks('more at the end', '{name: a«, hooks: x,» «mcp: y»}'),
  blanks('more at the start', '{«hooks: x,» «mcp: y,» name: a }'),
  blanks('JSON', '{"name":"a",«"hooks":{"A":[1,2]},»"license":"b"}'),
  blanks('more lines', '{\n  name: a, # c\n  «hooks: [\n    x # d\n  ] # e\n  ,» license: b\n}'),
  blanks('a comment after the last', '{\n  name: a«, # c\n  hooks: x # }\n»}'),
  blanks('an explicit key', '{name: a«, ? hooks : x»}'),
  blanks('a key without value', '{«hooks,» name: a}'),
  blanks('an escaped key', '{name: a«, "allowed\\x2dtools": x»}'),
  blanks('non-BMP text', '{name: 🦊, «hooks: 🦊,» license: 𝒳}'),
  blanks('a tagged key', '{name: a, «!!str hooks: x,» license: b}'),
  blanks('after a comment and a tag', '# c\n!!map {name: a«, hooks: x»} # d'),
];

const KEPT: readonly Case[] = [
  keeps('only what describes', 'name: a\ndescription: Uses hooks and\n  allowed-tools, not more'),
  keeps(
    'what restricts',
    'name: a\ndisallowed-tools: Bash\ndisable-model-invocation: true\nuser-invocable: false\npaths: "*.ts"',
  ),
  keeps('what chooses', 'name: a\nmodel: x\neffort: high\ncontext: fork\nshell: bash\nargument-hint: "[x]"'),
  keeps('nested data that says tools', 'name: a\nmetadata:\n  tools: x\n  openclaw:\n    install:\n      - kind: brew'),
  keeps('nested data on one line', 'name: a\nmetadata: {"openclaw": {"requires": {"bins": ["x"]}, "hooks": 1}}'),
  keeps('a field that has been masked', 'name: a\n#llowed-tools: Bash'),
  keeps('a commented field', 'name: a\n# allowed-tools: Bash\n  # hooks: x'),
  keeps('an anchor and its alias', 'name: &n a\nlicense: *n'),
  keeps('a nested merge key', 'name: a\nmetadata:\n  x: &x {y: 1}\n  z:\n    <<: *x'),
  keeps('prose about directives', 'name: a\ndescription: Wow! `x`, `y`!'),
  keeps('a double bang and a tilde', 'name: a\ndescription: 화이팅~~~!'),
];

const REFUSED: readonly Case[] = [
  refuses('a merge key', 'name: a\nx: &x {hooks: y}\n<<: *x', 'indirect-key'),
  refuses('a quoted merge key', 'name: a\n"<<": {hooks: y}', 'indirect-key'),
  refuses('an alias for a key', 'name: &k hooks\n*k : x', 'indirect-key'),
  refuses('an alias into a masked field', 'hooks: &h x\nname: *h', 'not-exact'),
  refuses('an anchor set anew in a masked field', 'name: &h x\nhooks: &h y\nlicense: *h', 'not-exact'),
  refuses('a prototype', 'name: a\n__proto__: {hooks: x}', 'prototype-key'),
  refuses('a function', 'name: a\nx: !!js/function "function(){}"', 'tag'),
  refuses('a Python object', 'name: a\nx: !!python/object/apply:os.system [id]', 'tag'),
  refuses('a verbatim tag', 'name: a\nx: !<tag:yaml.org,2002:python/name:os.system> ""', 'tag'),
  refuses('a private tag', 'name: a\nx: !include y', 'tag'),
  refuses('a binary key', 'name: a\n!!binary aG9va3M=: x', 'indirect-key'),
  refuses('a tagged key that would be the first', 'hooks: x\n!!str name: a', 'indirect-key'),
  refuses('an anchored key that would be the first', 'hooks: x\n&k name: a', 'indirect-key'),
  refuses('two explicit keys in one line', 'name: a\n? "hooks"? mcp: x', 'ambiguous-lines'),
  refuses('a list as key', 'name: a\n[hooks]: x', 'frontmatter'),
  refuses('a mapping as key', 'name: a\n? {hooks: 1}\n: x', 'frontmatter'),
  refuses('one field twice', 'name: a\nhooks: x\nhooks: y', 'frontmatter'),
  refuses('a directive line', '%TAG ! tag:yaml.org,2002:\nname: a', 'frontmatter'),
  refuses('an end of document', 'name: a\n...\nhooks: x', 'frontmatter'),
  refuses('an end of document after all', 'name: a\n...', 'ambiguous-lines'),
  refuses('a document start', 'name: a\n--- hooks\n', 'frontmatter'),
  refuses('a key that looks like a fence', 'name: a\n---x: 1\nhooks: x', 'ambiguous-lines'),
  refuses('a lone CR', 'name: a\ndescription: "b\rhooks: x"', 'ambiguous-lines'),
  refuses('a lone CR in a comment', 'name: a # b\rhooks: x', 'ambiguous-lines'),
  refuses('NEL', 'name: a\ndescription: "b\u0085hooks: x"', 'ambiguous-lines'),
  refuses('a line separator in a comment', 'name: a # b\u2028hooks: x', 'ambiguous-lines'),
  refuses('a form feed', 'name: a\ndescription: "b\fallowed-tools: x"', 'ambiguous-lines'),
  refuses('a field in a literal block', 'name: a\ndescription: |\n  b\n  allowed-tools: Bash', 'hidden-field'),
  refuses('a field in quoted text', 'name: a\ndescription: "b\n  allowed-tools: Bash"', 'hidden-field'),
  refuses('a nested field', 'name: a\nmetadata:\n  allowed_tools: Bash', 'hidden-field'),
  refuses('a nested field far from its colon', `name: a\nmetadata:\n  hooks${' '.repeat(300)}: x`, 'hidden-field'),
  refuses('a common word at the start of a line', 'name: a\nmetadata: {x: 1,\ntools: y}', 'frontmatter'),
  refuses('a directive in a value', 'name: a\ndescription: "see !`id`"', 'directive-in-frontmatter'),
  refuses(
    'a fenced directive in a value',
    'name: a\nhooks: x\ndescription: |\n  ```!\n  id\n  ```',
    'directive-in-frontmatter',
  ),
  refuses('nothing else', 'hooks: x\ntools: y', 'nothing-left'),
  refuses('nothing else, in flow style', '{hooks: x}', 'nothing-left'),
  refuses('unquoted text with a colon', 'name: a\ndescription: use it: now\nhooks: x', 'frontmatter'),
  { title: 'no frontmatter', text: 'allowed-tools: Bash\n', refused: 'frontmatter' },
  { title: 'an empty file', text: '', refused: 'frontmatter' },
  { title: 'empty frontmatter', text: '---\n---\n', refused: 'frontmatter' },
  { title: 'no closing fence', text: '---\nname: a\nhooks: x\n', refused: 'frontmatter' },
  { title: 'two byte order marks', text: '\uFEFF\uFEFF---\nname: a\n---\n', refused: 'frontmatter' },
  ...['js', 'json', 'toml', 'coffee', ' js', ' # x'].map((language): Case => {
    return {
      title: `a fence with "${language}"`,
      text: `---${language}\nname: a\nhooks: x\n---\n`,
      refused: 'frontmatter',
    };
  }),
];

const FILES: readonly Case[] = [
  {
    title: 'CRLF',
    text: '---\r\nname: a\r\nhooks:\r\n  - x\r\n\r\n  - y\r\nlicense: b\r\n---\r\nc\r\n',
    masked: '---\r\nname: a\r\n#ooks:\r\n# - x\r\n\r\n# - y\r\nlicense: b\r\n---\r\nc\r\n',
  },
  {
    title: 'CRLF in flow style',
    text: '---\r\n{name: a,\r\nhooks: x}\r\n---\r\n',
    masked: '---\r\n{name: a \r\n        }\r\n---\r\n',
  },
  {
    title: 'mixed line ends',
    text: '---\nname: 🦊\r\nhooks:\n  - é\r\nlicense: b\n---\r\n',
    masked: '---\nname: 🦊\r\n#ooks:\n# - é\r\nlicense: b\n---\r\n',
  },
  {
    title: 'a byte order mark',
    text: '\uFEFF---\nname: é\nhooks: x\n---\n',
    masked: '\uFEFF---\nname: é\n#ooks: x\n---\n',
  },
  {
    title: 'a byte order mark inside',
    text: '---\n\uFEFFhooks: x\nname: é\n---\n',
    masked: '---\n#  #ooks: x\nname: é\n---\n',
  },
  {
    title: 'blanks after the fences',
    text: '--- \t\nname: a\nhooks: x\n---\t \nb',
    masked: '--- \t\nname: a\n#ooks: x\n---\t \nb',
  },
  { title: 'no end of the last line', text: '---\nname: a\nhooks: x\n---', masked: '---\nname: a\n#ooks: x\n---' },
  { title: 'a body that shows a frontmatter', text: '---\nname: a\n---\n---\nhooks: x\n---\n' },
];

export const CASES: ReadonlyMap<string, readonly Case[]> = new Map([
  ['block style', BLOCK],
  ['flow style', FLOW],
  ['nothing to mask', KEPT],
  ['refused', REFUSED],
  ['whole files', FILES],
]);
