import type { Command } from 'commander';
import { decisionCommand } from '../review/decide.ts';

export function register(program: Command): void {
  decisionCommand(program, {
    name: 'enable',
    description: 'Show skills again that were disabled.',
    done: 'enabled',
    decide: (approvals, skill) => approvals.enable(skill),
  });
}
