// Uses a cache directory as a process would, and ends when it is killed.
// Usage: node cache-user.mjs <directory> <seed> <operations>. Prints a line for each operation; "wrong" ends it with code 1.
import { createHash } from 'node:crypto';
import { diskStore } from '../../dist/index.js';

const [directory, seed, operations] = process.argv.slice(2);
const random = generator(Number(seed));
const problems = [];
const store = diskStore({ directory, maxBytes: 256 * 1024, report: ({ message }) => problems.push(message) });
const labels = ['a', 'b'];
const servers = labels.map((label) => store.server(label, {}, 'key'));
const blobs = Array.from({ length: 24 }, (_, index) => {
  const bytes = Buffer.alloc(1024 * (1 + index * 4), `${index}.`);
  return { bytes, size: bytes.length, digest: `sha256:${createHash('sha256').update(bytes).digest('hex')}` };
});

for (let done = 1; done <= Number(operations); done++) {
  const which = Math.floor(random() * labels.length);
  const server = servers[which];
  const blob = blobs[Math.floor(random() * blobs.length)];
  const dice = random();
  if (dice < 0.45) check(server.get(blob)?.equals(blob.bytes), 'a blob');
  else if (dice < 0.8) server.put(blob.digest, blob.bytes);
  else if (dice < 0.88)
    check(
      server.getListing()?.listing.entries.every((entry) => entry === labels[which]),
      'a listing',
    );
  else if (dice < 0.96) server.putListing(listing(labels[which], 1 + Math.floor(random() * 5000)));
  else if (dice < 0.98) store.prune();
  else store.remove(labels[which]);
  process.stdout.write(`${done}\n`);
}
for (const problem of problems) process.stdout.write(`wrong: ${problem}\n`);
process.exit(problems.length > 0 ? 1 : 0);

function check(right, what) {
  if (right === false) problems.push(`${what} was not what was put`);
}

function listing(label, length) {
  const entries = Array(length).fill(label);
  return {
    listing: { entries },
    confirmed: [],
    negotiated: { completes: false, directoryRead: false, tookMs: 1 },
    fetchedAt: Date.now(),
  };
}

function generator(state) {
  return () => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return state / 4294967296;
  };
}
