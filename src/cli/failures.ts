/** Exit codes, as `--help` tells them. */
export const EXIT = { ok: 0, failed: 1, usage: 2 } as const;

/** A call or a configuration that cannot be carried out. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** What happened, and after it why, as far down as errors tell: a message each, as it is, however many lines it has. */
export function describe(error: unknown): readonly string[] {
  if (!(error instanceof Error)) return [String(error)];
  const lines = [error.message];
  for (let cause = error.cause; cause instanceof Error; cause = cause.cause) {
    if (!lines.some((line) => line.includes((cause as Error).message))) lines.push(`  because: ${cause.message}`);
  }
  return lines;
}
