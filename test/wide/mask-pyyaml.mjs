// Masked files as PyYAML reads them: the original without the masked fields. Needs Python with PyYAML (SKILLFS_PYTHON, or
// `python3`). SKILLFS_SEED repeats a run; SKILLFS_RUNS is the number of files of either kind.
import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { runnerImport } from 'vite';

const python = process.env['SKILLFS_PYTHON'] ?? 'python3';
const found = spawnSync(python, ['-c', 'import yaml; print(yaml.__version__)'], { encoding: 'utf8' });
if (found.status !== 0) {
  const reason = found.error?.message ?? found.stderr.trim().split('\n').at(-1);
  console.log(`mask-pyyaml: skipped, as ${python} has no PyYAML (${reason})`);
  process.exit(0);
}

const at = (path) => new URL(path, import.meta.url).pathname;
const { module: mask } = await runnerImport(at('../../src/policy/mask.ts'));
const { module: generated } = await runnerImport(at('../policy/arbitrary-skills.ts'));
const { module: written } = await runnerImport(at('../policy/frontmatter-cases.ts'));

const seed = Number(process.env['SKILLFS_SEED'] ?? Date.now() % 2 ** 31);
const numRuns = Number(process.env['SKILLFS_RUNS'] ?? 4000);
console.log(`mask-pyyaml: PyYAML ${found.stdout.trim()}, seed ${seed}, ${numRuns} files of either kind`);
const texts = [
  ...[...written.CASES.values()].flat().map(({ text }) => text),
  ...fc.sample(generated.skillText, { seed, numRuns }),
  ...fc.sample(generated.nastyText, { seed, numRuns }),
];

const served = texts.flatMap((text) => {
  const bytes = new TextEncoder().encode(text);
  try {
    const result = mask.maskSkill(bytes);
    return [{ before: bytes, after: result.bytes, isMasked: result.masked.length > 0 }];
  } catch (error) {
    if (error instanceof mask.MaskError) return [];
    throw error;
  }
});
const base64 = (bytes) => Buffer.from(bytes).toString('base64');
const input = [[...mask.MASKED_FIELDS.keys()], ...served.map(({ before, after }) => [base64(before), base64(after)])];
const run = spawnSync(python, [at('mask-pyyaml.py')], {
  input: input.map((line) => JSON.stringify(line)).join('\n'),
  encoding: 'utf8',
  maxBuffer: 2 ** 30,
});
if (run.status !== 0) throw new Error(`${python} failed: ${run.stderr}`);

const answers = run.stdout
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line));
if (answers.length !== served.length) throw new Error(`${answers.length} answers for ${served.length} files`);
let failed = 0;
for (const [index, [difference]] of answers.entries()) {
  if (difference === null) continue;
  failed += 1;
  if (failed <= 10) console.error(JSON.stringify(Buffer.from(served[index].before).toString()), difference);
}
const count = (of) => served.filter(of).length;
console.log(
  `mask-pyyaml: ${served.length - failed} passed, ${failed} failed; ${count(({ isMasked }) => isMasked)} masked, ` +
    `${count((_file, index) => answers[index][1])} read by PyYAML, ${texts.length - served.length} refused`,
);
process.exitCode = failed === 0 ? 0 : 1;
