export type { TreeDiff } from './catalog/diff.ts';
export type { Refusal, RefusalReason, SkillFrontmatter, SkillLimits } from './catalog/types.ts';
export { VerificationError, type VerificationReason } from './content/verify.ts';
export { type Mount, mount, type Origin, type RefreshReport, type ServerStatus, type SkillInfo } from './mount.ts';
export type { NodeFs } from './node/index.ts';
export { type MountOptions, OptionsError, type ServerSource } from './options.ts';
export type { McpClient } from './protocol/client.ts';
export type { HttpServer, ServerConfig, StdioServer } from './protocol/connect.ts';
export type { Diagnostic, DiagnosticCode } from './vfs/diagnostics.ts';
