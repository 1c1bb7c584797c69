/** The package `redis`, which is there when somebody installed it. @throws Error saying what to install */
export function loadRedis() {
  return import('redis').catch((cause: unknown) => {
    throw new Error('the package "redis" cannot be loaded; install it: npm install redis', { cause });
  });
}
