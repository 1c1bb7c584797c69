import { jsonText, markdownCode, markdownText, xmlText } from './escape.ts';

/** How a catalog is written. */
export type CatalogFormat = 'xml' | 'markdown' | 'json';

/** What a catalog says of a skill. */
export interface CatalogEntry {
  readonly name: string;
  readonly description: string;
  /** The path or URI of its SKILL.md. */
  readonly location: string;
  /** The host's label of the server it is from; absent for a local skill (SEC-2). */
  readonly server: string | undefined;
  /** Its content cannot be checked (VER-5). */
  readonly unverified: boolean;
}

/** How one format writes entries, and what stands around and between them. */
export interface Writer {
  readonly before: string;
  readonly between: string;
  readonly after: string;
  entry(entry: CatalogEntry): string;
}

const xml: Writer = {
  before: '<available_skills>\n',
  between: '\n',
  after: '\n</available_skills>',
  entry({ name, description, location, server, unverified }) {
    const lines = [
      '<skill>',
      `<name>${xmlText(name)}</name>`,
      `<description>${xmlText(description)}</description>`,
      `<location>${xmlText(location)}</location>`,
      server === undefined ? '<local/>' : `<server>${xmlText(server)}</server>`,
      ...(unverified ? ['<unverified/>'] : []),
      '</skill>',
    ];
    return lines.join('\n');
  },
};

const json: Writer = {
  before: '[\n',
  between: ',\n',
  after: '\n]',
  entry({ name, description, location, server, unverified }) {
    const origin = server === undefined ? { local: true } : { server };
    return jsonText({ name, description, location, ...origin, ...(unverified && { unverified }) });
  },
};

/** One item of a list for each skill, in one line. */
const markdown: Writer = {
  before: '',
  between: '\n',
  after: '',
  entry({ name, description, location, server, unverified }) {
    const origin = server === undefined ? 'local' : `server ${markdownCode(server)}`;
    const facts = [markdownCode(location), origin, ...(unverified ? ['unverified'] : [])];
    return `- ${markdownCode(name)} (${facts.join(', ')}): ${markdownText(description)}`;
  },
};

export const writers: Readonly<Record<CatalogFormat, Writer>> = { xml, markdown, json };
