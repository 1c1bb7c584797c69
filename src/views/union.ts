import { Fault } from '../base/fault.ts';
import type { Op } from '../base/op.ts';
import { settled } from '../base/op.ts';
import type { Mount } from '../mount.ts';
import { keepViewInternals, type OnServerError, viewInternalsOf } from '../mounted.ts';
import { createNodeFs, type WriteTarget } from '../node/index.ts';
import { OptionsError } from '../options.ts';
import { type Diagnostic, Diagnostics } from '../vfs/diagnostics.ts';
import { Call, callDriver, driverOf } from '../vfs/driver.ts';
import { InodeTable } from '../vfs/inodes.ts';
import type { LocalFs } from '../vfs/local-fs.ts';
import { Placed } from '../vfs/placed.ts';
import { type Layer, type Shadowed, UnionFs } from '../vfs/union-fs.ts';
import { changedBy } from './changes.ts';
import type { Claimant, Collision, SourceLayer, ViewOrigin, ViewSkill } from './layer.ts';
import { type LocalDirectory, localLayer } from './local-layer.ts';
import { mountLayer } from './mount-layer.ts';
import { belowOf, checkMountPoint, pathBelow, type View } from './view.ts';

/** What a union is made of. */
export type UnionLayer = LocalDirectory | Mount | View;

export interface UnionViewOptions {
  /** An absolute path. Default `/skills`. */
  readonly mountPoint?: string;
  /** As for `flat`, for the mounts among the layers; flat views have been told themselves. */
  readonly onServerError?: OnServerError;
}

/**
 * Local directories over the skills of servers, uppermost first. A name has one owner; directories merge, except that one in
 * which any layer has a SKILL.md belongs to the uppermost such layer as a whole. Only absence lets the next layer be looked
 * at: what cannot be read or verified is never served from below.
 *
 * Local directories come first, because local skills win (SEC-5). What programs write goes to the uppermost writable local
 * layer that has the directory; what servers publish stays read-only (EROFS).
 *
 * @throws OptionsError naming the layer or option that cannot be used
 */
export function union(layers: readonly UnionLayer[], options: UnionViewOptions = {}): View {
  const { onServerError = 'hide' } = options;
  const mountPoint = checkMountPoint(options.mountPoint ?? '/skills');
  if (!['hide', 'throw'].includes(onServerError)) throw new OptionsError('onServerError: expected "hide" or "throw"');
  const sources = layers.flatMap((layer, index) => layersOf(layer, `layers[${index}]`, onServerError));
  assertLocalFirst(sources);
  return new UnionView(sources, mountPoint);
}

class UnionView implements View {
  readonly mountPoint: string;
  readonly fs: View['fs'];
  readonly #sources: readonly SourceLayer[];
  readonly #union: UnionFs;
  readonly #diagnostics = new Diagnostics();
  readonly #shadowed: Shadowed[] = [];

