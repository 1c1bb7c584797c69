// Usage: node tampered.mjs <directory> <end of a URI>. That one file comes with other bytes of the same length than its
// manifest says.
import { serveChanged } from './serve-changed.mjs';

const [directory, file] = process.argv.slice(2);
await serveChanged(directory, async (uri, honest) => {
  const result = await honest();
  if (!uri.endsWith(file)) return result;
  return { ...result, text: result.text.replace(/[a-z](?=[^a-z]*$)/, (letter) => letter.toUpperCase()) };
});
