export { attachDirectory, attachSkill } from './attach.ts';
export type { ServeOptions, SkillDirectory } from './directory.ts';
export { type HttpSkillServer, type SkillServer, serveHttp, serveStdio, skillsServer } from './serve.ts';
export type { ScanWarning } from './walk.ts';