  constructor(sources: readonly SourceLayer[], mountPoint: string) {
    this.mountPoint = mountPoint;
    this.#sources = sources;
    this.#union = new UnionFs(sources, {
      inodes: new InodeTable(),
      now: Date.now,
      shadowed: (shadowed) => this.#tell(shadowed),
    });
    for (const source of sources) source.onReplaced(() => this.#union.changed());
    const core = new Placed(mountPoint, this.#union, new InodeTable(), Math.trunc(Date.now()));
    const changes = changedBy(
      sources.map((source) => ({ source: source.changes, pathsOf: (path) => [pathBelow(mountPoint, path)] })),
    );
    const writes = (path: string) => this.#writes(path);
    this.fs = createNodeFs(core, callDriver, { mountPoint, changes, writes });
    keepViewInternals(this, { core, driver: callDriver, changes, mountPoint, layers: sources, writes });
  }

  get promises(): View['promises'] {
    return this.fs.promises;
  }

  skills(): readonly ViewSkill[] {
    return this.#sources.flatMap((source) =>
      source.skills().flatMap((skill): ViewSkill[] => {
        const below = skill.path.slice(1);
        const shown = this.#ownersOf(below)?.includes(source) === true;
        return shown ? [{ ...skill, path: pathBelow(this.mountPoint, below) }] : [];
      }),
    );
  }

  originOf(path: string): ViewOrigin | undefined {
    const below = belowOf(this.mountPoint, path);
    if (below === undefined || below === '') return undefined;
    const [owner] = this.#ownersOf(below) ?? [];
    return this.#sources.find((source) => source === owner)?.originOf(below);
  }

  collisions(): readonly Collision[] {
    const ofLayers = this.#sources.flatMap((source) => source.collisions().map((collision) => this.#placed(collision)));
    return [...ofLayers, ...this.#shadowed.map((shadowed) => this.#collisionOf(shadowed))];
  }

  on(_event: 'diagnostic', listener: (diagnostic: Diagnostic) => void): () => void {
    const ends = [this.#diagnostics.on(listener), ...this.#sources.map((source) => source.onDiagnostic(listener))];
    return () => {
      for (const end of ends) end();
    };
  }

  /** The layers that have a path, as far as that is known without asking a server. */
  #ownersOf(below: string): readonly Layer[] | undefined {
    try {
      return unasking.sync(this.#union.owners(below));
    } catch {
      return undefined;
    }
  }

  /** What a layer says of names, with what is local beside it. */
  #placed({ name, kept, others }: Collision): Collision {
    const at = ({ origin, path }: Claimant): Claimant => ({
      origin,
      ...(path !== undefined && { path: pathBelow(this.mountPoint, path.slice(1)) }),
    });
    const path = pathBelow(this.mountPoint, name);
    const origin = kept === undefined ? this.originOf(path) : undefined;
    const keeper = kept !== undefined ? at(kept) : origin && { origin, path };
    return { name, ...(keeper !== undefined && { kept: keeper }), others: others.map(at) };
  }

  #collisionOf({ path, kept, hidden }: Shadowed): Collision {
    const originIn = (layer: Layer): Claimant[] => {
      const origin = this.#sources.find((source) => source === layer)?.originOf(path);
      return origin === undefined ? [] : [{ origin }];
    };
    const shown = pathBelow(this.mountPoint, path);
    const [keeper] = originIn(kept);
    return {
      name: shown,
      ...(keeper !== undefined && { kept: { ...keeper, path: shown } }),
      others: hidden.flatMap(originIn),
    };
  }

  #tell(shadowed: Shadowed): void {
    this.#shadowed.push(shadowed);
    const { name, kept, others } = this.#collisionOf(shadowed);
    const hidden = others.map(({ origin }) => sayOrigin(origin)).join(', ');
    const message = `${name} is ${kept === undefined ? 'of an upper layer' : sayOrigin(kept.origin)}; hidden there: ${hidden}`;
    this.#diagnostics.emit({ severity: 'warning', code: 'collision', message });
  }

  *#writes(path: string): Op<WriteTarget | undefined> {
    const below = belowOf(this.mountPoint, path);
    const layer = below === undefined ? undefined : yield* this.#union.writer(below);
    if (layer === undefined) return undefined;
    const { fs: local } = layer;
    yield* made(local);
    return {
      fs: local.fs as unknown as WriteTarget['fs'],
      path: yield* local.placeOf(below as string),
      back: (there) => pathBelow(this.mountPoint, belowOf(local.root, there) ?? there),
    };
  }
}

/** Runs what needs no server, and fails where one would be asked. */
const unasking = driverOf<Call>(
  async (call) => call.async(),
  (calls) =>
    calls.map((call) =>
      call.local
        ? settled(call.sync)
        : { status: 'rejected', reason: new Fault('EAGAIN', { detail: 'not known yet' }) },
    ),
);

/** The local directory itself is made when something is first put into it. */
function* made(local: LocalFs): Op<void> {
  const fs = local.fs as unknown as WriteTarget['fs'];
  const options = { recursive: true } as const;
  yield new Call(
    true,
    () => fs.mkdirSync(local.root, options),
    () => fs.promises.mkdir(local.root, options),
  );
}

function layersOf(layer: UnionLayer, where: string, onServerError: OnServerError): readonly SourceLayer[] {
  if (typeof layer !== 'object' || layer === null)
    throw new OptionsError(`${where}: expected a mount, a view or {path}`);
  if ('path' in layer) return [localLayer(layer, where)];
  const view = viewInternalsOf(layer);
  if (view !== undefined) return view.layers;
  try {
    return [mountLayer(layer as Mount, onServerError)];
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new OptionsError(
      `${where}: expected what mount(), flat() or union() returned, or {path, fs} of a local directory`,
    );
  }
}

function assertLocalFirst(sources: readonly SourceLayer[]): void {
  const lastLocal = sources.findLastIndex(({ kind }) => kind === 'local');
  const firstServers = sources.findIndex(({ kind }) => kind === 'servers');
  if (sources.length === 0) throw new OptionsError('layers: a union needs at least one');
  if (firstServers === -1 || lastLocal < firstServers) return;
  throw new OptionsError(
    'layers: a local directory comes after skills of servers; local skills win, so put it before them',
  );
}

function sayOrigin(origin: ViewOrigin): string {
  if (origin.label === undefined) return `local (${origin.local})`;
  return `of server "${origin.label}"${origin.uri === undefined ? '' : ` (${origin.uri})`}`;
}
