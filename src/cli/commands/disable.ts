import type { Command } from 'commander';
import { decisionCommand } from '../review/decide.ts';

export function register(program: Command): void {
  decisionCommand(program, {
    name: 'disable',
    description: 'Leave skills out for now; approvals stay.',
    done: 'disabled',
    decide: (approvals, skill) => approvals.disable(skill),
  });
}
