export type { TreeDiff } from './catalog/diff.ts';
export type { Refusal, RefusalReason, SkillFrontmatter, SkillLimits } from './catalog/types.ts';
export { type DiskStore, type DiskStoreOptions, diskStore } from './content/disk/disk-store.ts';
export type {
  ModuleConfig,
  RedisConfig,
  SharedConfig,
  SharedOptions,
  SharedStore,
  StoreObject,
} from './content/shared-store.ts';
export { VerificationError, type VerificationReason } from './content/verify.ts';
export { type CheckReport, checkExport } from './export/check.ts';
export {
  type ExportFailure,
  type ExportOptions,
  type ExportReport,
  exportTree,
  type KeptFile,
} from './export/export-tree.ts';
export { ExportError } from './export/lock.ts';
export {
  type ChangedDirectories,
  type Mount,
  mount,
  type Origin,
  type RefreshReport,
  type ServerStatus,
  type SkillInfo,
  type TemplateInfo,
} from './mount.ts';
export type { NodeFs } from './node/index.ts';
export {
  type CacheOptions,
  type MountOptions,
  OptionsError,
  type PolicyOptions,
  type ServerSource,
} from './options.ts';
export { type PatchedFs, patchFs } from './patch/patch-fs.ts';
export { Approvals, ApprovalsError, type SkillIdentity } from './policy/approvals.ts';
export type { Approval, SkillRecord } from './policy/approvals-format.ts';
export type { ApprovedFile, SetDifference } from './policy/approved-set.ts';
export { MASKED_FIELDS, MaskError, type MaskProblem } from './policy/mask.ts';
export type { ApprovalAnswer, ApprovalRequest, Rule } from './policy/options.ts';
export { type CatalogOptions, type CatalogPage, type CatalogSkill, catalog } from './prompt/catalog.ts';
export type { CatalogFormat } from './prompt/entries.ts';
export {
  type ReadResourceArguments,
  type ReadResourceOptions,
  type ReadResourceTool,
  readResourceTool,
  type ToolResult,
} from './prompt/read-resource-tool.ts';
export type { McpClient } from './protocol/client.ts';
export type { HttpServer, ServerConfig, StdioServer } from './protocol/server-config.ts';
export type { Diagnostic, DiagnosticCode } from './vfs/diagnostics.ts';
export { type FlatViewOptions, flat } from './views/flat.ts';
export type { Claimant, Collision, LocalOrigin, LocalSkill, ViewOrigin, ViewSkill } from './views/layer.ts';
export type { LocalDirectory } from './views/local-layer.ts';
export { type UnionLayer, type UnionViewOptions, union } from './views/union.ts';
export type { View } from './views/view.ts';
