import type { DialectFactory } from '../dialect.ts';
import { skillsDialect } from './skills.ts';

/** The dialects that are tried, in order of preference. */
export const dialects: readonly DialectFactory[] = [skillsDialect];
