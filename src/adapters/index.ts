export { deepagentsBackend } from './deepagents.ts';
export type * from './deepagents-protocol.ts';
export { type FastGlobFs, fastGlobFs } from './fast-glob.ts';
export { type FdirFs, fdirFs } from './fdir.ts';
export { type GlobFs, globFs } from './glob.ts';
export { type JustBashDirent, type JustBashFs, type JustBashStat, justBashFs } from './just-bash.ts';
export { type MastraSkillSource, type MastraSkillStat, mastraSkillSource } from './mastra.ts';
export { type ToVolumeOptions, toVolume, type WritableVolume } from './to-volume.ts';
