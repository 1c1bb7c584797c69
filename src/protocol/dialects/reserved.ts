/** Names of resources about skills. No skill and no file of one is meant by them, whatever server lists them. */
const RESERVED: ReadonlySet<string> = new Set(['_manifest', 'index.json', 'prompt-xml']);

/** Whether a URI is one of the reserved resources, or names a skill by a reserved name. */
export function isReserved(uri: string): boolean {
  const path = uri.replace(/^[^:]*:\/\//, '').replace(/\/SKILL\.md$/, '');
  return RESERVED.has(path.slice(path.lastIndexOf('/') + 1));
}
