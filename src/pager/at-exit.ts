const tasks = new Set<() => void>();

function runAll(): void {
  for (const task of tasks) task();
}

/**
 * Runs a task when this process exits. The process has one listener of ours, however many mounts there are: of more than a few it
 * says that they leak.
 *
 * @returns a function that takes the task back
 */
export function atExit(task: () => void): () => void {
  const own = () => task();
  if (tasks.size === 0) process.on('exit', runAll);
  tasks.add(own);
  return () => {
    if (tasks.delete(own) && tasks.size === 0) process.off('exit', runAll);
  };
}
