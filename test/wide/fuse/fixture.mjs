// A directory of skills, the server of it, and mounts of that server, as the checks need them.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const cli = new URL('../../../dist/cli.js', import.meta.url).pathname;
const serverProgram = new URL('./server.mjs', import.meta.url).pathname;

/** Runs a program to its end. @returns how it ended and what it wrote; `late` when it had to be killed */
export function run(command, args, { cwd, timeout = 60_000, env } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, LC_ALL: 'C', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const chunks = [];
    let stderr = '';
    let late = false;
    child.stdout.on('data', (chunk) => chunks.push(chunk));
    child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
    const timer = setTimeout(() => {
      late = true;
      child.kill('SIGKILL');
    }, timeout);
    child.on('error', (error) => resolve({ code: -1, stdout: '', stderr: error.message, late }));
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      resolve({ code: code ?? signal, stdout: Buffer.concat(chunks).toString('latin1'), stderr, late });
    });
  });
}

export const skillfs = (...args) => run(process.execPath, [cli, ...args]);

/** The command that mounts, as it stays in the foreground. */
export function foreground(fixture) {
  const args = [cli, 'mount', fixture.dir, '--foreground', '--no-cache', '--server', `s=${fixture.serverCommand}`];
  return spawn(process.execPath, args, { stdio: 'ignore' });
}

const fixtures = [];

/** To be called when nothing is mounted any more. */
export function removeFixtures() {
  for (const { directory } of fixtures) rmSync(directory, { recursive: true });
}

export class Fixture {
  constructor(name) {
    fixtures.push(this);
    this.directory = mkdtempSync(join(tmpdir(), `skillfs-fuse-${name}-`));
    this.skills = join(this.directory, 'skills');
    this.dir = join(this.directory, 'mount');
    mkdirSync(this.skills);
    mkdirSync(this.dir);
    writeFileSync(join(this.directory, 'requests.log'), '');
  }

  /** Where the server's skills are in the mount. */
  get mounted() {
    return join(this.dir, 's');
  }

  get serverCommand() {
    return `${process.execPath} ${serverProgram} ${this.directory}`;
  }

  get server() {
    return { command: process.execPath, args: [serverProgram, this.directory], stderr: 'ignore' };
  }

  write(path, content) {
    const file = join(this.skills, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }

  skill(path, files = {}) {
    const name = path.slice(path.lastIndexOf('/') + 1);
    this.write(`${path}/SKILL.md`, `---\nname: ${name}\ndescription: About ${name}\n---\n\n# ${name}\n`);
    for (const [file, content] of Object.entries(files)) this.write(`${path}/${file}`, content);
  }

  faults(faults) {
    writeFileSync(join(this.directory, 'faults.json'), JSON.stringify(faults));
  }

  /** The requests that came in so far of one method. */
  requests(method, end = '') {
    const lines = readFileSync(join(this.directory, 'requests.log'), 'utf8').split('\n');
    return lines.filter((line) => line.startsWith(`${method} `) && line.endsWith(end));
  }

  async mount(...options) {
    const { code, stderr } = await skillfs(
      'mount',
      this.dir,
      '--no-cache',
      '--server',
      `s=${this.serverCommand}`,
      ...options,
    );
    if (code !== 0) throw new Error(`mount failed: ${stderr}`);
  }

  /** The process that serves the mount. */
  async pid() {
    const mounts = JSON.parse((await skillfs('mounts', '--json')).stdout);
    return mounts.find(({ dir }) => dir === this.dir)?.pid;
  }

  unmount() {
    return skillfs('unmount', this.dir);
  }
}
