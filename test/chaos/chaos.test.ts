import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, onTestFinished, test } from 'vitest';
import { type Mount, mount } from '../../src/mount.ts';
import { type HttpScript, httpScript } from '../support/http-script.ts';
import { notFound } from '../support/scripted-server.ts';
import { contentOf, entryOf, FILES, GHOST, randomFrom, SKILLS, skillOf, skillsAt } from './content.mjs';

const OPERATIONS = Number(process.env['SKILLFS_CHAOS'] ?? 1_000);
const SEED = Number(process.env['SKILLFS_CHAOS_SEED'] ?? Date.now() % 1_000_000);
const READERS = 8;
/** What an operation may fail with while servers misbehave. */
const CODES: ReadonlySet<unknown> = new Set(['EIO', 'ETIMEDOUT', 'EHOSTUNREACH']);
/** Bytes by which the heap may grow from the first rounds to the last. */
const GROWTH = 24 * 1024 * 1024;
/** Milliseconds after which an operation counts as one that hangs: deadlines are far shorter. */
const HANGS = 20_000;

/** What all servers publish now, and whether they behave. */
const world = { version: 0, calm: false };

/** A server behind HTTP that delays, fails, lies, hangs, cuts connections and forgets sessions. */
async function chaoticHttp(era: 'modern' | 'legacy', random: () => number): Promise<HttpScript> {
  const orderly = () => world.calm;
  const skill = (uri: string) => skillOf(uri, world.version);
  const server: HttpScript = await httpScript(
    {
      async list() {
        const entries: unknown[] = skillsAt(world.version).map((name) => entryOf(name, world.version));
        const dice = orderly() ? 1 : random();
        if (dice < 0.1) entries.splice(Math.floor(random() * entries.length), 1);
        else if (dice < 0.2) entries.push({ uri: 'skill://nonsense' }, null);
        else if (dice < 0.25) throw new Error('the catalog is being rebuilt');
        return { skills: entries, ttlMs: 20 };
      },
      get: (uri) => {
        const found = skill(uri);
        return found && entryOf(found, world.version);
      },
      async read(uri) {
        if (skill(uri) === undefined) throw notFound(uri);
        const content = contentOf(uri, world.version);
        const dice = orderly() ? 1 : random();
        if (dice < 0.01) await new Promise(() => {});
        if (dice < 0.04) throw new Error('the disk is on fire');
        if (dice < 0.08) return { contents: [{ uri, text: `${content}and a lie` }] };
        if (dice < 0.1) return { contents: [{ uri: `${uri}x`, text: content }] };
        if (dice < 0.3) await new Promise((resolve) => setTimeout(resolve, random() * 20));
        return { contents: [{ uri, text: content }] };
      },
    },
    {
      era,
      before(_request, response, method) {
        const dice = orderly() || method === undefined ? 1 : random();
        if (dice < 0.02) response.destroy();
        else if (dice < 0.03) response.writeHead(503, { 'retry-after': '0' }).end();
        else if (dice < 0.04) response.writeHead(500).end();
        else if (dice < 0.05) server.forgetSessions();
        else if (dice < 0.06) server.cutStreams();
        return dice < 0.04;
      },
    },
  );
  return server;
}

function collectGarbage(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

async function inTime<T>(what: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const hangs = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} hangs (seed ${SEED})`)), HANGS);
  });
  try {
    return await Promise.race([work, hangs]);
  } finally {
    clearTimeout(timer);
  }
}

/** @throws when these bytes are of no version of the file that was ever published */
function checkContent(path: string, text: string): void {
  const uri = `skill://${path.split('/').slice(3).join('/')}`;
  const version = Number(/^version (\d+)$/m.exec(text)?.[1]);
  const genuine = version <= world.version && skillOf(uri, version) !== undefined && text === contentOf(uri, version);
  if (!genuine) throw new Error(`${path} has content that was never published (seed ${SEED}): ${text.slice(0, 200)}`);
}

