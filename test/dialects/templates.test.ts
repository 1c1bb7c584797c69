import { expect, test } from 'vitest';
import { mountScript, rejection } from '../support/mounted.ts';
import { type Exchange, replay, transcript } from '../support/transcript-server.ts';

const TEMPLATE = 'skill://docs/{product}/SKILL.md';
const COMPLETION = 'completion/complete product';

test('DRAFT-3: template entries are shown, as URIs and as paths', async () => {
  const { mount } = await replay(transcript('index-json'));
  expect(await mount.templates()).toEqual([
    {
      label: 's',
      uriTemplate: TEMPLATE,
      path: '/mcp/s/docs/{product}/SKILL.md',
      variables: ['product'],
      description: 'How to use one product',
    },
  ]);
  expect(() => mount.skills()).not.toThrow();
  await expect(mount.templates('nobody')).rejects.toThrow(TypeError);
});

test('DRAFT-3: templates that a server lists among its resources are shown, whatever it says of skills', async () => {
  const listed: Exchange = {
    method: 'resources/templates/list',
    result: {
      resourceTemplates: [
        { uriTemplate: 'db://tables/{table}{?limit}', name: 't' },
        { uriTemplate: 'odd:{x}', name: 'o' },
      ],
    },
  };
  const { mount } = await replay([...transcript('no-skills'), listed]);
  expect(await mount.templates('s')).toEqual([
    { label: 's', uriTemplate: 'db://tables/{table}{?limit}', path: '/mcp/s/@db/tables/{table}', variables: ['table'] },
    { label: 's', uriTemplate: 'odd:{x}', variables: [] },
  ]);
  const silent = await mountScript({ skills: [] });
  expect(await silent.mount.templates()).toEqual([]);
});

test('DRAFT-3: a path that matches a template is read directly', async () => {
  const { mount, requests } = await replay(transcript('index-json'));
  expect(await mount.promises.readFile('/mcp/s/docs/react/SKILL.md', 'utf8')).toContain('# react');
  expect(requests).not.toContain(COMPLETION);
  expect(mount.skills()).toContainEqual(expect.objectContaining({ name: 'react', content: 'dynamic', listed: false }));
  expect(await rejection(mount.promises.readFile('/mcp/s/docs/none/SKILL.md'))).toMatchObject({ code: 'ENOENT' });
});

test('DRAFT-3: what stands for a variable is a directory of the choices that the server offers', async () => {
  const { mount, requests } = await replay(transcript('index-json'));
  expect(await mount.promises.readdir('/mcp/s')).toContain('docs');
  expect(requests).not.toContain(COMPLETION);
  const choices = await mount.promises.readdir('/mcp/s/docs', { withFileTypes: true });
  expect(choices.map((entry) => `${entry.name} ${entry.isDirectory()}`)).toEqual([
    'Not A Name true',
    'react true',
    'vue true',
  ]);
  expect(await mount.promises.readdir('/mcp/s/docs')).toHaveLength(3);
  expect(requests.filter((request) => request === COMPLETION)).toHaveLength(1);
  expect(await mount.promises.readdir('/mcp/s/docs/react')).toEqual(['SKILL.md']);
  expect(await mount.promises.readFile('/mcp/s/docs/vue/SKILL.md', 'utf8')).toContain('# vue');
  expect(await rejection(mount.promises.readdir('/mcp/s/docs/Not A Name'))).toMatchObject({ code: 'ENOENT' });
  expect(await mount.promises.readdir('/mcp/s/docs')).toHaveLength(3);
  expect(requests.filter((request) => request === COMPLETION)).toHaveLength(1);
});

test('DRAFT-3: a directory above a template is there, whether or not it was listed', async () => {
  const { mount } = await replay(transcript('index-json'));
  expect((await mount.promises.stat('/mcp/s/docs')).isDirectory()).toBe(true);
});

test('DRAFT-3: without the completion API, or when it fails, what is known is shown, and a failure is said', async () => {
  const without = await replay(edited((init) => ({ ...init, capabilities: { resources: {} } })));
  expect(await without.mount.promises.readdir('/mcp/s/docs')).toEqual([]);
  expect(without.requests).not.toContain(COMPLETION);
  const exchanges = transcript('index-json').filter(({ method }) => method !== 'completion/complete');
  const broken = { method: 'completion/complete', params: {}, error: { code: -32603, message: 'no choices today' } };
  const failing = await replay([...exchanges, broken]);
  await failing.mount.promises.readFile('/mcp/s/docs/react/SKILL.md');
  expect(await failing.mount.promises.readdir('/mcp/s/docs')).toEqual(['react']);
  expect(failing.diagnostics.map(({ message }) => message)).toContainEqual(expect.stringContaining('no choices today'));
});

test('a synchronous listing that cannot wait for choices shows what is known', async () => {
  const { mount } = await replay(transcript('index-json'));
  await mount.ready();
  expect(mount.fs.readdirSync('/mcp/s/docs')).toEqual([]);
  await mount.promises.readdir('/mcp/s/docs');
  expect(mount.fs.readdirSync('/mcp/s/docs')).toHaveLength(3);
});

function edited(change: (init: object) => object): Exchange[] {
  return transcript('index-json').map((exchange) =>
    exchange.method === 'initialize' ? { ...exchange, result: change(exchange.result as object) } : exchange,
  );
}
