import { defineConfig, type Options } from 'tsup';

const shared: Options = {
  target: 'node20',
  platform: 'node',
  sourcemap: true,
  splitting: true,
  // p-limit is published as ES modules only; a CommonJS consumer on an early Node 20 cannot require it.
  noExternal: ['p-limit', 'yocto-queue'],
};

export default defineConfig([
  {
    ...shared,
    entry: { index: 'src/index.ts', server: 'src/server/index.ts' },
    format: ['esm', 'cjs'],
    dts: true,
    clean: true,
  },
  { ...shared, entry: { cli: 'src/cli/main.ts' }, format: ['esm'], clean: false },
]);
