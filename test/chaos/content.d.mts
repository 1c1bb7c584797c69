export const SKILLS: readonly string[];
export const FILES: readonly string[];
export const GHOST: string;
export function contentOf(uri: string, version: number): string;
export function entryOf(skill: string, version: number): unknown;
export function skillsAt(version: number): readonly string[];
export function skillOf(uri: string, version: number): string | undefined;
export function randomFrom(seed: number): () => number;
