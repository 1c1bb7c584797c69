export type { Expected, Oracle } from './check-fs/subject.ts';
export { assertFs, type CheckFsOptions, type CheckName, checkFs, type Finding } from './check-fs.ts';
export type { Faults, ServerRequest } from './faults.ts';
export type { FileVolume, MemoryFiles } from './memory-files.ts';
export { type MemoryServer, type MemoryServerOptions, memoryServer } from './memory-server.ts';
