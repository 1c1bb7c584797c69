import { Fault } from '../base/fault.ts';
import { known, type Op } from '../base/op.ts';
import { ancestors } from './ancestors.ts';
import { PolicyFault } from './guard.ts';
import type { InodeTable } from './inodes.ts';
import type { Content, DirEntry, ReadFs, Stat } from './read-fs.ts';

/** The servers' directories under one mount point, and the directories above it. */
export class MountTable<Server extends ReadFs> implements ReadFs {
  readonly mountPoint: string;
  readonly servers: ReadonlyMap<string, Server>;
  readonly #denied: ReadonlySet<string>;
  readonly #prefix: string;
  readonly #above: ReadonlyMap<string, { stat: Stat; entries: readonly DirEntry[] }>;

  /** @param denied labels of servers that are in no listing, and of which nothing may be read */
  constructor(
    mountPoint: string,
    servers: ReadonlyMap<string, Server>,
    inodes: InodeTable,
    now: number,
    denied: ReadonlySet<string> = new Set(),
  ) {
    this.mountPoint = mountPoint;
    this.#denied = denied;
    this.servers = servers;
    this.#prefix = mountPoint === '/' ? '/' : `${mountPoint}/`;
    this.#above = ancestors(mountPoint, [...servers.keys()], inodes, Math.trunc(now));
  }

  stat(path: string): Op<Stat> {
    const above = this.#above.get(path);
    if (above !== undefined) return known(above.stat);
    const { server, below } = this.#route(path);
    return server.stat(below);
  }

  readdir(path: string): Op<readonly DirEntry[]> {
    const above = this.#above.get(path);
    if (above !== undefined) return known(above.entries);
    const { server, below } = this.#route(path);
    return server.readdir(below);
  }

  read(path: string): Op<Content> {
    if (this.#above.has(path)) throw new Fault('EISDIR');
    const { server, below } = this.#route(path);
    return server.read(below);
  }

  /**
   * The server a path belongs to, and the path below its directory.
   *
   * @throws `Fault` ENOENT when the path is no server's
   */
  #route(path: string): { server: Server; below: string } {
    const route = this.locate(path);
    if (route === undefined) throw this.#denialOf(path) ?? new Fault('ENOENT');
    return route;
  }

  #denialOf(path: string): Fault | undefined {
    if (this.#denied.size === 0 || !path.startsWith(this.#prefix)) return undefined;
    const [label = ''] = path.slice(this.#prefix.length).split('/', 1);
    if (!this.#denied.has(label)) return undefined;
    return new PolicyFault('denied', { detail: `the server "${label}" is denied by a rule` });
  }

  locate(path: string): { label: string; server: Server; below: string } | undefined {
    if (!path.startsWith(this.#prefix)) return undefined;
    const start = this.#prefix.length;
    const end = path.indexOf('/', start);
    const label = end === -1 ? path.slice(start) : path.slice(start, end);
    const server = this.servers.get(label);
    return server && { label, server, below: end === -1 ? '' : path.slice(end + 1) };
  }

  pathFor(label: string, below: string): string {
    return below === '' ? `${this.#prefix}${label}` : `${this.#prefix}${label}/${below}`;
  }
}
