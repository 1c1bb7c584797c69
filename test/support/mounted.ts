import { onTestFinished } from 'vitest';
import { type Mount, mount } from '../../src/mount.ts';
import type { MountOptions } from '../../src/options.ts';
import type { Diagnostic } from '../../src/vfs/diagnostics.ts';
import { connectScript, type RequestLog, type Script } from './scripted-server.ts';

export interface Mounted {
  readonly mount: Mount;
  readonly requests: RequestLog;
  readonly diagnostics: Diagnostic[];
}

/** A scripted server, mounted as `s`; both end with the test. */
export async function mountScript(
  script: Script,
  options: Omit<MountOptions, 'servers'> = {},
  client: 'v1' | 'v2' | 'v2-modern' = 'v2-modern',
): Promise<Mounted> {
  const connected = await connectScript(script, client);
  const mounted = mount({ servers: { s: connected.client }, ...options });
  const diagnostics: Diagnostic[] = [];
  mounted.on('diagnostic', (diagnostic) => diagnostics.push(diagnostic));
  onTestFinished(async () => {
    await mounted.close();
    await connected.close();
  });
  return { mount: mounted, requests: connected.requests, diagnostics };
}

/** The error a promise is rejected with; a test that expects one must not go on without it. */
export async function rejection(promise: Promise<unknown>): Promise<NodeJS.ErrnoException & { cause?: unknown }> {
  try {
    await promise;
  } catch (error) {
    return error as NodeJS.ErrnoException;
  }
  throw new Error('expected a rejection');
}
