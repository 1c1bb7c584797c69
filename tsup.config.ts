import { defineConfig, type Options } from 'tsup';

const shared: Options = {
  target: 'node20',
  platform: 'node',
  sourcemap: true,
  // The worker is found beside the module that starts it, in CommonJS too.
  shims: true,
  // p-limit is published as ES modules only; a CommonJS consumer on an early Node 20 cannot require it.
  // zod and yaml are within for the time that finding and reading their many files takes each program at its start.
  noExternal: ['p-limit', 'yocto-queue', 'zod', 'yaml'],
  esbuildOptions(options) {
    // The same yaml as ES modules: for Node.js it is published as CommonJS, which an ES module cannot hold.
    options.alias = { yaml: './node_modules/yaml/browser/dist/index.js' };
  },
};
const library = {
  index: 'src/index.ts',
  server: 'src/server/index.ts',
  testing: 'src/testing/index.ts',
  adapters: 'src/adapters/index.ts',
  fuse: 'src/fuse/index.ts',
  redis: 'src/content/redis-store.ts',
};
const programs = {
  cli: 'src/cli/main.ts',
  worker: 'src/pager/bridge/worker.ts',
  'fuse-server': 'src/fuse/serving-process.ts',
};
/** Run before a program is loaded, by `--import` or by `--require`. */
const preloads = { register: 'src/patch/register.ts' };

export default defineConfig([
  { ...shared, entry: { ...library, ...programs, ...preloads }, format: ['esm'], splitting: true },
  { ...shared, entry: { ...library, ...preloads }, format: ['cjs'], splitting: false },
  { ...shared, entry: library, format: ['esm', 'cjs'], dts: { only: true } },
]);
