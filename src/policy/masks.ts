import { createHash } from 'node:crypto';
import { MaskError, type MaskedSkill, maskSkill } from './mask.ts';
import { FieldNames } from './masked-fields.ts';

/** A SKILL.md without what grants or runs something, and the digest of what is left: `sha256:` and hexadecimal digits. */
export interface MaskedFile extends MaskedSkill {
  readonly digest: string;
}

/** Masks each content once: what it became is kept for as long as the content itself is. */
export class Masks {
  readonly #fields: readonly string[];
  readonly #names: FieldNames;
  readonly #made = new WeakMap<Uint8Array, MaskedFile | MaskError | 'same'>();

  /** @param fields to mask beside the usual ones */
  constructor(fields: readonly string[] = []) {
    this.#fields = fields;
    this.#names = new FieldNames(fields);
  }

  /** Names of the fields that are masked in a file with this frontmatter. */
  fieldsIn(frontmatter: object): readonly string[] {
    return Object.keys(frontmatter).filter((name) => this.#names.reason(name) !== undefined);
  }

  /**
   * @returns `undefined` when there is nothing to mask
   * @throws MaskError
   */
  of(bytes: Uint8Array): MaskedFile | undefined {
    let made = this.#made.get(bytes);
    if (made === undefined) {
      made = this.#make(bytes);
      this.#made.set(bytes, made);
    }
    if (made instanceof MaskError) throw made;
    return made === 'same' ? undefined : made;
  }

  #make(bytes: Uint8Array): MaskedFile | MaskError | 'same' {
    try {
      const masked = maskSkill(bytes, { fields: this.#fields });
      if (masked.masked.length === 0) return 'same';
      return { ...masked, digest: `sha256:${createHash('sha256').update(masked.bytes).digest('hex')}` };
    } catch (error) {
      if (error instanceof MaskError) return error;
      throw error;
    }
  }
}

/**
 * Whether a loader on any disk would find a file as SKILL.md: there are those that do not tell case, Unicode forms,
 * characters that are not seen, or dots and blanks at the end.
 */
export function isSkillMdName(path: string): boolean {
  const start = path.lastIndexOf('/') + 1;
  const first = path.charCodeAt(start);
  // Most names begin with another letter, and every read asks.
  if (first < 0x80 && first !== 0x53 && first !== 0x73) return false;
  const name = path.slice(start);
  if (name === 'SKILL.md') return true;
  const folded = name
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .toLowerCase();
  return folded.replace(/[. ]+$/, '') === 'skill.md';
}
