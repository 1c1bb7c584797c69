/** What skills are made of; everything else is told by its bytes. */
const BY_EXTENSION: Readonly<Record<string, string>> = {
  css: 'text/css',
  csv: 'text/csv',
  gif: 'image/gif',
  html: 'text/html',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  js: 'text/javascript',
  json: 'application/json',
  md: 'text/markdown',
  mjs: 'text/javascript',
  pdf: 'application/pdf',
  png: 'image/png',
  py: 'text/x-python',
  sh: 'application/x-sh',
  sql: 'application/sql',
  svg: 'image/svg+xml',
  ts: 'text/x-typescript',
  txt: 'text/plain',
  wasm: 'application/wasm',
  webp: 'image/webp',
  xml: 'application/xml',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  zip: 'application/zip',
};

export function mimeTypeOf(uri: string): string | undefined {
  return BY_EXTENSION[uri.slice(uri.lastIndexOf('.') + 1).toLowerCase()];
}