async function operation(held: Mount, random: () => number, servers: readonly string[]): Promise<'done' | 'failed'> {
  const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)] as T;
  const skill = random() < 0.1 ? GHOST : pick(SKILLS);
  const server = pick(servers);
  const root = `/mcp/${server}/${skill}`;
  const path = `${root}/${pick(FILES)}`;
  // What a listing leaves out is found by its SKILL.md alone; only the servers behind HTTP leave anything out.
  const mayBeAbsent = skill === GHOST || (server !== 'stdio' && !path.endsWith('/SKILL.md'));
  try {
    const dice = random();
    if (dice < 0.1) expect(await held.promises.readdir(root)).toEqual(['SKILL.md', 'a.md', 'b.md', 'deep']);
    else if (dice < 0.2) expect((await held.promises.stat(path)).isFile()).toBe(true);
    else if (dice < 0.22) await held.refresh(root.split('/')[2]);
    else checkContent(path, await held.promises.readFile(path, 'utf8'));
    return 'done';
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (CODES.has(code) || (code === 'ENOENT' && mayBeAbsent)) return 'failed';
    throw new Error(`${path} (seed ${SEED})`, { cause: error });
  }
}

/** When servers behave, everything is what they publish now. */
async function checkCalm(held: Mount, servers: readonly string[]): Promise<void> {
  for (const server of servers) {
    for (const skill of skillsAt(world.version)) {
      for (const file of FILES) {
        const uri = `skill://${skill}/${file}`;
        const path = `/mcp/${server}/${skill}/${file}`;
        expect(await held.promises.readFile(path, 'utf8'), `${path}, seed ${SEED}`).toBe(contentOf(uri, world.version));
      }
    }
  }
}

test(
  `${OPERATIONS} operations on servers that misbehave give what was published, or a documented error (seed ${SEED})`,
  async () => {
    console.log(`chaos: SKILLFS_CHAOS_SEED=${SEED}`);
    const rejections: unknown[] = [];
    const onRejection = (reason: unknown) => rejections.push(reason);
    process.on('unhandledRejection', onRejection);
    onTestFinished(() => void process.off('unhandledRejection', onRejection));
    const directory = mkdtempSync(join(tmpdir(), 'skillfs-chaos-'));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const stateFile = join(directory, 'state');
    const publish = (change: Partial<typeof world>) => {
      Object.assign(world, change);
      writeFileSync(stateFile, JSON.stringify(world));
    };
    publish({ version: 0, calm: false });
    const random = randomFrom(SEED);
    const script = new URL('chaotic-server.mjs', import.meta.url).pathname;
    const modern = await chaoticHttp('modern', randomFrom(SEED + 1));
    const legacy = await chaoticHttp('legacy', randomFrom(SEED + 2));
    const servers = {
      modern: { url: modern.url },
      legacy: { url: legacy.url },
      stdio: { command: process.execPath, args: [script, String(SEED), stateFile], stderr: 'ignore' as const },
    };
    const labels = Object.keys(servers);
    const held = mount({
      servers,
      thread: 'host',
      deadlines: { connect: 5_000, request: 400, list: 1_000 },
      retryAfter: 20,
      missTtl: 1,
      memoryBytes: 64 * 1024,
    });
    onTestFinished(() => held.close());

    const counts = { done: 0, failed: 0 };
    let left = OPERATIONS;
    const round = async (operations: number) => {
      const until = left - operations;
      const reader = async () => {
        while (left > until) {
          left--;
          const outcome = await inTime('an operation', operation(held, random, labels));
          counts[outcome]++;
          if (random() < 0.02) publish({ version: world.version + 1 });
          // A server that is left alone for a while fails at once; operations are not to be spent on that.
          if (outcome === 'failed') await new Promise((resolve) => setTimeout(resolve, 20));
        }
      };
      await Promise.all(Array.from({ length: READERS }, reader));
    };

    const rounds = 4;
    let heap = 0;
    for (let index = 1; index <= rounds; index++) {
      await round(Math.ceil(OPERATIONS / rounds));
      publish({ calm: true });
      await expect
        .poll(async () => (await inTime('a refresh', held.refresh())).every(({ error }) => error === undefined))
        .toBe(true);
      await inTime('a calm reading', checkCalm(held, labels));
      if (index === 1) heap = collectGarbage();
      publish({ calm: false });
    }
    const grown = collectGarbage() - heap;
    console.log(`chaos: ${counts.done} done, ${counts.failed} failed, ${world.version} versions, heap ${grown} bytes`);
    expect(counts.done).toBeGreaterThan(OPERATIONS / 2);
    expect(grown).toBeLessThan(GROWTH);
    expect(rejections).toEqual([]);
  },
  60_000 + OPERATIONS * 100,
);
