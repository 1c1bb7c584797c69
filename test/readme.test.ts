import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { serveHttp } from '../src/server/index.ts';

const root = new URL('..', import.meta.url).pathname;
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const snippets = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code ?? '');

/** The snippet that holds some code. */
function having(part: string): string {
  const found = snippets.filter((code) => code.includes(part));
  expect(found, part).toHaveLength(1);
  return found[0] ?? '';
}

/** A consumer in whose working directory `./skills` is there, and where `skillfs` is installed. */
function consumer(): string {
  const directory = mkdtempSync(join(tmpdir(), 'skillfs-readme-'));
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'));
  symlinkSync(join(root, 'fixtures/skills'), join(directory, 'skills'));
  writeFileSync(join(directory, 'package.json'), '{"type":"module","name":"skillfs-readme"}');
  return directory;
}

/** The snippet as JavaScript, with what a reader fills in: the package's own place, a command that is there, a server. */
function runnable(code: string, url: string): string {
  return code
    .replaceAll(/from 'skillfs(\/\w+)?'/g, (_, entry = '/index') => `from '${root}dist${entry}.js'`)
    .replace(
      "command: 'npx', args: ['skillfs', 'serve'",
      `command: process.execPath, args: ['${root}dist/cli.js', 'serve'`,
    )
    .replace('https://docs.example.com/mcp', url);
}

test('the first snippet does what it says', async () => {
  const server = await serveHttp(join(root, 'fixtures/skills'));
  const script = `${runnable(having('docs: {'), server.url)}
    console.log(text.split('\\n')[1], names.join());`;
  const directory = consumer();
  writeFileSync(join(directory, 'use.mjs'), script);
  expect(execFileSync(process.execPath, ['use.mjs'], { cwd: directory, encoding: 'utf8' })).toBe(
    'name: refunds invoices,refunds\n',
  );
  await server.close();
});

test('the API on one screen is the API there is', async () => {
  const server = await serveHttp(join(root, 'fixtures/skills'));
  const code = runnable(having('servers: { label: config }'), server.url)
    .replace('{ label: config }', `{ label: { url: '${server.url}' } }`)
    .replaceAll('/mcp/label/a', '/mcp/label/acme');
  const script = `import { mount } from '${root}dist/index.js';\n${code}\nconsole.log('done');`;
  const directory = consumer();
  writeFileSync(join(directory, 'api.mjs'), script);
  // The calls follow each other on lines of their own, so that a line that is not one ends the script.
  const output = await new Promise<string>((resolve, reject) => {
    import('node:child_process').then(({ execFile }) =>
      execFile(process.execPath, ['api.mjs'], { cwd: directory }, (error, stdout) =>
        error ? reject(error) : resolve(stdout),
      ),
    );
  });
  expect(output).toBe('done\n');
  await server.close();
});

test('the views snippet shows local skills beside those of a server, in a process of its own', () => {
  const directory = consumer();
  mkdirSync(join(directory, '.agents/skills/own'), { recursive: true });
  writeFileSync(join(directory, 'views.mjs'), `${runnable(having('patchFs([skills'), '')}\nconsole.log(found.join());`);
  expect(execFileSync(process.execPath, ['views.mjs'], { cwd: directory, encoding: 'utf8' })).toBe(
    'db-migrations,i18n-review,incident-response,invoices,own,pdf-forms,postmortem,refunds,release-notes\n',
  );
});

test('the serving snippet attaches the directory', () => {
  const directory = consumer();
  writeFileSync(
    join(directory, 'serve.mjs'),
    `${runnable(having('attachDirectory(server'), '')}\nconsole.log(server.isConnected());`,
  );
  expect(execFileSync(process.execPath, ['serve.mjs'], { cwd: directory, encoding: 'utf8' })).toBe('false\n');
});

test('the testing snippet finds nothing wrong with a mount', () => {
  const directory = consumer();
  writeFileSync(
    join(directory, 'testing.mjs'),
    `${runnable(having('memoryServer({'), '')}\nconsole.log(text.split('\\n')[1]);`,
  );
  expect(execFileSync(process.execPath, ['testing.mjs'], { cwd: directory, encoding: 'utf8' })).toBe('name: refunds\n');
});

test('the adapters snippet finds skills, and copies some', () => {
  const directory = consumer();
  const shown = 'console.log(found.length, Object.keys(volume.toJSON()).sort()[0]);';
  writeFileSync(join(directory, 'adapters.mjs'), `${runnable(having('globFs(skills)'), '')}\n${shown}`);
  expect(execFileSync(process.execPath, ['adapters.mjs'], { cwd: directory, encoding: 'utf8' })).toMatch(
    /^[1-9]\d* \/mcp\/acme\/acme\/billing\/invoices\//,
  );
});

test('the trust snippet grants one skill, and denies another', () => {
  const directory = consumer();
  const shown =
    "console.log(text.includes('\\nallowed-tools:'), skills.skills().some(({ name }) => name === 'release-notes'));";
  writeFileSync(join(directory, 'trust.mjs'), `${runnable(having("approval: 'required'"), '')}\n${shown}`);
  expect(execFileSync(process.execPath, ['trust.mjs'], { cwd: directory, encoding: 'utf8' })).toBe('true false\n');
});

test('the prompts snippet writes a catalog, and reads from it', () => {
  const directory = consumer();
  const shown = "console.log(page.text.split('\\n')[0]); console.log(result.content[0].text.split('\\n')[1]);";
  writeFileSync(join(directory, 'prompts.mjs'), `${runnable(having('readResourceTool(skills)'), '')}\n${shown}`);
  expect(execFileSync(process.execPath, ['prompts.mjs'], { cwd: directory, encoding: 'utf8' })).toMatch(
    /^- `[a-z-]+` \(`skill:\/\/.*`, server `acme`\): .*\nname: refunds\n$/,
  );
});

test('the commands it shows are there', () => {
  const help = execFileSync(process.execPath, [join(root, 'dist/cli.js'), '--help'], { encoding: 'utf8' });
  const shells = [...readme.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block).join('');
  const shown = [...shells.matchAll(/^skillfs (\w+)/gm)].map(([, command]) => command ?? '');
  expect(shown.length).toBeGreaterThan(4);
  for (const command of shown) expect(help).toMatch(new RegExp(`^ {2}${command}\\b`, 'm'));
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  for (const [, script] of readme.matchAll(/npm run (\w+)/g)) expect(scripts).toHaveProperty(script ?? '');
});

test('the error codes it lists are those the code gives', () => {
  const codes = readFileSync(join(root, 'src/base/fault.ts'), 'utf8').matchAll(/\| '(E\w+)'/g);
  const unlisted = [...codes].map(([, code]) => code ?? '').filter((code) => !readme.includes(`\`${code}\``));
  // Codes of the calls themselves: bad descriptors, arguments and names, as Node gives them.
  expect(unlisted).toEqual(['EBADF', 'EINVAL', 'ENAMETOOLONG']);
});
