// Usage: node dying.mjs <directory>. Answers everything, and ends without an answer when the first file is read.
import { serveChanged } from './serve-changed.mjs';

await serveChanged(process.argv[2], () => process.exit(3));
