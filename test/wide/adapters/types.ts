/** Each adapter's own type is that of the host: this file has to compile. */
import type { SkillSource } from '@mastra/core/workspace';
import type { AnyBackendProtocol, BackendProtocolV2 } from 'deepagents';
import type { IFileSystem } from 'just-bash';
import type { Mount } from 'skillfs';
import { deepagentsBackend, justBashFs, mastraSkillSource } from 'skillfs/adapters';

export function ofMount(mount: Mount) {
  const backend = deepagentsBackend(mount);
  return {
    source: mastraSkillSource(mount) satisfies SkillSource,
    backend: backend satisfies BackendProtocolV2,
    anyBackend: backend satisfies AnyBackendProtocol,
    fileSystem: justBashFs(mount) satisfies IFileSystem,
  };
}
