/** Told when a stdio server's process starts and ends. */
export interface ProcessObserver {
  started(pid: number): void;
  ended(pid: number): void;
}
