// Node's own tests of reading functions, run with `fs` patched so that reading goes through our facade.
// Needs SKILLFS_NODE_TESTS, a directory with Node's `test/` (of the version that runs this; 20.19 is what the list was made with).
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'tsup';

const TESTS = [
  ...['close-errors', 'close', 'empty-readStream', 'exists', 'filehandle-use-after-close', 'makeStatsCallback', 'open'],
  ...['promises-file-handle-close', 'promises-file-handle-dispose', 'promises-readfile-empty', 'read-empty-buffer'],
  ...['read-file-assert-encoding', 'read-file-sync-hostname', 'read-offset-null', 'read-optional-params'],
  ...['read-position-validation', 'read-promises-optional-params', 'read-stream-concurrent-reads'],
  ...['read-stream-double-close', 'read-stream-encoding', 'read-stream-err', 'read-stream-fd-leak'],
  ...['read-stream-inherit', 'read-stream-patch-open', 'read-stream-resume', 'read-stream-throw-type-error'],
  ...['read-type', 'read-zero-length', 'read', 'readSync-optional-params', 'readSync-position-validation'],
  ...['readdir-stack-overflow', 'readfile-empty', 'readfile-error', 'readfile-zero-byte-liar', 'readlink-type-check'],
  ...['readv-promisify', 'realpath-buffer-encoding', 'stat', 'statfs', 'watch-abort-signal', 'watch-ref-unref'],
  ...['watch-stop-async', 'watch-stop-sync', 'watchfile-ref-unref'],
].map((name) => `test-fs-${name}`);
TESTS.push('test-filehandle-close', 'test-filehandle-readablestream');

/** Failures that are meant. */
const EXCEPTIONS = {
  'test-fs-read-stream-err':
    'replaces `fs.read` to break a stream; our streams read with the facade, which is not that `fs`',
};

const directory = process.env['SKILLFS_NODE_TESTS'];
if (directory === undefined || !existsSync(join(directory, 'test/parallel'))) {
  console.error("SKILLFS_NODE_TESTS is no directory with Node's tests");
  process.exit(2);
}
const built = mkdtempSync(join(tmpdir(), 'node-fs-tests-'));
await build({
  entry: [join(import.meta.dirname, 'node-fs-preload.ts')],
  outDir: built,
  format: 'cjs',
  config: false,
  silent: true,
});
// The tests' own temporary directory is made beside them.
mkdirSync(join(directory, 'test/.tmp.1'), { recursive: true });

let passed = 0;
let failed = 0;
for (const name of TESTS) {
  const file = ['js', 'mjs'].map((ending) => join(directory, `test/parallel/${name}.${ending}`)).find(existsSync);
  const flags = /^\/\/ Flags: (.*)$/m.exec(file === undefined ? '' : readFileSync(file, 'utf8'))?.[1]?.split(' ') ?? [];
  const preload = ['--require', join(built, 'node-fs-preload.cjs')];
  const env = { ...process.env, NODE_TEST_KNOWN_GLOBALS: '0', TEST_THREAD_ID: '1', NODE_SKIP_FLAG_CHECK: '1' };
  const run = spawnSync(process.execPath, [...flags, ...preload, file ?? name], {
    cwd: directory,
    env,
    timeout: 60_000,
  });
  if (run.status === 0) {
    passed += 1;
  } else if (name in EXCEPTIONS) {
    console.log(`not ok ${name}, as is meant: ${EXCEPTIONS[name]}`);
  } else {
    failed += 1;
    console.log(`not ok ${name}\n${run.stderr}`);
  }
}
rmSync(built, { recursive: true });
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
