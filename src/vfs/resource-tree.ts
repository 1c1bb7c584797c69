import { RESOURCE_LIMITS } from '../base/limits.ts';
import { shortened } from '../base/quote.ts';
import { isUriProblem, parseSkillUri } from '../catalog/uri.ts';

export interface ResourceFile {
  readonly kind: 'file';
  readonly path: string;
  /** As the server spells it. */
  readonly uri: string;
}

export interface ResourceDir {
  readonly kind: 'directory';
  readonly path: string;
  /** Where the server showed it as a directory: what its children are asked by. */
  uri: string | undefined;
  readonly children: Map<string, ResourceNode>;
}

export type ResourceNode = ResourceFile | ResourceDir;

/** Resources by path: `<scheme>/<what follows>`, decoded where a name can hold it. One URI has one path, and one path one URI. */
export class ResourceTree {
  readonly root: ResourceDir = { kind: 'directory', path: '', uri: undefined, children: new Map() };
  /** Of all resources together. */
  #segments = 0;

  lookup(path: string): ResourceNode | undefined {
    let node: ResourceNode = this.root;
    for (const name of path === '' ? [] : path.split('/')) {
      const child: ResourceNode | undefined = node.kind === 'directory' ? node.children.get(name) : undefined;
      if (child === undefined) return undefined;
      node = child;
    }
    return node;
  }

  /** @returns the resource that has no place in the tree, and why: this one, or one that has to make room for it */
  add(uri: string, kind: 'file' | 'directory'): { readonly uri: string; readonly problem: string } | undefined {
    const names = namesOf(uri);
    if (typeof names === 'string') return { uri, problem: `${shortened(uri)} ${names}` };
    this.#segments += names.length;
    if (this.#segments > RESOURCE_LIMITS.segments) {
      return {
        uri,
        problem: `${shortened(uri)} is beyond the ${RESOURCE_LIMITS.segments} path segments that are taken`,
      };
    }
    const last = names.pop() as string;
    let displaced: ResourceFile | undefined;
    let dir = this.root;
    for (const name of names) {
      const there = dir.children.get(name);
      if (there?.kind === 'file') displaced = there;
      dir = there?.kind === 'directory' ? there : newDir(dir, name);
    }
    const there = dir.children.get(last);
    if (kind === 'directory') {
      if (there?.kind === 'file') displaced = there;
      const own = there?.kind === 'directory' ? there : newDir(dir, last);
      own.uri ??= uri;
    } else if (there === undefined) dir.children.set(last, { kind: 'file', path: join(dir.path, last), uri });
    else if (there.kind === 'directory') displaced = { kind: 'file', path: there.path, uri };
    else if (there.uri !== uri) return { uri, problem: `${uri} has the same path as ${there.uri}` };
    return displaced && { uri: displaced.uri, problem: `${displaced.uri} is where others have a directory` };
  }
}

/** The canonical URI of a path below `@resources`: what a template is matched against. */
export function resourceUriOf(path: string): string | undefined {
  const cut = path.indexOf('/');
  if (cut === -1) return undefined;
  const uri = `${path.slice(0, cut)}://${path
    .slice(cut + 1)
    .split('/')
    .map(encodeURIComponent)
    .join('/')}`;
  return isUriProblem(parseSkillUri(uri)) ? undefined : uri;
}

/** Characters of a URI that has a path here. */
const PATH_CHARACTERS = 4096;

/** The names on the way to a resource, or what is wrong with its URI. Empty segments (`file:///x`) make no directory. */
function namesOf(uri: string): string[] | string {
  const [, scheme, rest] = /^([A-Za-z][A-Za-z0-9+.-]*):(.*)$/s.exec(uri) ?? [];
  if (scheme === undefined || rest === undefined) return 'has no scheme';
  if (uri.length > PATH_CHARACTERS) return `is longer than ${PATH_CHARACTERS} characters`;
  const names = rest.split('/').filter(Boolean).map(nameOf);
  if (names.length === 0) return 'has no path';
  if (names.some((name) => name === '.' || name === '..')) return 'has a segment "." or ".."';
  if (names.some((name) => name.includes('\\') || name.includes('\0'))) return 'has a backslash or a NUL in a segment';
  if (names.some((name) => new TextEncoder().encode(name).byteLength > 255)) return 'has a name of more than 255 bytes';
  return [scheme, ...names];
}

function nameOf(segment: string): string {
  try {
    const name = decodeURIComponent(segment);
    return /^\.{1,2}$|[/\\\0]|\p{Surrogate}/u.test(name) || name === '' ? segment : name;
  } catch {
    return segment;
  }
}

function newDir(parent: ResourceDir, name: string): ResourceDir {
  const dir: ResourceDir = { kind: 'directory', path: join(parent.path, name), uri: undefined, children: new Map() };
  parent.children.set(name, dir);
  return dir;
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}/${name}`;
}
