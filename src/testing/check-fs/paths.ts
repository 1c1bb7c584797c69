import { constants } from 'node:fs';
import { relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Outcome } from './calls.ts';
import { codeOf, difference, outcomeFacts } from './facts.ts';
import type { Check, Subject } from './subject.ts';
import { missingPath } from './subject.ts';

/** A path may come as string, Buffer or URL, absolute or relative to the working directory. */
export const spellings: Check = {
  needs: ['statSync', 'readdirSync', 'readFileSync', 'accessSync', 'realpathSync', 'existsSync'],
  each: 'entry',
  run({ call, bytes }, path, say) {
    const spelled = {
      'a Buffer': Buffer.from(path),
      'a URL': pathToFileURL(path),
      'a relative path': relative(process.cwd(), path) || '.',
    };
    const readSync = bytes.has(path) ? 'readFileSync' : 'readdirSync';
    for (const name of ['statSync', readSync, 'accessSync', 'realpathSync', 'existsSync']) {
      const expected = outcomeFacts(call.sync(name, [path]));
      for (const [what, spelling] of Object.entries(spelled)) {
        const unlike = difference(expected, outcomeFacts(call.sync(name, [spelling])));
        if (unlike !== undefined) say(`${name} of a string and of ${what}: ${unlike}`);
      }
    }
  },
};

/** Paths that lead nowhere are refused with the code that says why, and harmless ones are not refused. */
export const malformed: Check = {
  needs: ['statSync', 'readFileSync', 'readdirSync', 'openSync'],
  each: 'tree',
  run(subject, root, say) {
    const { files, directories, call, fs } = subject;
    const missing = missingPath(subject);
    const codes: Record<string, string> = {
      '': 'ENOENT',
      [missing]: 'ENOENT',
      [`${missing}/`]: 'ENOENT',
      [`${missing}/child.txt`]: 'ENOENT',
      [`${missing}/..`]: 'ENOENT',
      [`${root}/nul\0byte`]: 'ERR_INVALID_ARG_VALUE',
    };
    for (const file of files) for (const tail of ['/', '/child.txt', '/.', '/..']) codes[file + tail] = 'ENOTDIR';
    for (const [path, code] of Object.entries(codes)) {
      for (const name of ['statSync', 'readFileSync', 'readdirSync', 'openSync']) {
        const outcome = call.sync(name, name === 'openSync' ? [path, 'r'] : [path]);
        if (!('error' in outcome) && name === 'openSync') fs.closeSync(outcome.value as number);
        if (codeOf(outcome) !== code) say(`${name}: ${codeOf(outcome)} instead of ${code}`, path);
      }
    }
    for (const directory of directories) {
      for (const tail of ['/', '/.', '//', '/./.']) {
        const code = codeOf(call.sync('readdirSync', [directory + tail]));
        if (code !== 'no error') say(`readdirSync: ${code}, although it is the directory itself`, directory + tail);
      }
    }
    for (const file of files) {
      const code = codeOf(call.sync('readdirSync', [file]));
      if (code !== 'ENOTDIR') say(`readdirSync: ${code} instead of ENOTDIR`, file);
    }
    for (const directory of directories) {
      const code = codeOf(call.sync('readFileSync', [directory]));
      if (code !== 'EISDIR') say(`readFileSync: ${code} instead of EISDIR`, directory);
    }
  },
};

/** Without links a real path is the path itself. */
export const realpath: Check = {
  needs: ['realpathSync', 'realpathSync.native', 'realpath', 'realpath.native', 'promises.realpath'],
  each: 'entry',
  async run({ call }, path, say) {
    const outcomes: Readonly<Record<string, Outcome>> = {
      realpathSync: call.sync('realpathSync', [path]),
      'realpathSync.native': call.sync('realpathSync.native', [path]),
      realpath: await call.callback('realpath', [path]),
      'realpath.native': await call.callback('realpath.native', [path]),
      'promises.realpath': await call.promise('promises.realpath', [path]),
    };
    for (const [way, outcome] of Object.entries(outcomes)) {
      const unlike = difference(outcomeFacts(outcome), path);
      if (unlike !== undefined) say(`${way}: ${unlike}`);
    }
  },
};

/** What is there can be read, what is not cannot, and only what has an execute bit can be executed. */
export const access: Check = {
  needs: ['accessSync', 'existsSync', 'exists', 'statSync'],
  each: 'entry',
  async run({ fs, call }, path, say) {
    const { F_OK, R_OK, X_OK } = constants;
    for (const [name, mode] of Object.entries({ F_OK, R_OK })) {
      const code = codeOf(call.sync('accessSync', [path, mode]));
      if (code !== 'no error') say(`accessSync with ${name}: ${code}`);
    }
    if ((fs.statSync(path).mode & 0o111) === 0) {
      const code = codeOf(call.sync('accessSync', [path, X_OK]));
      if (code !== 'EACCES') say(`accessSync with X_OK: ${code} instead of EACCES, without an execute bit`);
    }
    if (fs.existsSync(path) !== true) say('existsSync does not say true');
    if ((await exists(fs, path)) !== true) say('exists does not say true');
    const below = `${path}/missing.txt`;
    if (fs.existsSync(below) !== false) say('existsSync does not say false', below);
  },
};

function exists(fs: Subject['fs'], path: string): Promise<boolean> {
  return new Promise((resolve) => fs.exists(path, resolve));
}

/** `throwIfNoEntry: false` turns absence into `undefined`, and nothing else. */
export const noEntry: Check = {
  needs: ['statSync', 'lstatSync'],
  each: 'tree',
  run(subject, root, say) {
    const missing = missingPath(subject);
    for (const name of ['statSync', 'lstatSync'] as const) {
      const outcome = subject.call.sync(name, [missing, { throwIfNoEntry: false }]);
      const unlike = difference(outcomeFacts(outcome), 'undefined');
      if (unlike !== undefined) say(`${name} {throwIfNoEntry: false}: ${unlike}`, missing);
      if (subject.fs[name](root, { throwIfNoEntry: false }) === undefined)
        say(`${name} {throwIfNoEntry: false}: undefined`);
    }
  },
};
