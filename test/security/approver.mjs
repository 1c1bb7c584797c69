// Approves skills in a file that others use too, and ends when it is killed.
// Usage: node approver.mjs <file> <name> <first> <count>. Prints the number of each skill once its approval is on the disk.
import { Approvals } from '../../dist/index.js';

const [file, name, first, count] = process.argv.slice(2);
const approvals = new Approvals(file);
for (let number = Number(first); number < Number(first) + Number(count); number++) {
  const uri = `skill://${name}/n${number}/SKILL.md`;
  const digest = `sha256:${String(number).padStart(64, '0')}`;
  approvals.approve(name, { uri, resources: [{ uri, size: number, digest }] });
  process.stdout.write(`${number}\n`);
}
