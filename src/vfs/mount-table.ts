import { Fault } from '../base/fault.ts';
import { known, type Op } from '../base/op.ts';
import type { InodeTable } from './inodes.ts';
import type { Content, DirEntry, ReadFs, Stat } from './read-fs.ts';
import type { SkillFs } from './skill-fs.ts';

/** The servers' directories under one mount point, and the directories above it. */
export class MountTable implements ReadFs {
  readonly mountPoint: string;
  readonly servers: ReadonlyMap<string, SkillFs>;
  readonly #prefix: string;
  readonly #above: ReadonlyMap<string, { stat: Stat; entries: readonly DirEntry[] }>;

  constructor(mountPoint: string, servers: ReadonlyMap<string, SkillFs>, inodes: InodeTable, now: number) {
    this.mountPoint = mountPoint;
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
  #route(path: string): { server: SkillFs; below: string } {
    const route = this.locate(path);
    if (route === undefined) throw new Fault('ENOENT');
    return route;
  }

  locate(path: string): { label: string; server: SkillFs; below: string } | undefined {
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

/** Every ancestor of a mount point can be looked at, down to the mount point, which lists the servers. */
function ancestors(mountPoint: string, labels: readonly string[], inodes: InodeTable, since: number) {
  const above = new Map<string, { stat: Stat; entries: readonly DirEntry[] }>();
  const segments = mountPoint.split('/').filter((segment) => segment !== '');
  for (let depth = 0; depth <= segments.length; depth++) {
    const path = `/${segments.slice(0, depth).join('/')}`;
    const next = segments[depth];
    const names = next === undefined ? [...labels].sort() : [next];
    const { ino, mtimeMs } = inodes.intern(path, 'directory', since);
    above.set(path, {
      stat: { kind: 'directory', ino, size: 4096, mtimeMs },
      entries: names.map((name) => ({ name, kind: 'directory' })),
    });
  }
  return above;
}
