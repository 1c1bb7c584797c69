import type { ProcessObserver } from '../protocol/processes.ts';

/** Ends the servers that are still there when this process exits: one that ignores the end of its input would go on. */
export function endWithHost(): ProcessObserver {
  const running = new Set<number>();
  const end = () => {
    for (const pid of running) endProcess(pid);
  };
  return {
    started(pid) {
      if (running.size === 0) process.on('exit', end);
      running.add(pid);
    },
    ended(pid) {
      running.delete(pid);
      if (running.size === 0) process.off('exit', end);
    },
  };
}

export function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM');
  } catch {
    // It has ended already.
  }
}
