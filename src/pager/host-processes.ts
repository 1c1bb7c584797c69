import type { ProcessObserver } from '../protocol/processes.ts';
import { atExit } from './at-exit.ts';

/** Ends the servers that are still there when this process exits: one that ignores the end of its input would go on. */
export function endWithHost(): ProcessObserver {
  const running = new Set<number>();
  let forget = () => {};
  const end = () => {
    for (const pid of running) endProcess(pid);
  };
  return {
    started(pid) {
      if (running.size === 0) forget = atExit(end);
      running.add(pid);
    },
    ended(pid) {
      running.delete(pid);
      if (running.size === 0) forget();
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
