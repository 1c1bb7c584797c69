import { getEventListeners } from 'node:events';
import { readdirSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { mount } from '../../src/mount.ts';
import { mountScript } from '../support/mounted.ts';
import { mountRaw } from '../support/raw-server.ts';
import { connectScript, scriptedSkill } from '../support/scripted-server.ts';

// Many of everything in one process: mounts, readers, notifications.

const skills = [scriptedSkill('tool', Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`f${i}.md`, `${i}`])))];
const command = process.execPath;
const args = [new URL('../support/stdio-server.mjs', import.meta.url).pathname];

/** What Node says of leaks while a test runs. */
function leakWarnings(): string[] {
  const warnings: string[] = [];
  const heard = ({ name, message }: Error) => {
    if (name === 'MaxListenersExceededWarning') warnings.push(message);
  };
  process.on('warning', heard);
  onTestFinished(() => void process.off('warning', heard));
  return warnings;
}

function descriptors(): number {
  return process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0;
}

test('mounts that share a client leave it in any order, and leave nothing on it', async () => {
  const { client, server, requests, close } = await connectScript({ skills }, 'v1');
  onTestFinished(close);
  const transport = client.transport as { onmessage?: unknown };
  const before = transport.onmessage;
  const told: string[] = [];
  const [first, second, third] = ['first', 'second', 'third'].map((name) => {
    const one = mount({ servers: { s: client } });
    one.on('diagnostic', () => told.push(name));
    onTestFinished(() => one.close());
    return one;
  });
  await Promise.all([first?.ready(), second?.ready(), third?.ready()]);
  await first?.close();
  await second?.close();
  requests.length = 0;
  await server.sendResourceListChanged();
  await expect.poll(() => requests).toEqual(['skills/list']);
  await third?.close();
  expect(transport.onmessage).toBe(before);
  expect(told).toEqual([]);
});

test('a thousand mounts, one after the other and at once, leave nothing behind', async () => {
  const warnings = leakWarnings();
  const { client, close } = await connectScript({ skills });
  onTestFinished(close);
  const before = descriptors();
  const one = async () => {
    const held = mount({ servers: { s: client } });
    await held.promises.readdir('/mcp/s');
    return held;
  };
  for (let index = 0; index < 500; index++) await (await one()).close();
  const held = await Promise.all(Array.from({ length: 500 }, one));
  await Promise.all(held.map((mounted) => mounted.close()));
  await setImmediate();
  expect(warnings).toEqual([]);
  expect(descriptors()).toBeLessThanOrEqual(before + 2);
}, 120_000);

test.each(['worker', 'host'] as const)(
  'a dozen mounts with processes have one listener for their end (%s)',
  async (thread) => {
    const warnings = leakWarnings();
    const before = { listeners: process.listenerCount('exit'), descriptors: descriptors() };
    const server = { command, args, stderr: 'ignore' as const };
    const held = Array.from({ length: 12 }, () => mount({ thread, servers: { s: server } }));
    onTestFinished(async () => void (await Promise.all(held.map((one) => one.close()))));
    const states = await Promise.all(held.map(async (one) => (await one.ready())[0]?.state));
    expect(new Set(states)).toEqual(new Set(['ready']));
    expect(process.listenerCount('exit')).toBe(before.listeners + 1);
    await Promise.all(held.map((one) => one.close()));
    await setImmediate();
    expect(process.listenerCount('exit')).toBe(before.listeners);
    expect(descriptors()).toBeLessThanOrEqual(before.descriptors + 2);
    expect(warnings).toEqual([]);
  },
  120_000,
);

test('fifty reads under one signal have one listener on it, and none when they are done', async () => {
  const { mount: held } = await mountScript({ skills });
  const { signal } = new AbortController();
  const reads = Array.from({ length: 50 }, (_, i) => held.promises.readFile(`/mcp/s/tool/f${i}.md`, { signal }));
  await expect.poll(() => getEventListeners(signal, 'abort').length).toBe(1);
  await Promise.all(reads);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test.each(['v1', 'v2', 'v2-modern'] as const)(
  'a listing of fifty pages leaks no listener of a client (%s)',
  async (client) => {
    const warnings = leakWarnings();
    const pages = Array.from({ length: 50 }, (_, i) => scriptedSkill(`s${i}`).entry);
    const list = (cursor = '0') => {
      const next = Number(cursor) + 1;
      return { skills: [pages[next - 1]], ...(next < pages.length && { nextCursor: `${next}` }) };
    };
    const { mount: held } = await mountScript({ list }, {}, client);
    expect((await held.ready())[0]).toMatchObject({ skills: 50 });
    await setImmediate();
    expect(warnings).toEqual([]);
  },
);

test('ten thousand notifications are one listing, and ones without sense are none', async () => {
  const raw = await mountRaw({ answer: (method) => (method === 'skills/list' ? { skills: [] } : undefined) });
  await raw.mount.ready();
  for (const params of [null, [], { uri: {} }]) raw.send({ jsonrpc: '2.0', method: 'notifications/other', params });
  for (const nonsense of [null, 5, [], { jsonrpc: '2.0', method: 5 }]) raw.send(nonsense);
  for (let index = 0; index < 10_000; index++) {
    raw.send({ jsonrpc: '2.0', method: 'notifications/resources/list_changed' });
  }
  await expect.poll(() => raw.requests.length).toBeGreaterThan(1);
  expect(raw.requests).toEqual(['skills/list', 'skills/list']);
});
