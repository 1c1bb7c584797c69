import type { Command } from 'commander';
import { decisionCommand } from '../review/decide.ts';

export function register(program: Command): void {
  decisionCommand(program, {
    name: 'deny',
    description: 'Take an approval back, and leave skills out for good.',
    done: 'denied',
    decide: (approvals, skill) => approvals.deny(skill),
  });
}
