import { defineConfig, type Options } from 'tsup';

const shared: Options = {
  target: 'node20',
  platform: 'node',
  sourcemap: true,
  splitting: true,
  // The worker is found beside the module that starts it, in CommonJS too.
  shims: true,
  // p-limit is published as ES modules only; a CommonJS consumer on an early Node 20 cannot require it.
  noExternal: ['p-limit', 'yocto-queue'],
};

export default defineConfig([
  {
    ...shared,
    entry: { index: 'src/index.ts', server: 'src/server/index.ts', testing: 'src/testing/index.ts' },
    format: ['esm', 'cjs'],
    dts: true,
  },
  { ...shared, entry: { cli: 'src/cli/main.ts', worker: 'src/pager/bridge/worker.ts' }, format: ['esm'] },
]);
