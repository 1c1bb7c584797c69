import type { Mount, SkillInfo } from '../mount.ts';

/**
 * Tells of paths whether their skill's content is verified or dynamic (VER-5), as what is no skill is; of directories above
 * skills, nothing. The skills are looked through again only for one that was not among them before.
 */
export function contentOf(mount: Mount): (path: string) => SkillInfo['content'] | undefined {
  let known = new Map<string, SkillInfo['content']>();
  return (path) => {
    const origin = mount.originOf(path);
    if (origin === undefined) return undefined;
    if (origin.skill === undefined) return path.split('/').includes('@resources') ? 'dynamic' : undefined;
    const id = identity(origin.label, origin.skill);
    if (!known.has(id))
      known = new Map(mount.skills().map(({ label, uri, content }) => [identity(label, uri), content]));
    return known.get(id);
  };
}

/** MAP-5: a skill is known by its server's label and its URI. */
function identity(label: string, uri: string): string {
  return JSON.stringify([label, uri]);
}
